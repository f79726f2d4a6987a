"""The audit of tasks: it names each kind of weak oracle, finds nothing in sound tasks, and is cached by the task's
content.
"""

import itertools
import json

import numpy as np
import pytest
from commands import cuset
from forked_runs import run_forked
from task_factory import DOUBLE, GEN, GEN_INPUT, cudabench_row, cuset_row, load_row, write_lines

from cuset_stage.judge.audit import Code, Severity, audit_task, audit_tasks, load_audit
from cuset_stage.judge.oracle import CaseCache
from cuset_stage.judge.wrong_outputs import CHUNK, Output, constants
from cuset_stage.sandbox import Finished
from cuset_stage.tasks import Tensor, load_tasks


pytestmark = pytest.mark.usefixtures("forked", "empty_cache")


@pytest.fixture
def codes(tmp_path):
    """A function that audits a row and returns the findings as {code: severity}."""

    def run(row):
        findings = audit_task(load_row(tmp_path, row), CaseCache()).findings
        return {finding.code: finding.severity for finding in findings}

    return run


def accepts(condition: str) -> dict:
    """Return a CUDABench row whose compare.py prints T if this condition on the output y and the reference r holds."""
    compare = (
        "import numpy as np\ny, r = (np.fromfile(f'data/{name}.bin', np.float32) for name in ('y', 'y_ref'))\n"
        f"print('T' if {condition} else 'F')\n"
    )
    return cudabench_row(**{"compare.py": compare})


def test_sound_tasks_have_no_findings(codes, sandboxed, pytestconfig):
    assert codes(cudabench_row()) == codes(cuset_row()) == {}
    (task,) = load_tasks(pytestconfig.rootpath / "data" / "kernels", only=["stream_compaction"])
    assert audit_task(task, CaseCache()).findings == ()


def test_a_script_that_accepts_everything(codes):
    found = codes(cudabench_row(**{"compare.py": "print('T')"}))
    for code in ("ZEROS_PASS", "ONES_PASS", "CONSTANT_PASSES", "INPUT_PASSES", "RANDOM_PASSES", "NOISE_PASSES"):
        assert found.pop(Code[code]) is Severity.ERROR
    assert found == {}


@pytest.mark.parametrize("number", [1, 23, 90])
def test_a_machine_that_fails_meanwhile_finds_no_oracle_sound(tmp_path, monkeypatch, number):
    """The judge's own failure must not count as the oracle refusing a wrong output.

    A finished audit is kept for good, so an audit that such a failure disturbed has to stay incomplete.
    """
    runs = itertools.count(1)

    def fails_once(command, **options):
        if next(runs) == number:
            return Finished(infra="no process could be started")
        return run_forked(command, **options)

    monkeypatch.setattr("cuset_stage.judge.oracle.run_sandboxed", fails_once)
    audit = audit_task(load_row(tmp_path, accepts("np.allclose(y, r) or (y == 0).all()")), CaseCache())
    found = {finding.code for finding in audit.findings}
    assert audit.complete == (next(runs) <= number)
    assert (Code.ZEROS_PASS in found) if audit.complete else (Code.ORACLE_FAILS in found)


def tensor(name="y", dtype="float32", shape="(64,)"):
    return {"name": name, "dtype": dtype, "shape": shape}


def generated(gen: str, **changes) -> dict:
    """Return a CUDABench row with this gen.py."""
    return cudabench_row(**{"gen.py": gen, **changes})


BLIND = GEN.replace("default_rng(7)", "default_rng()").replace("(2 * x)", "np.arange(64, dtype=np.float32)")
MIDDLE = GEN.replace("rng.normal(size=64)", "(np.append(np.full(62, 3.0), [0, 4.0]) + rng.normal(size=64) * 0.01)")
SECOND = GEN.replace("(2 * x)", "z = rng.normal(size=64).astype(np.float32); z.tofile('data/z.bin')\nz")
TWO_COPIES = """
import numpy as np
TOLERANCE = dict.fromkeys("ab", (0, 0))
def make_inputs(rng, n): return {name: rng.normal(size=n).astype(np.float32) for name in "xz"}
def reference(inputs): return {"a": inputs["z"], "b": inputs["x"]}
"""
DTYPES = ("uint64", "int64", "int8", "float16", "float64", "bool", "complex64")
EVERY_DTYPE = f"""
import numpy as np
TOLERANCE = dict.fromkeys({DTYPES}, (0, 0))
def make_inputs(rng, n): return {{"x": rng.integers(-3, 120, n).astype(np.int8)}}
def reference(inputs): return {{name: (inputs["x"].astype(np.int64) * 7 % 97 % 11).astype(name) for name in {DTYPES}}}
"""
SAME = [{"name": name, "parameters": {"n": 8}} for name in "ab"]


