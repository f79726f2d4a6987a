"""Stage `deduplicate`: remove rows from benchmarks and duplicate kernels, before any model is asked or program is run.

Rows are compared by the fingerprints that `split` computed. Kernels are duplicates if they are similar. Tasks that
come with an answer are duplicates only if they are equal, because a wrong answer can be similar to a right one.
`select` compares such answers later, when they have been proved.

Besides the usual files, the stage writes contamination.jsonl with every row that was found in a benchmark.
"""

import json
from array import array

import numpy as np
import pandas as pd

from ..files import write_atomically
from ..progress import Progress
from .contamination import Benchmarks, Contamination
from .fingerprints import Sketches, device_sketch, fingerprints_of
from .rows import number_of
from .settings import DeduplicateSettings
from .split import is_whole
from .stage import Summary, all_but, input_rows, run_stage


def run_deduplicate(settings: DeduplicateSettings) -> Summary:
    """Remove duplicates and benchmark rows from the rows of `split`, and write the rest to `folder`/deduplicate/.

    The rows are read twice, once to compare them and once to copy them. Between the passes, memory holds only the id
    and a few numbers per row.

    Raises:
        CurationError: a benchmark cannot be read.
    """
    rows = input_rows(settings, "split")
    benchmarks, sketches = Benchmarks(settings.against), Sketches(settings.near, settings.folder)
    names, programs, whole = list[str](), array("Q"), array("b")
    contaminated: dict[int, Contamination] = {}
    for number, row in enumerate(Progress(rows, desc="compare", unit="row", total=rows.total)):
        fingerprints = row["fingerprints"] = fingerprints_of(row)
        if (match := benchmarks.find(row)) is not None:
            contaminated[number] = match
        names.append(row["id"])
        programs.append(number_of(fingerprints["program"]))
        whole.append(is_whole(row))
        sketches.append(None if whole[-1] else device_sketch(fingerprints))
    table = pd.DataFrame({"program": np.frombuffer(programs, np.uint64), "whole": np.frombuffer(whole, np.int8)})
    table["number"] = table.index
    # Tasks come first, so that a bare kernel is dropped in favour of an equal task.
    clean = table.drop(index=list(contaminated)).sort_values("whole", ascending=False, kind="stable")
    same = clean.groupby("program", sort=False)["number"].transform("first")
    dropped = {number: ("contaminated", str(match)) for number, match in contaminated.items()}
    for number, first in same[same != clean["number"]].items():
        dropped[number] = ("duplicate", f"the same as {names[first]} but for comments, layout and names")
    if settings.near < 1:
        dropped |= sketches.near(clean.index[same == clean["number"]].to_numpy(), names)
    keys = settings.model_dump(exclude={"folder", "input", "against"}) | {"against": benchmarks.record}
    summary = run_stage(settings.folder, "deduplicate", rows, all_but(dropped), settings=keys)
    records = ({"id": names[number], **vars(match)} for number, match in contaminated.items())
    report = settings.folder / "deduplicate" / "contamination.jsonl"
    write_atomically(report, (f"{json.dumps(record)}\n" for record in records))
    return summary
