"""Answers in KernelBench's form, judged on the CPU, each run in a process of its own; and the parts that need none.

Runs are forks of this process, and the tests that ask for `sandboxed` have the sandbox as well.
"""

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.judge.closeness import first_difference, module_distance
from cuset_stage.judge.devices import Turns
from cuset_stage.judge.judgement import Clock, Judgement
from cuset_stage.judge.modules import ModuleJudge, worker
from cuset_stage.judge.modules.checks import source_flags
from cuset_stage.judge.modules.inputs import permuted
from cuset_stage.judge.modules.reference import Reference
from cuset_stage.judge.modules.runs import Worker
from cuset_stage.judge.modules.trial import kernel_time, unseen_time
from cuset_stage.judge.modules.worker import schedule
from cuset_stage.judge.results import read_results
from cuset_stage.sandbox import Isolation, Limits, Verdict, resolve_isolation
from cuset_stage.tasks import ModuleTask


pytestmark = pytest.mark.usefixtures("forked")

REFERENCE = """# reference 5b1d0c7e
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, scale):
        super().__init__()
        self.linear = nn.Linear(features, 4)
        self.scale = scale

    def forward(self, x, y):
        return torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)


def get_inputs():
    return [torch.randn(16, 8), torch.randn(16, 5)]


def get_init_inputs():
    return [8, 2.0]
"""
ANSWER = REFERENCE.replace("class Model(", "class ModelNew(").replace("# reference 5b1d0c7e", "")
FORWARD = "return torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)"


def answer(forward: str, before: str = "") -> str:
    assert FORWARD in ANSWER
    return before + ANSWER.replace(FORWARD, forward)


@pytest.fixture(scope="module")
def task() -> ModuleTask:
    return ModuleTask("level1_1_x", "1_x", "level1", {1: "p"}, None, REFERENCE, "level1/1_x.py:1")


@pytest.fixture(scope="module")
def judge() -> ModuleJudge:
    return ModuleJudge(device="cpu", seeds=2, limits=Limits(wall_s=60.0, processes=256))


@pytest.fixture(scope="module")
def prepared(judge: ModuleJudge, task: ModuleTask) -> Iterator[Reference]:
    prepared = judge.prepare(task)
    yield prepared
    judge.release(prepared)


def judged(judge: ModuleJudge, task: ModuleTask, prepared: Reference, code: str):
    built = judge.build(task, code)
    try:
        return built.judgement if built.product is None else judge.execute(task, built, prepared)
    finally:
        judge.discard(built)


def test_right(judge: ModuleJudge, task: ModuleTask, prepared: Reference) -> None:
    """Weights are drawn alike on both sides; an integer output is compared exactly."""
    found = judged(judge, task, prepared, ANSWER)
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    again = [f"{name} in the same tensors" for name in ("seed 1", "seed 0 permuted", "seed 0")]
    assert [case.name for case in found.cases] == ["seed 0", "seed 1", *again]
    assert found.speedup is None  # no GPU, no speed
    assert found.flags == ("source: no kernel of its own, only calls of torch",)
    assert found.overhead_s > 0


OVERWRITES = """
        if not hasattr(self, "out"):
            self.out = torch.empty(16, 4)
        self.out.copy_(torch.relu(self.linear(x)) * self.scale)
        return self.out, y.argmax(dim=1)
"""
LAZY = """
        class Late(torch.Tensor):
            pass
        return (torch.relu(self.linear(x)) * self.scale).as_subclass(Late), y.argmax(dim=1)
"""
SECOND_CALL = """
        self.calls = getattr(self, "calls", 0) + 1
        return torch.relu(self.linear(x)) * (self.scale if self.calls == 1 else 1), y.argmax(dim=1)
"""


