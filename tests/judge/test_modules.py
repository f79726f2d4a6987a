"""The judge of PyTorch modules (KernelBench's form), on the CPU. Each side of a trial runs in a process of its own.

The processes are forks (helpers/forked_runs.py). Tests that use `sandboxed` run in the real sandbox instead.
"""

import json
from dataclasses import replace

import pytest
import torch
from cheats import HELD
from commands import cuset

from cuset_stage.judge.gpu_activity import Activity
from cuset_stage.judge.judgement import Judgement
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.judge.modules.module_judge import BUILD_LIMITS
from cuset_stage.judge.modules.trial import LOWER, NO_FLOAT64
from cuset_stage.judge.results import read_results
from cuset_stage.sandbox import Isolation, Limits, Verdict, resolve_isolation, scratch_folder
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
COUNT = "self.calls = getattr(self, 'calls', 0) + 1; "  # put before the statements of a forward that counts its calls


def answer(forward: str, before: str = "") -> str:
    """Return an answer with these statements in `forward`, after the code `before`."""
    assert FORWARD in ANSWER
    return before + ANSWER.replace(FORWARD, forward)


def made(reference: str) -> ModuleTask:
    """Return a task with this reference."""
    return ModuleTask("level1_1_x", "1_x", "level1", {1: "p"}, None, reference, "level1/1_x.py:1")


@pytest.fixture(scope="module")
def task():
    return made(REFERENCE)


@pytest.fixture(scope="module")
def judge():
    # An answer below searches the whole file system when it is imported.
    patient = replace(BUILD_LIMITS, wall_s=3600.0)
    return ModuleJudge(device="cpu", seeds=3, limits=Limits(wall_s=600.0, processes=256), build_limits=patient)


def check_right(judge: ModuleJudge, task: ModuleTask, code: str) -> Judgement:
    found = judge.judge(task, code)
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    return found


def test_right(judge, task):
    """Both sides draw the same weights, and integer outputs are compared exactly."""
    found = check_right(judge, task, ANSWER)
    assert [case.name for case in found.cases] == [f"call {n}" if n < 3 else f"call {n}, timed" for n in range(8)]
    assert found.speedup is None  # no GPU, no speed
    assert found.overhead_s > 0 and found.run_s
    check_right(judge, task, answer(WORKSPACE.strip()))
    check_right(judge, made(VARIES), VARIES.replace("class Model(", "class ModelNew("))
    built = ModuleJudge(device="cuda", compile_only=True).build(task, ANSWER)
    assert (built.product, built.judgement.verdict) == (None, Verdict.COMPILED)


WORKSPACE = """
        if not hasattr(self, "space"):
            self.space, self.weight = torch.empty(16, 4), self.linear.weight.t().contiguous()
            self.static = torch.empty_like(x)
        self.static.copy_(x)
        torch.addmm(self.linear.bias, self.static, self.weight, out=self.space)
        self.space.relu_().mul_(self.scale)
        return self.space.clone(), y.argmax(dim=1)
"""
# A reference whose inputs have shapes and numbers that differ between seeds.
VARIES = (
    REFERENCE.replace(
        "return [torch.randn(16, 8), torch.randn(16, 5)]",
        "n = int(torch.randint(4, 40, ()))\n    return [torch.randn(n, 8), torch.randn(16, 5), n]",
    )
    .replace("forward(self, x, y)", "forward(self, x, y, n)")
    .replace("torch.relu(self.linear(x))", "torch.relu(self.linear(x)) * n")
)
# Builds that leave too much in the folder for extensions. Each process of an answer starts with a copy of that folder.
ENTER = "import os\nhome = os.getcwd()\nos.makedirs('extensions', exist_ok=True)\nos.chdir('extensions')\n"
DEEP = "for _ in range(100): os.mkdir('d' * 100); os.chdir('d' * 100)\nos.chdir(home)\n"
NESTED = "for _ in range(700): os.mkdir('d'); os.chdir('d')\nos.chdir(home)\n"
HOLES = "[open(str(n), 'w').truncate(1 << 30) for n in range(2)]\nos.chdir(home)\n"
LINKS = "open('0', 'w').truncate(1 << 29)\n[os.link('0', str(n)) for n in range(1, 9)]\nos.chdir(home)\n"


