"""Rows of programs that compute on the CPU where they find no GPU, for GPUs that are not there (fake_nvml.py).

Everything else of the judge is real, so that such a program runs under the lease of a GPU and is told its name.
"""

import json
from pathlib import Path

from curation_steps import adapt, lines, take_in
from curation_tree import write_program


def ready_row(folder: Path, expression: str, numpy: str, on_cpu: str = "") -> dict:
    """A row as `adapt` leaves it. on_cpu: what the program does before it computes on the CPU."""
    path = write_program(folder / "tree", "program", expression, numpy)
    source = path.read_text(encoding="utf-8").replace("    } else {\n", f"    }} else {{\n        {on_cpu}\n")
    headers = "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <unistd.h>\n"
    path.write_text(source.replace("#include <cstdio>\n", headers), encoding="utf-8")
    take_in(folder, folder / "tree")
    assert adapt(folder).kept == 1
    return lines(folder / "adapt" / "rows.jsonl")[0]


def write_copies(path: Path, row: dict, count: int) -> Path:
    """The row so many times, each as a row and a program of its own."""
    copies = (
        {**row, "id": f"{row['id']}#{number}", "program": f"{row['program']}// {number}\n"} for number in range(count)
    )
    path.write_text("".join(json.dumps(copy) + "\n" for copy in copies), encoding="utf-8")
    return path
