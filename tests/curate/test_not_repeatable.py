"""A program that is right once and wrong the next time teaches nothing: it is dropped with a reason of its own."""

import json

import pytest
from curation_tree import write_program

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.stage import stage_files
from cuset_stage.curate.verify import Verification, run_verify
from cuset_stage.sandbox import SandboxError, find_toolkit


try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)

# A program keeps nothing from one run to the next, but it has a clock: from some seconds after it was compiled it adds a half.
# The first run of all cases is over long before, and there are as many runs as it takes.
LATER = """
#include <ctime>
static float late() {
    std::tm built = {};
    if (!strptime(__DATE__ " " __TIME__, "%b %d %Y %H:%M:%S", &built)) return 1.0f;
    built.tm_isdst = -1;
    return std::time(nullptr) > std::mktime(&built) + 10 ? 0.5f : 0.0f;
}
"""


def test_a_program_whose_later_run_differs_is_dropped_as_not_repeatable(tmp_path):
    path = write_program(tmp_path / "tree", "square", "x * x", "x * x")
    source = path.read_text(encoding="utf-8").replace(
        "y[i] = value(x[i]);\n    }", "y[i] = value(x[i]) + late();\n    }"
    )
    assert "late()" in source
    path.write_text(source.replace("#include <vector>\n", f"#include <vector>\n{LATER}"), encoding="utf-8")
    write_program(tmp_path / "tree", "halve", "0.5f * x", "0.5 * x")
    work = tmp_path / "work"
    run_import(work, Source(tmp_path / "tree"))
    run_adapt(work, stage_files(work, "import"))
    assert run_cases(work, stage_files(work, "adapt"), executor=Executor.INLINE).kept == 2
    files = stage_files(work, "cases")
    rows = {json.loads(line)["id"].partition(":")[2]: line for line in files[0].read_text("utf-8").splitlines()}

    def verified(name: str, times: int):
        only = tmp_path / f"{name}.jsonl"
        only.write_text(rows[name] + "\n", encoding="utf-8")
        wanted = Verification(use_gpu=False, mutants=0, times=times, programs=tmp_path / "programs")
        return run_verify(tmp_path / name, [only], wanted, executor=Executor.INLINE)

    summary = verified("square.cu", 10_000)
    assert (summary.kept, summary.unsettled, summary.reasons) == (0, 0, {"not_repeatable": 1})
    [dropped] = (tmp_path / "square.cu" / "verify" / "dropped.jsonl").read_text(encoding="utf-8").splitlines()
    detail = json.loads(dropped)["detail"]
    assert detail.startswith("run ") and not detail.startswith("run 1:") and "values are wrong" in detail
    assert verified("halve.cu", 2).kept == 1  # and one that is right each time stays