@pytest.mark.parametrize(
    ("code", "verdict", "says"),
    [
        (answer("return torch.relu(self.linear(x)) * 2.01, y.argmax(dim=1)"), Verdict.MISMATCH, "seed 0: output[0]"),
        (answer("return (torch.relu(self.linear(x)) * 2).double(), y.argmax(dim=1)"), Verdict.MISMATCH, "float64"),
        (answer(OVERWRITES.strip()), Verdict.MISMATCH, "a later call overwrote"),
        (answer(SECOND_CALL.strip()), Verdict.MISMATCH, "seed 1"),
        (answer(LAZY.strip()), Verdict.MISMATCH, "expected a plain torch.Tensor"),
        (answer("out = " + FORWARD.removeprefix("return ") + "; y.zero_(); return out"), Verdict.MISMATCH, "inputs [1]"),
        (answer("import os; os._exit(0)"), Verdict.RUNTIME_ERROR, "ended with 0 before it was done"),
        (ANSWER.replace("ModelNew", "Other"), Verdict.COMPILE_ERROR, "no class ModelNew"),
        ("def broken(:\n", Verdict.COMPILE_ERROR, "SyntaxError"),
    ],
    ids=["wrong", "dtype", "overwritten", "second_call", "lazy", "input", "exit", "no_class", "syntax"],
)  # fmt: skip
def test_wrong(
    judge: ModuleJudge, task: ModuleTask, prepared: Reference, code: str, verdict: Verdict, says: str
) -> None:
    found = judged(judge, task, prepared, code)
    assert (found.verdict, found.passed) == (verdict, False)
    assert says in found.message
    assert found.compiled is (verdict is not Verdict.COMPILE_ERROR)


def keeps(key: str, unless: str = "False") -> str:
    """The right answer, but a result is kept by `key` of the inputs."""
    return answer(
        f"""
        if not hasattr(self, "known"):
            self.known, self.calls = {{}}, 0
        self.calls += 1
        key = {key}
        if key in self.known and not {unless}:
            return tuple(t.clone() for t in self.known[key])
        out = torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)
        self.known[key] = tuple(t.clone() for t in out)
        return out
""".strip()
    )


IN_TIMED_CALLS = """
        self.calls = getattr(self, "calls", 0) + 1
        out = torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)
        if self.calls > 8:
            CHEAT
        return out
"""
AHEAD = """
        def right():
            return torch.relu(self.linear(self.given[0])) * self.scale, self.given[1].argmax(dim=1)
        if not hasattr(self, "given"):
            self.given = x, y
            def ahead(seed):  # torch.manual_seed, which the worker calls before each call, ends in it
                self.out = right()
            torch.random._seed_custom_device = ahead
        elif x is self.given[0]:
            return self.out
        return torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)
"""
STALE = """self.old = getattr(self, "old", []) + [out]
            if self.calls > 10:
                return self.old[-3]"""


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (keeps("(x.data_ptr(), y.data_ptr())"), "in the same tensors"),
        (keeps("(id(x), id(y))"), "in the same tensors"),
        (keeps("(x.shape, y.shape)"), "seed 1: "),
        (keeps("(x[0, 0].item(), x[-1, -1].item())"), "seed 0 permuted"),
        (keeps("round(x.double().sum().item(), 9)"), "seed 0 permuted"),
        (keeps("round(x[::5].double().norm().item(), 9)", "x[0, 0] > 9"), "PASSED"),
        (answer(IN_TIMED_CALLS.replace("CHEAT", STALE).strip()), "wrong when run again"),
        (answer(IN_TIMED_CALLS.replace("CHEAT", "x.zero_()").strip()), "changes its inputs [0]"),
        (answer(IN_TIMED_CALLS.replace("CHEAT", "return torch.empty_like(out[0]), out[1]").strip()), "when run again"),
        (answer(AHEAD.strip()), "wrong when run again"),
    ],
    ids=["address", "object", "shape", "ends", "sum", "some_rows", "stale", "late_input", "no_work", "ahead"],
)  # fmt: skip
def test_a_kept_result_is_wrong(
    judge: ModuleJudge, task: ModuleTask, prepared: Reference, code: str, says: str
) -> None:
    found = judged(judge, task, prepared, code)
    if says == "PASSED":  # every content that it is given has a key of its own: its results are right, on a GPU its
        assert found.passed, found.message  # calls with unseen inputs are timed alone
        return
    assert found.verdict is Verdict.MISMATCH
    assert says in found.message


