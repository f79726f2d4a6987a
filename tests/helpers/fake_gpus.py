"""GPUs that are not there: an nvidia-smi that lists some, and rows of programs that compute on the CPU where they find no GPU.

Everything else of the judge is real, so that such a program runs under the lease of a GPU and is told its name.
"""

import json
import os
from pathlib import Path

from curation_tree import write_program

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.stage import stage_files


def path_with_gpus(folder: Path, count: int, capability: str = "9.0") -> str:
    """A PATH on which nvidia-smi lists GPU-fake-0 and so on."""
    folder.mkdir()
    lines = "".join(
        f"{number}, GPU-fake-{number}, NVIDIA Fake, 580.0, {capability}, 81920\n" for number in range(count)
    )
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{lines}EOF\n", encoding="utf-8")
    program.chmod(0o755)
    return os.pathsep.join([str(folder), os.environ["PATH"]])


def cased_row(folder: Path, expression: str, numpy: str, on_cpu: str = "") -> dict:
    """A row as `cases` leaves it. on_cpu: what the program does before it computes on the CPU."""
    path = write_program(folder / "tree", "program", expression, numpy)
    source = path.read_text(encoding="utf-8").replace("    } else {\n", f"    }} else {{\n        {on_cpu}\n")
    headers = "#include <cstdlib>\n#include <cstring>\n#include <unistd.h>\n#include <vector>\n"
    path.write_text(source.replace("#include <vector>\n", headers), encoding="utf-8")
    run_import(folder, Source(folder / "tree"))
    run_adapt(folder, stage_files(folder, "import"))
    assert run_cases(folder, stage_files(folder, "adapt"), executor=Executor.INLINE).kept == 1
    return json.loads((folder / "cases" / "rows.jsonl").read_text(encoding="utf-8"))


def write_copies(path: Path, row: dict, count: int) -> Path:
    """The row so many times, each as a row of its own."""
    copies = ({**row, "key": f"{number:032x}", "id": f"{row['id']}#{number}"} for number in range(count))
    path.write_text("".join(json.dumps(copy) + "\n" for copy in copies), encoding="utf-8")
    return path
