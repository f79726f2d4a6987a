"""Stage `split`: split source code into kernels, so that each kernel, with the code that it needs, becomes a row.

A row that is already a task (it has a `task`, a PyTorch module, or columns for inputs, outputs and reference) stays
whole, and its answer is proved as it is. Every row gets the fingerprints by which the next stage compares rows.
"""

import re
from collections import Counter

from ..answers import extract_code
from ..cuda_source import Source, excerpts
from .fingerprints import fingerprints_of, kernel_fingerprint
from .rows import Row, RowError
from .settings import SplitSettings
from .stage import Summary, input_rows, run_stage


_HIP, _CUDA = (re.compile(rf'^[ \t]*#[ \t]*include[ \t]*[<"]{name}', re.MULTILINE) for name in ("hip/", "cuda"))
TASK_COLUMNS = ("inputs", "outputs", "reference")  # a program with these is a task; `cases` is optional


def run_split(settings: SplitSettings) -> Summary:
    """Split the rows of `import`, and write the results to `folder`/split/.

    Raises:
        CurationError: the previous stage has not run.
    """
    rows = input_rows(settings, "import")
    return run_stage(settings.folder, "split", rows, split_row, workers=settings.workers, processes=True)


def is_whole(row: Row) -> bool:
    """Return True if a row is a task, with or without an answer. Otherwise it is code that a task can be made of."""
    has_task = any(row.get(key) for key in ("task", "module_code", "functional_code"))
    return has_task or all(row.get(key) for key in TASK_COLUMNS)


def split_row(row: Row) -> list[Row]:
    """Return the kernels of a row as rows, or a list with the row itself if it is a task.

    Raises:
        RowError: the row has no CUDA code, or its code has no kernel.
    """
    if is_whole(row):
        return [{**row, "fingerprints": fingerprints_of(row)}]
    code = row.get("code") or extract_code(row.get("answer", ""), whole_program=False)
    if not code:
        raise RowError("no_code", "the answer holds no CUDA code")
    if _HIP.search(code) and not _CUDA.search(code):
        raise RowError("not_cuda", "the code includes headers of HIP and none of CUDA")
    source = Source(code)
    kernel_rows: list[Row] = []
    ids: Counter[str] = Counter()
    for kernel, text in excerpts(source):
        name = kernel.name or "kernel"
        ids[name] += 1
        suffix = f"-{ids[name]}" if ids[name] > 1 else ""  # overloads and preprocessor branches repeat names
        kernel_row = {
            **{key: value for key, value in row.items() if key != "answer"},
            "id": f"{row['id']}:{name}{suffix}",
            "code": text,
            "kernel": kernel.name,
        }
        sketch = kernel_fingerprint(source, kernel)
        kernel_rows.append({**kernel_row, "fingerprints": fingerprints_of(kernel_row, [sketch] if sketch else [])})
    if not kernel_rows:
        raise RowError("no_kernel", "no __global__ function outside of macros, of which a task could be made")
    return kernel_rows
