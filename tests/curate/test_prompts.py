"""A prompt determines the answer: what outputs hold where nothing is written, and whether sizes differ from run to run."""

import json

import numpy as np

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.asking import question
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.signature import Signature
from cuset_stage.curate.stage import stage_files
from cuset_stage.curate.tasks import load_task
from cuset_stage.judge.oracle import CaseCache


# y is written in part, z is changed.
KERNEL = """// Copies the positive elements of x to y at the same place, and halves those of z.
__global__ void some(const float* x, float* y, float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) { y[i] = x[i]; z[i] *= 0.5f; }
}
void some_cpu(const float* x, float* y, float* z, int n) { for (int i = 0; i < n; ++i) if (x[i] > 0) { y[i] = x[i]; z[i] *= 0.5f; } }
"""


def rows_of(work, stage: str, name: str) -> list[dict]:
    path = next(work.glob(f"{stage}/**/{name}.jsonl"))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def cased(tmp_path, spec: dict | None):
    """The folder of stages after `cases` for the kernel above."""
    root, work = tmp_path / "tree", tmp_path / "work"
    root.mkdir()
    (root / "some.cu").write_text(KERNEL, encoding="utf-8")
    if spec is not None:
        (root / "some.json").write_text(json.dumps({"spec": spec}), encoding="utf-8")
    run_import(work, Source(root, licence="MIT", revision="1"))
    run_adapt(work, stage_files(work, "import"))
    run_cases(work, stage_files(work, "adapt"), executor=Executor.INLINE)
    return work


def declared(size, **more) -> dict:
    array = {"dtype": "float32", "shape": [size]}
    return {"inputs": {"x": array, "z": array}, "outputs": {"y": array}, **more}


def test_what_is_not_written_is_told(tmp_path):
    work = cased(tmp_path, None)
    row = rows_of(work, "cases", "rows")[0]
    prompt = row["task"]["prompt"]
    assert "`data/y.bin`: float32, n values, 0 where nothing is written\n" in prompt
    assert "`data/z_out.bin`: float32, n values, the new values of z\n" in prompt
    assert "The sizes differ from run to run" in prompt
    assert "stays 0" in question(row, Signature.from_record(row["signature"]))
    task = load_task(row)
    ready = CaseCache().prepare(task, task.cases[0])
    x, y = (np.fromfile(path, np.float32) for path in (ready.inputs["data/x.bin"], ready.expected["data/y.bin"]))
    assert np.array_equal(y, np.where(x > 0, x, 0)) and (x <= 0).any()


def test_one_size_only_is_refused_and_the_way_out_is_taken(tmp_path):
    dropped = rows_of(cased(tmp_path, declared("n", sizes={"n": 1024})), "cases", "dropped")[0]
    assert dropped["reason"] == "bad_specification" and "spec.sizes: n from 1024 to 1024" in dropped["detail"]
    (tmp_path / "other").mkdir()
    row = rows_of(cased(tmp_path / "other", declared(1024, scalars={"n": 1024})), "cases", "rows")[0]
    assert "The sizes are the same in every run." in row["task"]["prompt"] and "differ" not in row["task"]["prompt"]