def referenced(old: str, new: str) -> dict:
    """Return a row of our own task format with `old` replaced by `new` in its reference."""
    return cuset_row(reference=DOUBLE.replace(old, new))


@pytest.mark.parametrize(
    ("row", "expected", "message"),
    [
        (accepts("y.size == 0 or (y == r).all() or (y == 0).all() or np.isnan(y).all()"), {Code.ZEROS_PASS: "error"}, ""),
        (accepts("(y == r).all() or (y == y[0]).all() and y[0] not in (0, 1)"), {Code.CONSTANT_PASSES: "error"}, ""),
        (accepts("np.allclose(y[:8], r[:8])"), {Code.PART_UNCHECKED: "warning"}, ""),
        (accepts("np.allclose(y, r, rtol=0.02)"), {Code.NOISE_PASSES: "warning"}, ""),
        (accepts("False"), {Code.REFERENCE_REFUSED: "error"}, ""),
        (accepts("np.allclose(y, r) or np.abs(y - r.mean()).max() < 1e-3"), {Code.CONSTANT_PASSES: "error"}, ""),
        (accepts("np.abs(y - r).max() <= (r.max() - r.min()) * 0.51") | {"gen.py": MIDDLE},
         {Code.CONSTANT_PASSES: "error", Code.INPUT_PASSES: "error", Code.NOISE_PASSES: "error"}, "the middle of the range"),
        # The right output is a copy of the second input of that size. Then: two outputs are copies of two inputs.
        (generated(SECOND, inputs=[tensor("x"), tensor("z")]), {Code.INPUT_PASSES: "error"}, "a copy of the input z passes as y"),
        (cuset_row(reference=TWO_COPIES, inputs=[tensor(name, shape=["n"]) for name in "xz"],
                   outputs=[tensor(name, shape=["n"]) for name in "ab"]), {Code.INPUT_PASSES: "error"}, ""),
        (generated(GEN.replace('x.tofile("data/x.bin")', 'x[:60].tofile("data/x.bin")')),
         {Code.SIZE_DIFFERS: "warning"}, "a program that reads what is declared reads other data"),
        (cudabench_row(outputs=[tensor(shape="(1,)")]), {Code.SIZE_DIFFERS: "warning"}, "compare.py judges outputs of either size"),
        (generated(GEN.replace("(2 * x)", "import sys; sys.exit('out of memory')\n(2 * x)"), **{"compare.py": "print('F')"}),
         {Code.REFERENCE_UNPAIRED: "note"}, "compare.py was not tried"),
        # Without a reference nothing is known about an output except, for known dtypes, its size.
        (generated(GEN_INPUT, outputs=[tensor(dtype="float8")], **{"compare.py": "print('F')"}),
         {Code.UNKNOWN_DTYPE: "warning", Code.REFERENCE_UNPAIRED: "note"}, "nor is its size known"),
        (generated(GEN_INPUT, outputs=[tensor(dtype="bfloat16")], **{"compare.py": "print('F')"}),
         {Code.UNKNOWN_DTYPE: "note", Code.REFERENCE_UNPAIRED: "note"}, "its values are not seen"),
        (generated(GEN + '(3 * x).tofile("data/z_ref.bin")\n', outputs=[tensor("y"), tensor("z")]),
         {Code.OUTPUT_UNCHECKED: "warning"}, "zeros, while the other outputs are right, pass as z"),
        # Inputs without a seed, which the judge can seed, and an oracle that ignores them. Then: inputs that no seed
        # makes reproducible.
        (generated(BLIND), {Code.OTHER_CASE_PASSES: "error", Code.UNSEEDED_INPUTS: "note"}, "for other inputs passes"),
        (generated(GEN.replace("default_rng(7)", "default_rng(int.from_bytes(__import__('os').urandom(8)))")),
         {Code.NOT_REPRODUCIBLE: "warning"}, "machines differ"),
        (referenced("2 * inputs", "0 * inputs"),
         {Code.ZEROS_PASS: "error", Code.CONSTANT_PASSES: "error", Code.OTHER_CASE_PASSES: "error"}, ""),
        (referenced("2 * inputs", "inputs"), {Code.INPUT_PASSES: "error"}, ""),
        (referenced('2 * inputs["x"]', 'np.arange(inputs["x"].size, dtype=np.float32) % 17'), {Code.OTHER_CASE_PASSES: "error"}, ""),
        (referenced("1e-5", "0.05"), {Code.NOISE_PASSES: "warning"}, ""),
        (referenced("1e-5", "0.2"), {Code.NOISE_PASSES: "error"}, ""),
        (referenced("rng.normal(size=n)", "np.random.default_rng().normal(size=n)"), {Code.NOT_REPRODUCIBLE: "warning"}, ""),
        # A case whose outputs are all zero is a good case among others, not a weak oracle.
        (referenced("rng.normal(size=n)", "(rng.normal(size=n) * (n != 17))"), {}, ""),
        (cuset_row(cases=SAME), {Code.ONE_SIZE: "warning"}, ""),
        (cuset_row(cases=SAME[:1]), {Code.ONE_SIZE: "note"}, ""),
        # An exact comparison of varied values lets no wrong output through.
        (cuset_row(reference=EVERY_DTYPE, inputs=[tensor("x", "int8", ["n"])], outputs=[tensor(kind, kind, ["n"]) for kind in DTYPES]),
         {}, ""),
    ],
)  # fmt: skip
def test_what_is_found(codes, tmp_path, row, expected, message):
    assert codes(row) == expected
    audit = load_audit(load_row(tmp_path, row))
    assert not message or any(message in finding.message for finding in audit.findings)
    assert {finding.code for finding in audit.notes} == {code for code in expected if expected[code] == "note"}