WORKSPACE = """
        if not hasattr(self, "space"):
            self.space, self.weight = torch.empty(16, 4), self.linear.weight.t().contiguous()
            self.static = torch.empty_like(x)
        self.static.copy_(x)
        torch.addmm(self.linear.bias, self.static, self.weight, out=self.space)
        self.space.relu_().mul_(self.scale)
        return self.space.clone(), y.argmax(dim=1)
"""


def test_workspaces_and_prepared_weights_are_right(judge: ModuleJudge, task: ModuleTask, prepared: Reference) -> None:
    found = judged(judge, task, prepared, answer(WORKSPACE.strip()))
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    assert found.flags == ("source: no kernel of its own, only calls of torch",)


LEAVES = """
import os, tempfile
PLACES = [os.getcwd(), os.path.join(os.getcwd(), "out"), tempfile.gettempdir(), os.path.expanduser("~"), "/dev/shm",
          os.environ["TORCH_EXTENSIONS_DIR"], os.environ["TRITON_CACHE_DIR"]]
MARKS = [os.path.join(place, "left-8c21d5") for place in PLACES]
FOUND, LEFT = [mark for mark in MARKS if os.path.exists(mark)], []
def leave():
    for mark in MARKS:
        try:
            os.makedirs(os.path.dirname(mark), exist_ok=True)
            open(mark, "w").close()
            LEFT.append(mark)
        except OSError:
            pass
"""


def test_a_task_that_cannot_tell_is_flagged(judge: ModuleJudge) -> None:
    """An iteration that comes to the same fixed point from everywhere: a constant passes, and people are told."""
    blind = REFERENCE.replace(FORWARD, "return sum([0 * x.sum() + 1.5, torch.full((3,), 0.25)]), torch.sigmoid(y) * 0")
    blind_task = ModuleTask("b", "b", "level1", {1: "p"}, None, blind, "b:1")
    prepared = judge.prepare(blind_task)
    found = judged(judge, blind_task, prepared, answer("return torch.full((3,), 1.75), torch.zeros(16, 5)"))
    judge.release(prepared)
    assert found.passed, found.message
    assert any("the same for all seeds" in flag for flag in found.flags)


COUNTS = REFERENCE.replace(
    FORWARD,
    """self.count = getattr(self, "count", 0) + 1
        return torch.relu(self.linear(x)) * self.count, y.argmax(dim=1)""",
)


def test_a_reference_with_a_state_is_flagged(judge: ModuleJudge) -> None:
    task = ModuleTask("c", "c", "level1", {1: "p"}, None, COUNTS, "c:1")
    prepared = judge.prepare(task)
    found = judged(judge, task, prepared, COUNTS.replace("class Model(", "class ModelNew("))
    wrong = judged(judge, task, prepared, answer("return torch.relu(self.linear(x)), y.argmax(dim=1)"))
    judge.release(prepared)
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    assert any("depend on earlier calls" in flag for flag in found.flags)
    assert (wrong.verdict, "seed 1" in wrong.message) == (Verdict.MISMATCH, True)


VARIES = (
    REFERENCE.replace(
        "return [torch.randn(16, 8), torch.randn(16, 5)]",
        "n = int(torch.randint(4, 40, ()))\n    return [torch.randn(n, 8), torch.randn(16, 5), n]",
    )
    .replace("forward(self, x, y)", "forward(self, x, y, n)")
    .replace("torch.relu(self.linear(x))", "torch.relu(self.linear(x)) * n")
)


def test_shapes_and_numbers_that_differ_between_seeds(judge: ModuleJudge) -> None:
    task = ModuleTask("v", "v", "level1", {1: "p"}, None, VARIES, "v:1")
    prepared = judge.prepare(task)
    found = judged(judge, task, prepared, VARIES.replace("class Model(", "class ModelNew("))
    judge.release(prepared)
    assert (found.verdict, found.message) == (Verdict.PASSED, "")


