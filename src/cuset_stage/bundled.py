"""Where the recipes and the data lie that come with the package. Standard library only."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


BUILT = (
    *("cuset_kernels.json", "cuset_kernels_hard.json", "cuset_kernels_eval.json"),
    *("cuset_train_tasks.jsonl", "cuset_mini.jsonl", "cuset_mini_2.jsonl", "cuset_pairs.jsonl"),
)
"""What scripts/build_data.py makes of the sources in data/: a wheel has these files, a checkout builds them."""
KERNELS = "cuset_kernels"


def folder() -> Path:
    """The folder that holds yaml_configs/ and data/: inside the package when it came as a wheel, else the checkout."""
    package = Path(__file__).parent
    inside = package / "share"
    return inside if inside.is_dir() else package.parents[1]


def found(path: Path) -> Path:
    """The path, or where nothing is there, what the package has under it: `data/cuset_mini.jsonl` is meant from any folder."""
    inside = data().parent / path
    return inside if not path.exists() and inside.exists() else path


def data() -> Path:
    """The folder data/. A checkout that lacks one of its built files gets them first, which takes some seconds."""
    script, there = folder() / "scripts" / "build_data.py", folder() / "data"
    if script.is_file() and not all((there / name).is_file() for name in BUILT):
        subprocess.run([sys.executable, str(script)], check=True, stdout=subprocess.DEVNULL)
    return there


def recipes() -> Path:
    return folder() / "yaml_configs"


def kernels_edition(names: Iterable[str], dataset_dir: str) -> int | None:
    """Edition of the training rows `cuset_kernels`, as dataset_info.json beside them says it, or None where they are not among `names`.

    Edition 1 had no such entry: the rows that are called `cuset_kernels_hard` now; commit ab6eed6e has them as they were.
    """
    if KERNELS not in names:
        return None
    info = Path(dataset_dir) / "dataset_info.json"
    entries = json.loads(info.read_text(encoding="utf-8")) if info.is_file() else {}
    return entries.get(KERNELS, {}).get("edition", 1)