LAZY = "Late = type('Late', (torch.Tensor,), {}); return self.linear(x).relu().mul(2).as_subclass(Late), y.argmax(1)"
SECOND_CALL = COUNT + FORWARD.replace("self.scale", "(self.scale if self.calls == 1 else 1)")


def keeps(key: str) -> str:
    """Return an answer that keeps results by `key`, an expression of the inputs, and returns them again for the same
    key.
    """
    return answer(f"""known, key = self.__dict__.setdefault("known", {{}}), {key}
        if key not in known:
            {FORWARD.replace("return", "known[key] =")}
        return tuple(t.clone() for t in known[key])""")


IN_TIMED_CALLS = f"""{COUNT}{FORWARD.replace("return", "out =")}
        if self.calls > 5:
            CHEAT
        return out"""
STALE = """self.old = getattr(self, "old", []) + [out]
            if self.calls > 7:
                return self.old[-2]"""


UNDONE = """
made = []
def forward(self, x, y):
    made[:] = [(self, x.clone(), y.clone(), torch.zeros(16, 4), torch.zeros(16, dtype=torch.int64))]
    return made[0][3:]
def later(blobs=(), real=held.outputs):
    self, x, y, one, other = made[0]
    one.copy_(torch.relu(self.linear(x)) * self.scale)
    other.copy_(y.argmax(dim=1))
    return real()
held.outputs = later
ModelNew.forward = forward
"""


WRONG = {
    "wrong": (answer("return torch.relu(self.linear(x)) * 2.01, y.argmax(dim=1)"), "call 0: output[0]"),
    "dtype": (answer("return (torch.relu(self.linear(x)) * 2).double(), y.argmax(dim=1)"), "float64"),
    "overwritten": (answer(WORKSPACE.strip().replace(".clone()", "")), "a later call overwrote"),
    "second_call": (answer(SECOND_CALL), "call 1"),
    "lazy": (answer(LAZY), "expected a plain torch.Tensor"),
    "input": (answer("out = " + FORWARD.removeprefix("return ") + "; y.zero_(); return out"), "inputs [1]"),
    # Outputs that are not computed in the call.
    "by_address": (keeps("(x.data_ptr(), y.data_ptr())"), "call 2: "),
    "by_object": (keeps("(id(x), id(y))"), "call 2: "),
    "by_shape": (keeps("(x.shape, y.shape)"), "call 1: "),
    "stale": (answer(IN_TIMED_CALLS.replace("CHEAT", STALE)), "call 7, timed: "),
    "late_input": (answer(IN_TIMED_CALLS.replace("CHEAT", "x.zero_()")), "other values in its inputs [0]"),
    "no_work": (answer(IN_TIMED_CALLS.replace("CHEAT", "return torch.empty_like(out[0]), out[1]")), "call 5, timed"),
    # Outputs that were not there, or were others, when the clock stopped.
    "computed_later": (f"{ANSWER}{HELD}{UNDONE}", "not what it was when the call was over"),
    "digest_made_up": (f"{ANSWER}{HELD}held.digest = lambda tensors: bytes(range(32))\n", "not what it was when the call"),
}  # fmt: skip
NO_MODULE = {
    "no_class": (ANSWER.replace("ModelNew", "Other"), "no class ModelNew"),
    "syntax": ("def broken(:\n", "SyntaxError"),
    **{f"leaves_{n}": (ENTER + code + ANSWER, "leaves in TORCH_EXTENSIONS_DIR") for n, code in enumerate((DEEP, NESTED, HOLES, LINKS))},
}  # fmt: skip