HUNT = """
import os, sys
found, seen = [], 0
for place, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if not os.path.join(place, f).startswith(("/proc", "/sys", "/usr", "/dev", sys.prefix))]
    for name in files:
        try:
            with open(os.path.join(place, name), "rb") as file:
                text, seen = file.read(100000), seen + 1
        except OSError:
            continue
        if b"reference " b"5b1d0c7e" in text or "expected" in place.split(os.sep):
            found.append(os.path.join(place, name))
"""
PATCHES = """
torch.equal = lambda *_: True
torch.allclose = lambda *_, **__: True
torch.Tensor.clone = lambda self: self
"""


def test_a_run_finds_neither_the_reference_nor_what_an_earlier_one_left(
    judge: ModuleJudge, task: ModuleTask, prepared: Reference, sandboxed: None
) -> None:
    if resolve_isolation() is not Isolation.BUBBLEWRAP:
        pytest.skip(
            "without bubblewrap nothing hides the judge's files, and runs share the folder for temporary files"
        )
    expected = prepared.expected(None)  # the files lie on this machine now
    assert all(saved.path.is_file() for rows in expected.outputs.values() for saved in rows)
    checks = "leave(); assert LEFT and not FOUND, FOUND; assert seen and not found, found; "
    found = judged(judge, task, prepared, answer(checks + FORWARD, LEAVES + HUNT))
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    assert any("looks at files" in flag for flag in found.flags)


def test_patching_torch_does_not_reach_the_judge(judge: ModuleJudge, task: ModuleTask, prepared: Reference) -> None:
    code = answer("return torch.zeros(16, 4), y.argmax(dim=1)").replace(
        "import torch.nn as nn", f"import torch.nn as nn\n{PATCHES}"
    )
    found = judged(judge, task, prepared, code)
    assert found.verdict is Verdict.MISMATCH
    assert {"source: assigns to torch.equal", "source: assigns to torch.allclose"} <= set(found.flags)


def timed(judge: ModuleJudge, task: ModuleTask, prepared: Reference, code: str) -> Judgement:
    """What is said of an answer's speed; on the CPU, where `execute` does not ask."""
    built = judge.build(task, code)
    assert built.product is not None, built.judgement.message
    try:
        known = replace(built.judgement, verdict=Verdict.PASSED, flags=())
        return judge.trial(replace(built, judgement=known), prepared, None, Clock()).time()
    finally:
        judge.discard(built)


