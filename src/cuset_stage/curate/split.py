"""Stage `split`: of code that was found somewhere, each kernel with what it needs becomes a row of its own.

A row that comes as a task (its own `task`, a PyTorch module, or columns for inputs, outputs and reference) stays whole: its answer
is proved as it is. Every row gets the fingerprints by which the next stage compares them.
"""

from __future__ import annotations

import re
from collections import Counter

from ..answers import extract_code
from ..cuda_source import Source, excerpts
from .fingerprints import fingerprints_of, kernel_fingerprint
from .rows import Row, RowError
from .settings import SplitSettings
from .stage import Summary, input_rows, run_stage


_HIP, _CUDA = (re.compile(rf'^[ \t]*#[ \t]*include[ \t]*[<"]{name}', re.MULTILINE) for name in ("hip/", "cuda"))
TASK_COLUMNS = ("inputs", "outputs", "reference")  # that make a program a task; `cases` may be left out


def run_split(settings: SplitSettings) -> Summary:
    """Split what `import` left into `folder`/split/.

    Raises:
        CurationError: the stage before has not run.
    """
    rows = input_rows(settings, "import")
    return run_stage(settings.folder, "split", rows, split_row, workers=settings.workers, processes=True)


def is_whole(row: Row) -> bool:
    """True for a row that is a task, with or without its answer, and no kernel that a task is to be made of."""
    has_task = any(row.get(key) for key in ("task", "module_code", "functional_code"))
    return has_task or all(row.get(key) for key in TASK_COLUMNS)


def split_row(row: Row) -> list[Row]:
    """A row's kernels as rows, or the row itself where it is a task. Raises RowError where there is no kernel."""
    if is_whole(row):
        return [{**row, "fingerprints": fingerprints_of(row)}]
    code = row.get("code") or extract_code(row.get("answer", ""), whole_program=False)
    if not code:
        raise RowError("no_code", "the answer holds no CUDA code")
    if _HIP.search(code) and not _CUDA.search(code):
        raise RowError("not_cuda", "the code includes headers of HIP and none of CUDA")
    source = Source(code)
    made: list[Row] = []
    ids: Counter[str] = Counter()
    for kernel, text in excerpts(source):
        name = kernel.name or "kernel"
        ids[name] += 1
        again = f"-{ids[name]}" if ids[name] > 1 else ""  # of overloads and of preprocessor branches
        kernel_row = {
            **{key: value for key, value in row.items() if key != "answer"},
            "id": f"{row['id']}:{name}{again}",
            "code": text,
            "kernel": kernel.name,
        }
        own = kernel_fingerprint(source, kernel)
        made.append({**kernel_row, "fingerprints": fingerprints_of(kernel_row, [own] if own else [])})
    if not made:
        raise RowError("no_kernel", "no __global__ function outside of macros, of which a task could be made")
    return made