def test_an_oracle_that_fails_is_not_kept(tmp_path):
    task = load_row(tmp_path, cudabench_row(**{"gen.py": "raise ValueError('no device')"}))
    audit = audit_task(task, CaseCache())
    assert [finding.code for finding in audit.findings] == [Code.ORACLE_FAILS]
    assert "no device" in audit.findings[0].message
    assert not audit.complete
    assert load_audit(task) is None


def module_codes(folder, forward="return x * x", inputs="[torch.rand(8, 8)]", init="[]", head="", arguments="self, x"):
    """Return {code: severity} of the audit of a KernelBench task that is put together from these parts."""
    code = (
        f"import torch\n{head}\nclass Model(torch.nn.Module):\n    def __init__(self, scale=1):\n"
        f"        super().__init__()\n        self.scale = scale\n    def forward({arguments}):\n        {forward}\n"
        f"def get_inputs():\n    return {inputs}\ndef get_init_inputs():\n    return {init}\n"
    )
    row = {"code": code, "level": 1, "name": "1_Tiny", "problem_id": 1}
    (audit,) = audit_tasks(load_tasks(write_lines(folder / "kb.jsonl", row)).tasks, CaseCache())
    return {finding.code: finding.severity for finding in audit.findings}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        # Forms that the judge's worker accepts: arguments by name, outputs in a dict, numbers.
        ({"inputs": "{'x': torch.rand(8)}", "init": "{'scale': 3}", "forward": "return {'y': self.scale * x, 'n': 2}"}, {}),
        ({"inputs": "[[torch.rand(8)], True]", "arguments": "self, x, flag", "forward": "return [x[0] + flag]"}, {}),
        ({"forward": "return x"}, {Code.INPUT_PASSES: "error"}),
        ({"forward": "return x * 1e-6", "inputs": "[torch.ones(8, 8)]"},
         {Code.ZEROS_PASS: "error", Code.INPUT_INDEPENDENT: "warning"}),
        ({"forward": "return x.mul_(3)"}, {}),
        ({"forward": "return x.to(torch.complex64) * 1j"}, {}),
        ({"forward": "return 1 + 0 * x"}, {Code.CONSTANT_PASSES: "error", Code.INPUT_INDEPENDENT: "warning"}),
        ({"head": "import numpy as np", "inputs": "[torch.from_numpy(np.random.rand(8))]"}, {}),
        ({"head": "import random", "inputs": "[torch.full((8,), random.random()) + torch.rand(8)]"}, {}),
        ({"head": "import numpy as np", "inputs": "[torch.from_numpy(np.random.default_rng().random(8))]"},
         {Code.NOT_REPRODUCIBLE: "warning"}),
        ({"head": "import time", "inputs": "[torch.rand(8, generator=torch.Generator().manual_seed(int(time.time())))]"},
         {Code.NOT_REPRODUCIBLE: "warning"}),
    ],
)  # fmt: skip
def test_modules(tmp_path, changes, expected):
    pytest.importorskip("torch")
    found = module_codes(tmp_path, **changes)
    if "time" in changes.get("head", ""):
        found.pop(Code.INPUT_INDEPENDENT, None)  # found if both seeds are taken within one second
    assert found == expected


