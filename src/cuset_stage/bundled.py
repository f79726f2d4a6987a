"""Locate the recipes and the data that come with the package.

scripts/build_data.py runs this file outside of the package, so it needs only the standard library and imports nothing
else of the package.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


BUILT = (
    *("cuset_kernels.json", "cuset_kernels_hard.json", "cuset_kernels_eval.json"),
    *("cuset_train_tasks.jsonl", "cuset_mini.jsonl", "cuset_mini_2.jsonl", "cuset_pairs.jsonl"),
)
"""Files that scripts/build_data.py makes from the sources in data/. A wheel contains them; a checkout builds them."""
KERNELS = "cuset_kernels"


def folder() -> Path:
    """Return the folder that holds yaml_configs/ and data/.

    This is a folder inside the package when it was installed from a wheel, and otherwise the checkout.
    """
    package = Path(__file__).parent
    inside = package / "share"
    return inside if inside.is_dir() else package.parents[1]


def found(path: Path) -> Path:
    """Return the path, or the bundled file of that name if nothing exists at the path.

    In this way `data/cuset_mini.jsonl` works from any working directory.
    """
    inside = data().parent / path
    return inside if not path.exists() and inside.exists() else path


def data() -> Path:
    """Return the folder data/.

    In a checkout that lacks one of the built files (`BUILT`), they are built first, which takes some seconds.
    """
    script, data_dir = folder() / "scripts" / "build_data.py", folder() / "data"
    if script.is_file() and not all((data_dir / name).is_file() for name in BUILT):
        subprocess.run([sys.executable, str(script)], check=True, stdout=subprocess.DEVNULL)
    return data_dir


def where_data_set_is(name: str) -> str | None:
    """Say how to reach a data set that comes with the package, where another dataset_info.json was read.

    A folder data/ of the user's own, such as LLaMA-Factory's, hides the package's.

    Returns:
        None if the package has no such data set.
    """
    if name not in json.loads((data() / "dataset_info.json").read_text(encoding="utf-8")):
        return None
    return (
        f"{name} comes with the package: give dataset_dir={data()}, or copy its entry from the dataset_info.json there, "
        "with the file's whole path"
    )


def recipes() -> Path:
    """Return the folder of the bundled recipes."""
    return folder() / "yaml_configs"


def kernels_edition(names: Iterable[str], dataset_dir: str) -> int | None:
    """Return the edition of the training rows `cuset_kernels`, None if they are not in `names` or dataset_info.json.

    Edition 1 named none. Its rows are now called `cuset_kernels_hard`, and commit ab6eed6e has them as they were.
    """
    info = Path(dataset_dir) / "dataset_info.json"
    if KERNELS not in names or not info.is_file():
        return None
    entry = json.loads(info.read_text(encoding="utf-8")).get(KERNELS)
    return entry and entry.get("edition", 1)