@pytest.mark.parametrize("name", [*WRONG, *NO_MODULE])
def test_wrong(judge, task, name):
    code, says = (WRONG | NO_MODULE)[name]
    found = judge.judge(task, code)
    assert (found.verdict, found.passed) == (Verdict.MISMATCH if name in WRONG else Verdict.COMPILE_ERROR, False)
    assert says in found.message and found.compiled is (name in WRONG), found


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


def test_a_task_that_cannot_tell_is_flagged(judge):
    """If a reference gives the same output for all inputs, a constant passes.

    The judgement carries a flag about it.
    """
    blind = REFERENCE.replace(FORWARD, "return sum([0 * x.sum() + 1.5, torch.full((3,), 0.25)]), torch.sigmoid(y) * 0")
    found = judge.judge(made(blind), answer("return torch.full((3,), 1.75), torch.zeros(16, 5)"))
    assert found.passed, found.message
    assert any("the same for all seeds" in flag for flag in found.flags)


COUNTS = REFERENCE.replace(FORWARD, COUNT + FORWARD.replace("self.scale", "self.calls"))


def test_a_reference_with_a_state(judge):
    """Both sides are called in the same order, so their states agree.

    Calls that only measure time go to a copy of the reference.
    """
    task = made(COUNTS)
    check_right(judge, task, COUNTS.replace("class Model(", "class ModelNew("))
    wrong = judge.judge(task, answer("return torch.relu(self.linear(x)), y.argmax(dim=1)"))
    assert (wrong.verdict, "call 1" in wrong.message) == (Verdict.MISMATCH, True)
    held = REFERENCE.replace(FORWARD, "self.lock = __import__('_thread').allocate_lock(); " + FORWARD)
    check_right(judge, made(held), ANSWER)  # a reference with a lock cannot be copied


HUNT = """
import os, sys
BESIDE = ("/proc", "/sys", "/usr", "/dev", os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix))
found, seen = [], 0
for place, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if not os.path.join(place, f).startswith(BESIDE)]
    for name in files:
        try:
            with open(os.path.join(place, name), "rb") as file:
                text, seen = file.read(100000), seen + 1
        except OSError:
            continue
        if b"reference " b"5b1d0c7e" in text or {"expected", "given"} & {*place.split(os.sep)}:
            found.append(os.path.join(place, name))
"""


def test_a_run_finds_neither_the_reference_nor_what_an_earlier_one_left(judge, task, sandboxed):
    if resolve_isolation() is not Isolation.BUBBLEWRAP:
        pytest.skip("without bubblewrap nothing hides the judge's files, and runs share temporary files")
    checks = "leave(); assert LEFT and not FOUND, FOUND; assert seen and not found, found; "
    check_right(judge, task, answer(checks + FORWARD, LEAVES + HUNT))


Y = "{'outputs': [{'name': 'y', 'dtype': DTYPE, 'shape': SHAPE}], 'inputs': []}, ()"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("{'outputs': 5, 'inputs': []}, ()", Verdict.RUNTIME_ERROR),
        ("{'outputs': [5], 'inputs': []}, ()", Verdict.RUNTIME_ERROR),
        (Y.replace("DTYPE", "[]").replace("SHAPE", "[]"), Verdict.RUNTIME_ERROR),
        (Y.replace("DTYPE", "'torch.int8'").replace("SHAPE", "[-1]"), Verdict.RUNTIME_ERROR),
        (Y.replace("DTYPE", "'torch.int8'").replace("SHAPE", "[2**40]"), Verdict.MISMATCH),
        (Y.replace("DTYPE", "'torch.no'").replace("SHAPE", "[]"), Verdict.MISMATCH),
        ("{'outputs': [], 'inputs': 5}, ()", Verdict.RUNTIME_ERROR),
        ("{'error': 5}, ()", Verdict.RUNTIME_ERROR),
        ("{'error': {'type': 'Problem', 'message': 5}}, ()", Verdict.RUNTIME_ERROR),
        ("[5], ()", Verdict.RUNTIME_ERROR),
        ("{}, ()", Verdict.RUNTIME_ERROR),
        ("(held.channel.socket.sendall(bytes(8) + b'{}'), ())", Verdict.RUNTIME_ERROR),
        ("(held.channel.socket.sendall(b'\\xff' * 99), ())", Verdict.RUNTIME_ERROR),
        ("(held.channel.socket.close(), ())", Verdict.RUNTIME_ERROR),
        ("__import__('os')._exit(0)", Verdict.RUNTIME_ERROR),
    ],
)
def test_whatever_is_wrong_about_a_reply_is_the_answers_fault(judge, task, reply, verdict):
    found = judge.judge(task, f"{HELD}held.outputs = lambda blobs=(): ({reply})\n{ANSWER}")
    assert found.verdict is verdict, found
    assert ("ended with 0 before it was done" if "_exit" in reply else "") in found.message != ""