def test_nothing_is_built_while_something_is_timed(
    task: ModuleTask, prepared: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn: list[str] = []
    done = []

    class Noted(Turns):
        @contextmanager
        def noted(self, name: str, own: AbstractContextManager[None]) -> Iterator[None]:
            with own:
                turn.append(name)
                yield
                turn.pop()

        def building(self) -> AbstractContextManager[None]:
            return self.noted("building", super().building())

        def timing(self) -> AbstractContextManager[None]:
            return self.noted("timing", super().timing())

    def run(self: Worker, folder: Path, request: dict[str, Any], *given: Any, real: Any = Worker.run) -> Any:
        done.append((request["action"], *turn))
        return real(self, folder, request, *given)

    monkeypatch.setattr(Worker, "run", run)
    judge = ModuleJudge(device="cpu", seeds=2, turns=Noted())
    timed(judge, task, prepared, ANSWER)
    assert [run for run in done if run[0] in ("build", "time")] == [("build", "building"), *[("time", "timing")] * 3]


SLOW = "import time; time.sleep(0.004); " + FORWARD
CHANGED_WORKER = """
import sys
worker = sys.modules["__main__"]
real = worker.flatten
worker.flatten = lambda output, torch: real(output, torch)
"""


def test_events_that_say_less_than_the_clock(
    judge: ModuleJudge, task: ModuleTask, prepared: Reference, changed_events: str
) -> None:
    assert not any("clock" in flag for flag in timed(judge, task, prepared, ANSWER).flags)
    tampered = timed(judge, task, prepared, answer(SLOW, changed_events))
    assert any("the clock on the wall says more" in flag for flag in tampered.flags)
    assert tampered.kernel_s and tampered.kernel_s > 0.004


def test_the_worker_is_not_found_as_main(judge: ModuleJudge, task: ModuleTask, prepared: Reference) -> None:
    found = judged(judge, task, prepared, answer(FORWARD, CHANGED_WORKER))
    assert (found.verdict, "'flatten'" in found.message) == (Verdict.COMPILE_ERROR, True), found.message
    assert any("sys.modules" in flag for flag in found.flags)


def test_the_first_calls_are_not_timed(judge: ModuleJudge, task: ModuleTask, prepared: Reference) -> None:
    forward = """
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls <= 3:
            import time; time.sleep(0.5)
        """.strip()
    built = judge.build(task, answer(f"{forward}\n        {FORWARD}"))
    report = judge.trial(built, prepared, None, Clock()).run_timed()
    assert len(report.record["times"]) >= 11 and max(report.record["times"]) < 0.5
    judge.discard(built)


def test_the_cache_is_flushed_before_every_timed_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker itself, here, with a note of what it does in which order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(Path(worker.__file__).parent)
    (tmp_path / "answer.py").write_text(REFERENCE)
    request = {"model": "Model", "seeds": ["0", "1", "2"], "trials": 0, "budget_s": 9.0}
    its = worker.Torch("cpu")
    worker.make_inputs(request, its, {})
    Path("out").rename("inputs")
    done = []

    def noted(name: str, what: Any) -> Any:
        return lambda *given: done.append((name, given)) or what(*given)

    for name in ("zero_", "synchronize", "record"):
        monkeypatch.setattr(its, name, noted(name, getattr(its, name)))
    monkeypatch.setattr(worker, "call", noted("call", worker.call))
    report = worker.new_report("x")
    worker.measure({**request, "seeds": ["0", "1"], "unseen": ["2"]}, its, report)
    names = [name for name, _ in done]
    calls = [place for place, name in enumerate(names) if name == "call"][1:]  # after the constructor's
    assert len(calls) == len(report["times"]) + worker.WARM_UPS
    around = ["zero_", "synchronize", "record", "call", "record", "synchronize"]
    assert all(names[place - 3 : place + 3] == around for place in calls)
    assert all(done[place - 3][1][0] is done[calls[0] - 3][1][0] for place in calls)  # one buffer, no input


def test_time_limit(judge: ModuleJudge, task: ModuleTask, prepared: Reference) -> None:
    short = ModuleJudge(device="cpu", seeds=2, limits=Limits(wall_s=2.0, processes=256))
    found = judged(short, task, prepared, answer("import time; time.sleep(100)"))
    assert (found.verdict, found.message) == (Verdict.TIMEOUT, "not done within 2 s")


def test_compile_only(task: ModuleTask) -> None:
    judge = ModuleJudge(device="cuda", compile_only=True)
    built = judge.build(task, ANSWER)
    assert (built.product, built.judgement.verdict) == (None, Verdict.COMPILED)


def test_a_reference_that_fails_is_not_the_answers_fault(judge: ModuleJudge) -> None:
    broken = ModuleTask(
        "b", "b", "level1", {1: "p"}, None, REFERENCE.replace("torch.randn(16, 8)", "torch.randn(16, 9)"), "b:1"
    )
    prepared = judge.prepare(broken)
    found = judged(judge, broken, prepared, ANSWER.replace("self.linear(x)", "self.linear(x[:, :8])"))
    judge.release(prepared)
    assert found.verdict is Verdict.INFRA_ERROR
    assert "task b: the reference's forward failed" in found.message


def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandboxed: None) -> None:
    """KernelBench's own layout, answers in a folder; a second run judges nothing again."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))
    for name, text in (("tasks/level1/1_x.py", REFERENCE), ("answers/level1_1_x/0.py", ANSWER)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    output = tmp_path / "results.jsonl"
    command = ["evaluate", str(tmp_path / "answers"), f"tasks={tmp_path / 'tasks'}", f"output={output}"]
    for said in ("(1 judged", "1 taken from an earlier run"):
        result = CliRunner().invoke(app, [*command, "no_gpu=true"])
        assert (result.exit_code, said in result.output) == (0, True), result.output
    results = read_results(output)
    assert [(s["task"], s["verdict"], s["speedup"]) for s in results.samples] == [("level1_1_x", "passed", None)]
    assert results.run["tasks"]["format"] == "kernelbench" and torch.__version__.startswith(results.run["torch"])


# ------------------------------------------------------------------------------------------------------------- parts


def test_permuted_keeps_ends_and_sums() -> None:
    x, y, few = torch.randn(16, 8), torch.randint(0, 5, (16,)), torch.randn(2, 7)
    one, other, left = permuted([x, y, few], torch)
    assert torch.equal(one[[0, -1]], x[[0, -1]]) and not (one[1:-1] == x[1:-1]).all(dim=1).any()
    assert torch.equal(one.sort(dim=0).values, x.sort(dim=0).values)
    assert torch.equal(left, few)
    order = [int((x == row).all(dim=1).nonzero()) for row in one]
    assert torch.equal(other, y[order])  # what belongs together stays together


SQUARE = torch.randn(8, 8)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(8, 8).triu(),
        SQUARE + SQUARE.mT,
        torch.arange(9),
        torch.arange(9.0).flip(0),
        torch.ones(8, 4),
        torch.randn(3, 9),
        torch.randn(9, 9) > 0,
        torch.empty(0, 4),
        torch.randn(8, 4).to(torch.complex64),
    ],
    ids=["triangular", "symmetric", "sorted", "sorted_down", "constant", "few", "mask", "empty", "complex"],
)
def test_what_an_order_means_something_for_is_not_permuted(tensor: torch.Tensor) -> None:
    assert permuted([tensor], torch) is None


def test_the_schedule_is_another_for_every_token() -> None:
    orders = [schedule(random.Random(i), ("0", "1"), ["5", "6"], 10) for i in range(200)]
    assert len({tuple(order) for order in orders}) > 150
    assert len({order.index("5") for order in orders}) == 10
    for order in orders:
        assert sorted(set(order)) == ["0", "1", "5", "6"] and order.count("5") == order.count("6") == 1


def test_wall_time_is_without_what_nothing_takes() -> None:
    times = dict.fromkeys(("times", "late"), [10e-6] * 20) | {"unseen": [4]}
    idle = [20e-6, 20e-6, 70e-6]
    assert kernel_time({**times, "walls": [30e-6, 90e-6, 32e-6], "idle": idle}) == (10e-6, [])
    wall, (flag,) = kernel_time({**times, "walls": [90e-6, 95e-6, 90e-6], "idle": idle})
    assert wall == pytest.approx(70e-6) and "the clock on the wall" in flag


def test_kept_results_are_seen_in_the_times() -> None:
    kept = [1e-3, 4e-6, 4e-6, 90e-6, 4e-6, 4e-6, 4e-6, 88e-6, 4e-6, 4e-6, *[4e-6] * 40, 91e-6]
    assert unseen_time(kept, [3, 7, 50]) == 90e-6
    assert unseen_time([90e-6] * 51, [3, 7, 50]) is None
    assert unseen_time([90e-6] * 10 + [40e-6] * 41, [3, 7, 50]) is None  # the device warmed up, for all alike
    assert unseen_time([4e-6] * 50 + [1e-3], [3, 7, 50]) is None  # one slow call says nothing


@pytest.mark.parametrize(
    "dtype",
    ["float16", "bfloat16", "float32", "float64", "complex64", "int8", "uint8", "int16", "int32", "int64", "bool"],
)
def test_closeness_is_torchs(dtype: str, tmp_path: Path) -> None:
    """Against torch.allclose, with errors on both sides of the tolerance."""
    kind = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(0)
    verdicts = set()
    for size in (0.0, 3e-5, 3e-3, 0.3, 2.0):
        expected = (torch.randn(7, 31, generator=generator) * 50).to(kind)
        actual = (expected.to(torch.float64) * (1 + size)).to(kind) if not kind.is_complex else expected * (1 + size)
        tolerance = {torch.float16: 1e-2, torch.bfloat16: 1e-2}.get(
            kind, 1e-4 if kind.is_floating_point or kind.is_complex else 0
        )
        wide = torch.complex128 if kind.is_complex else torch.float64
        want = torch.allclose(actual.to(wide), expected.to(wide), rtol=tolerance, atol=tolerance)
        for name, tensor in (("a", actual), ("b", expected)):
            (tmp_path / name).write_bytes(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        found = module_distance(tmp_path / "b", tmp_path / "a", f"torch.{dtype}", (7, 31))
        assert found.close is want, size
        if not want:
            at = found.first_wrong
            first = first_difference("y", (7, 31), tmp_path / "b", tmp_path / "a", dtype, at)
            assert first["index"] == [at // 31, at % 31]
            assert first["expected"] == (str if kind.is_complex else lambda value: value)(
                expected.flatten()[at].item()
            )
        verdicts.add(want)
    assert verdicts == {True, False} or dtype == "bool"


def test_closeness_of_what_is_not_finite(tmp_path: Path) -> None:
    def compare(actual: list[float], expected: list[float]) -> bool:
        for name, values in (("a", actual), ("b", expected)):
            np.array(values, np.float32).tofile(tmp_path / name)
        return module_distance(tmp_path / "b", tmp_path / "a", "torch.float32", (len(actual),)).close

    inf, nan = float("inf"), float("nan")
    assert compare([inf, -inf, 1], [inf, -inf, 1])
    assert not compare([inf], [-inf])
    assert not compare([1], [inf])
    assert not compare([nan], [1])
    assert not compare([nan], [nan])
    assert compare([], [])


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("try:\n    pass\nexcept Exception:\n    pass\n", "try/except"),
        ("import torch\ntorch.cuda.Event.elapsed_time = lambda *_: 0.0\n", "assigns to torch.cuda.Event.elapsed_time"),
        ("import time\ntime.perf_counter = lambda: 0\n", "assigns to time.perf_counter"),
        ("import torch\nsetattr(torch, 'equal', None)\n", "sets an attribute of torch"),
        ("from threading import Thread\n", "imports threading"),
        ("import gc\n", "imports gc"),
        ("import torch\ns = torch.cuda.Stream()\n", "streams of its own"),
        ("import torch\nx = torch.load('x')\n", "looks at files"),
        ("import sys\nsys._getframe(1)\n", "looks at the frames"),
        ("from sys import _getframe as look\nlook(1)\n", "looks at the frames"),
        ("import sys\nm = sys.modules['x']\n", "looks at sys.modules"),
        ("from sys import modules\nmodules['x'].f = None\n", "looks at sys.modules"),
        ("import __main__\n", "imports __main__"),
        ("from torch.cuda import Event\nEvent.elapsed_time = None\n", "assigns to torch.cuda.Event.elapsed_time"),
        ("import torch.cuda as c\nsetattr(c.Event, 'record', None)\n", "sets an attribute of torch.cuda.Event"),
        ("__import__('ctypes')\n", "imports ctypes"),
        ("import importlib\nimportlib.import_module('gc')\n", "imports gc"),
        ("__import__('ct' + 'ypes')\n", "of a name that is not written there"),
        ("class ModelNew(Model):\n    pass\n", "inherits from Model"),
        ("import torch\n", "no kernel of its own"),
    ],
)
def test_source_flags(source: str, says: str) -> None:
    assert any(says in flag for flag in source_flags(source))


def test_an_honest_source_has_no_flags() -> None:
    source = (
        "import importlib\nimport torch\nfrom torch.nn.functional import relu\n"
        "from torch.utils.cpp_extension import load_inline\n"
        "relu, triton = relu or None, importlib.import_module('triton')\n"
        "kernel = load_inline('k', cpp_sources='', cuda_sources='__global__ void k() {}')\n"
        "torch.backends.cudnn.benchmark = True\n"
        "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        self.x = x\n        return kernel.f(x)\n"
    )
    assert source_flags(source) == []
    assert source_flags("def broken(:") == []