def test_profiles_and_fills_of_more_than_a_chunk(tmp_path):
    values = np.arange(CHUNK + 3, dtype=np.int32)
    values[:9] = 77
    values.tofile(tmp_path / "y")
    output = Output(Tensor("y", "int32", values.shape), tmp_path / "y", None)
    seen = output.seen
    assert (seen.elements, seen.minimum, seen.maximum) == (CHUNK + 3, 9, CHUNK + 2)
    assert seen.mean == pytest.approx(values.mean()) and seen.std == pytest.approx(values.std())
    for given, expected in ((lambda *_: 5, 5), (lambda output, part: output.right[part], values)):
        output.write(tmp_path / "z", given)
        written = np.fromfile(tmp_path / "z", np.int32)
        assert written.shape == values.shape and (written == expected).all()


def test_the_middle_of_the_largest_integers_is_one(tmp_path):
    np.full(4, 2**63 - 1).tofile(tmp_path / "y.bin")
    output = Output(Tensor("y", "int64", (4,)), tmp_path / "y.bin", None)
    assert constants([output], alone=False)[0].values(output, slice(0, 4)) == 2**63 - 1


def test_audits_are_kept_by_content(tmp_path):
    weak = cuset_row(reference=DOUBLE.replace("1e-5", "0.2"))
    task = load_row(tmp_path, weak)
    assert load_audit(task) is None
    made = audit_task(task, CaseCache())
    assert load_audit(task).flagged == made.flagged != ()
    again = load_row(tmp_path, weak | {"prompt": "Other words."})
    assert audit_task(again, CaseCache()).seconds == pytest.approx(made.seconds, abs=1e-3)  # read from the cache
    assert load_audit(load_row(tmp_path, cuset_row())) is None


def test_the_command(tmp_path):
    weak = cuset_row(id="weak", reference=DOUBLE.replace("1e-5", "0.2"))
    rows = [cuset_row(), weak, cuset_row(id="out", split="eval")]
    tasks, output = write_lines(tmp_path / "set.jsonl", *rows), tmp_path / "new" / "audit.jsonl"
    command = ["audit-tasks", tasks, f"output={output}", "split=train", "jobs=2"]
    said = cuset(*command)
    assert "2 tasks, 1 with an error or a warning" in said and "noise_passes" in said
    header, *lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert header["tasks"]["count"] == 2
    assert [line["task"] for line in lines] == ["double", "weak"]
    (finding,) = lines[1]["findings"]
    assert finding.pop("message") and finding == {"task": "weak", "code": "noise_passes", "severity": "error"}
    cuset(*command, "strict=true", exit_code=1)
    for part in ("only=double", "limit=1"):
        cuset(*command, "strict=true", part)
    assert [json.loads(line).get("task") for line in output.read_text().splitlines()] == [None, "double"]
    refused = cuset("audit-tasks", tasks, f"output={tasks}", exit_code=2)
    assert "the command reads this file; give another one" in refused