def test_a_process_that_says_nothing_is_too_late(judge, task):
    short = replace(judge, limits=replace(judge.limits, wall_s=2.0))
    # Silent once it has a model: the import, which may compile for minutes, has a longer limit.
    sends = "lambda *said, send=held.channel.send: time.sleep(100) if held.models else send(*said)"
    silent = f"{HELD}import time\nheld.channel.send = {sends}\n"
    for code in (answer(FORWARD, silent), answer("time.sleep(100)", "import time\n")):
        found = short.judge(task, code)
        assert (found.verdict, found.message) == (Verdict.TIMEOUT, "not done within 2 s")


CLOCKS = "import time\ntime.perf_counter = time.monotonic = time.time = lambda: 0.0\n"


def test_time_is_the_judges(judge, task):
    found = judge.judge(task, answer("time.sleep(0.03); " + FORWARD, CLOCKS))
    assert found.passed, found.message
    assert all(case.run_s > 0.03 for case in found.cases)


def test_inputs_are_not_there_before_the_clock_runs(judge, task):
    """Before the clock runs, the answer's process holds masked inputs, and what it has been told does not contain
    their seed.

    Inputs that are all zero are masked as well.
    """
    reference = REFERENCE.replace("torch.randn(16, 8)", "torch.zeros(16, 8)")
    looks = f"""{HELD}
seen, told = [], []
def key(size, real=held.channel.key):
    seen[:] = [tensor.clone() for tensor in held.given]
    told[:] = [real(size)]
    return told[0]
held.channel.key = key
"""
    checks = (
        "x0, y0 = seen; assert not torch.equal(x0, x) and not torch.equal(y0, y) and (x0 != 0).all(); "
        "torch.manual_seed(int.from_bytes(told[0][16:], 'little')); assert not torch.equal(torch.randn(16, 5), y); "
    )
    found = judge.judge(made(reference), answer(checks + FORWARD, looks))
    assert found.passed, found.message


DRAWS = REFERENCE.replace("torch.relu(self.linear(x))", "torch.relu(self.linear(x) + torch.rand(4))")
DRAWN_AHEAD = """
drawn = []
def key(size, real=held.channel.key):
    drawn[:] = [torch.rand(4)]
    return real(size)
held.channel.key = key
"""


def test_what_a_module_draws_is_drawn_alike_and_not_ahead(judge):
    task = made(DRAWS)
    honest = DRAWS.replace("class Model(", "class ModelNew(")
    check_right(judge, task, honest)
    found = judge.judge(task, f"{honest.replace('torch.rand(4)', 'drawn[0]')}{HELD}{DRAWN_AHEAD}")
    assert found.verdict is Verdict.MISMATCH


def test_the_seed_repeats_the_inputs(task):
    says = answer("raise ValueError(str(y.double().sum().item()))")
    messages = [ModuleJudge(device="cpu", seeds=3, seed=seed).judge(task, says).message for seed in (7, 7, None)]
    assert messages[0] == messages[1] != messages[2]


HALF = "def half(x):\n    return x.half().float()\n"


def test_a_lower_precision_is_flagged(judge, task):
    """Small outputs pass within the absolute tolerance even in a lower precision, so precision is judged separately."""
    small = made(REFERENCE.replace("[8, 2.0]", "[8, 0.02]"))
    lower = "return torch.relu(nn.functional.linear(half(x), half(self.linear.weight), self.linear.bias)) * self.scale, y.argmax(dim=1)"
    found = judge.judge(small, answer(lower, HALF))
    assert found.passed, found.message
    assert found.flags == (LOWER,) and "output[0] is off by " in found.message
    later = COUNT + FORWARD.replace("return", "right =")
    later += f"; return right if self.calls < 4 else ({lower.removeprefix('return ')})"
    found = judge.judge(small, answer(later, HALF))
    assert found.flags == (LOWER,), "in timed calls alone"
    right = "return torch.relu(sum(x[:, k:k + 1] * self.linear.weight[:, k] for k in range(8)) + self.linear.bias) * self.scale, y.argmax(dim=1)"
    assert check_right(judge, small, answer(right)).flags == ()
    fixed = made(small.reference.replace("(x))", "(x)) @ torch.eye(4)"))
    assert judge.judge(fixed, answer(lower, HALF)).flags == (NO_FLOAT64,)


def test_a_disk_that_is_full_before_is_not_charged(judge, task, monkeypatch):
    monkeypatch.setattr("cuset_stage.sandbox.folders.ROOM_BYTES", 2**60)  # every disk counts as full
    found = judge.judge(task, ANSWER)
    assert found.verdict is Verdict.INFRA_ERROR and "of the disk are free" in found.message


@pytest.mark.slow
def test_who_fills_the_disk_is_charged(sandboxed, small_disk, task):
    """The judge needs disk space to save outputs. An answer that fills the disk is charged for the failure."""
    fill = "import os\nFILE = open(os.environ['HOME'] + '/x', 'wb', buffering=0)\n"
    fill += "def fill():\n    try:\n        while FILE.write(b'x' * 4096): pass\n    except OSError: pass\n"
    limits = Limits(wall_s=600.0, folder_bytes=2**40, file_bytes=2**40)
    found = ModuleJudge(device="cpu", seeds=3, limits=limits).judge(task, answer(f"fill(); {FORWARD}", fill))
    assert (found.verdict, found.message) == (Verdict.RUNTIME_ERROR, "stopped at its limit (disk)")


def test_a_reference_that_fails_is_not_the_answers_fault(judge):
    broken = made(REFERENCE.replace("torch.randn(16, 8)", "torch.randn(16, 9)"))
    found = judge.judge(broken, ANSWER.replace("self.linear(x)", "self.linear(x[:, :8])"))
    assert found.verdict is Verdict.INFRA_ERROR
    assert "task level1_1_x: the reference's call failed" in found.message


def test_from_the_command_line(tmp_path, monkeypatch):
    """Tasks in KernelBench's own folder layout can be judged, and a second run judges nothing again."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tasks/level1").mkdir(parents=True)
    (tmp_path / "tasks/level1/1_x.py").write_text(REFERENCE)
    answers, output = tmp_path / "answers.jsonl", tmp_path / "results.jsonl"
    answers.write_text(json.dumps({"task": "level1_1_x", "sample": 0, "code": ANSWER}) + "\n")
    for said in ("(1 judged", "1 taken from an earlier run"):
        assert said in cuset("evaluate", answers, tasks=tmp_path / "tasks", output=output, no_gpu=True)
    results = read_results(output)
    assert [(s["task"], s["verdict"], s["speedup"]) for s in results.samples] == [("level1_1_x", "passed", None)]
    assert results.run["tasks"]["format"] == "kernelbench" and torch.__version__.startswith(results.run["torch"])


def test_a_process_may_end_by_itself(judge, sandboxed):
    """The record of its work on the GPU is written when a process ends, so it must not be killed."""
    with scratch_folder() as folder:
        (folder / "answer.py").write_text("import atexit\natexit.register(print, 'left')\n" + ANSWER)
        with judge.hold(folder, None) as module:
            module.find("ModelNew")
            assert module.leave() == Activity()  # no GPU, so the record is empty
            ended = module._process.end()
            assert (ended.returncode, ended.stdout) == (0, "left\n")
