"""Answers in KernelBench's form, judged on the CPU, each run in a process of its own; and the parts that need none.

Runs are forks of this process, and the tests that ask for `sandboxed` have the sandbox as well.
"""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.judge.closeness import first_difference, module_distance
from cuset_stage.judge.gpu_activity import Activity, Kernel
from cuset_stage.judge.gpu_work import kernel_uses
from cuset_stage.judge.modules import ModuleJudge, handover
from cuset_stage.judge.modules.account import MISSING, MORE, NO_KERNEL, calls_of, second_opinion
from cuset_stage.judge.modules.precision import lower_precision
from cuset_stage.judge.modules.session import HANDOVER, Saved
from cuset_stage.judge.modules.trial import LOWER, NO_FLOAT64, NOISE, UNSTEADY, speed
from cuset_stage.judge.results import read_results
from cuset_stage.sandbox import (
    Finished,
    Isolation,
    Limits,
    SandboxError,
    Verdict,
    find_toolkit,
    resolve_isolation,
    scratch_folder,
)
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
    return ModuleJudge(device="cpu", seeds=3, limits=Limits(wall_s=60.0, processes=256))


def test_right(judge: ModuleJudge, task: ModuleTask) -> None:
    """Weights are drawn alike on both sides; an integer output is compared exactly."""
    found = judge.judge(task, ANSWER)
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    assert [case.name for case in found.cases] == [f"call {n}" if n < 3 else f"call {n}, timed" for n in range(8)]
    assert found.speedup is None  # no GPU, no speed
    assert found.overhead_s > 0 and found.run_s


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
        (answer("return torch.relu(self.linear(x)) * 2.01, y.argmax(dim=1)"), Verdict.MISMATCH, "call 0: output[0]"),
        (answer("return (torch.relu(self.linear(x)) * 2).double(), y.argmax(dim=1)"), Verdict.MISMATCH, "float64"),
        (answer(OVERWRITES.strip()), Verdict.MISMATCH, "a later call overwrote"),
        (answer(SECOND_CALL.strip()), Verdict.MISMATCH, "call 1"),
        (answer(LAZY.strip()), Verdict.MISMATCH, "expected a plain torch.Tensor"),
        (answer("out = " + FORWARD.removeprefix("return ") + "; y.zero_(); return out"), Verdict.MISMATCH, "inputs [1]"),
        (answer("import os; os._exit(0)"), Verdict.RUNTIME_ERROR, "ended with 0 before it was done"),
        (ANSWER.replace("ModelNew", "Other"), Verdict.COMPILE_ERROR, "no class ModelNew"),
        ("def broken(:\n", Verdict.COMPILE_ERROR, "SyntaxError"),
    ],
    ids=["wrong", "dtype", "overwritten", "second_call", "lazy", "input", "exit", "no_class", "syntax"],
)  # fmt: skip
def test_wrong(judge: ModuleJudge, task: ModuleTask, code: str, verdict: Verdict, says: str) -> None:
    found = judge.judge(task, code)
    assert (found.verdict, found.passed) == (verdict, False)
    assert says in found.message
    assert found.compiled is (verdict is not Verdict.COMPILE_ERROR)


def keeps(key: str) -> str:
    """The right answer, but a result is kept by `key` of the inputs."""
    return answer(
        f"""
        if not hasattr(self, "known"):
            self.known = {{}}
        key = {key}
        if key in self.known:
            return tuple(t.clone() for t in self.known[key])
        out = torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)
        self.known[key] = tuple(t.clone() for t in out)
        return out
""".strip()
    )


IN_TIMED_CALLS = """
        self.calls = getattr(self, "calls", 0) + 1
        out = torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)
        if self.calls > 5:
            CHEAT
        return out
"""
# torch.manual_seed and cuda.manual_seed_all are called before each call, when the inputs' tensors are there already.
AHEAD = """
        def right():
            return torch.relu(self.linear(self.given[0])) * self.scale, self.given[1].argmax(dim=1)
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 2:  # from now on it is given these tensors
            self.given = x, y
            def ahead(seed):
                self.out = right()
            torch.random._seed_custom_device = ahead
        elif self.calls > 2:
            return self.out
        return torch.relu(self.linear(x)) * self.scale, y.argmax(dim=1)
"""
STALE = """self.old = getattr(self, "old", []) + [out]
            if self.calls > 7:
                return self.old[-2]"""


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (keeps("(x.data_ptr(), y.data_ptr())"), "call 2: "),
        (keeps("(id(x), id(y))"), "call 2: "),
        (keeps("(x.shape, y.shape)"), "call 1: "),
        (answer(IN_TIMED_CALLS.replace("CHEAT", STALE).strip()), "call 7, timed: "),
        (answer(IN_TIMED_CALLS.replace("CHEAT", "x.zero_()").strip()), "other values in its inputs [0]"),
        (answer(IN_TIMED_CALLS.replace("CHEAT", "return torch.empty_like(out[0]), out[1]").strip()), "call 5, timed"),
        (answer(AHEAD.strip()), "call 2: "),
    ],
    ids=["address", "object", "shape", "stale", "late_input", "no_work", "ahead"],
)
def test_what_is_not_computed_in_the_call_is_wrong(judge: ModuleJudge, task: ModuleTask, code: str, says: str) -> None:
    found = judge.judge(task, code)
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


def test_workspaces_and_prepared_weights_are_right(judge: ModuleJudge, task: ModuleTask) -> None:
    found = judge.judge(task, answer(WORKSPACE.strip()))
    assert (found.verdict, found.message) == (Verdict.PASSED, "")


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
    found = judge.judge(blind_task, answer("return torch.full((3,), 1.75), torch.zeros(16, 5)"))
    assert found.passed, found.message
    assert any("the same for all seeds" in flag for flag in found.flags)


COUNTS = REFERENCE.replace(
    FORWARD,
    """self.count = getattr(self, "count", 0) + 1
        return torch.relu(self.linear(x)) * self.count, y.argmax(dim=1)""",
)


def test_a_reference_with_a_state(judge: ModuleJudge) -> None:
    """Both sides are called in the same order."""
    task = ModuleTask("c", "c", "level1", {1: "p"}, None, COUNTS, "c:1")
    found = judge.judge(task, COUNTS.replace("class Model(", "class ModelNew("))
    wrong = judge.judge(task, answer("return torch.relu(self.linear(x)), y.argmax(dim=1)"))
    assert (found.verdict, found.message) == (Verdict.PASSED, "")
    assert (wrong.verdict, "call 1" in wrong.message) == (Verdict.MISMATCH, True)


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
    found = judge.judge(task, VARIES.replace("class Model(", "class ModelNew("))
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
        if b"reference " b"5b1d0c7e" in text or {"expected", "given"} & {*place.split(os.sep)}:
            found.append(os.path.join(place, name))
"""
PATCHES = """
torch.equal = lambda *_: True
torch.allclose = lambda *_, **__: True
torch.Tensor.clone = lambda self: self
"""


def test_a_run_finds_neither_the_reference_nor_what_an_earlier_one_left(
    judge: ModuleJudge, task: ModuleTask, sandboxed: None
) -> None:
    if resolve_isolation() is not Isolation.BUBBLEWRAP:
        pytest.skip(
            "without bubblewrap nothing hides the judge's files, and runs share the folder for temporary files"
        )
    checks = "leave(); assert LEFT and not FOUND, FOUND; assert seen and not found, found; "
    found = judge.judge(task, answer(checks + FORWARD, LEAVES + HUNT))
    assert (found.verdict, found.message) == (Verdict.PASSED, "")


def test_patching_torch_does_not_reach_the_judge(judge: ModuleJudge, task: ModuleTask) -> None:
    code = answer("return torch.zeros(16, 4), y.argmax(dim=1)").replace(
        "import torch.nn as nn", f"import torch.nn as nn\n{PATCHES}"
    )
    found = judge.judge(task, code)
    assert found.verdict is Verdict.MISMATCH


# ------------------------------------------------------------------------------ an answer that takes over its process

# Everything that runs there is within its reach.
HELD = """
import sys
frame = sys._getframe()
while "held" not in frame.f_locals:
    frame = frame.f_back
held = frame.f_locals["held"]
"""


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("{'outputs': 5, 'inputs': []}, ()", Verdict.RUNTIME_ERROR),
        ("{'outputs': [5], 'inputs': []}, ()", Verdict.RUNTIME_ERROR),
        ("{'outputs': [{'name': 'y', 'dtype': [], 'shape': []}], 'inputs': []}, ()", Verdict.RUNTIME_ERROR),
        (
            "{'outputs': [{'name': 'y', 'dtype': 'torch.int8', 'shape': [-1]}], 'inputs': []}, ()",
            Verdict.RUNTIME_ERROR,
        ),
        ("{'outputs': [{'name': 'y', 'dtype': 'torch.int8', 'shape': [2**40]}], 'inputs': []}, ()", Verdict.MISMATCH),
        ("{'outputs': [{'name': 'y', 'dtype': 'torch.no', 'shape': []}], 'inputs': []}, ()", Verdict.MISMATCH),
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
def test_whatever_is_wrong_about_a_reply_is_the_answers_fault(
    judge: ModuleJudge, task: ModuleTask, reply: str, verdict: Verdict
) -> None:
    found = judge.judge(task, f"{HELD}held.outputs = lambda blobs=(): ({reply})\n{ANSWER}")
    assert found.verdict is verdict, found
    assert found.message


def test_a_process_that_says_nothing_is_too_late(task: ModuleTask) -> None:
    judge = ModuleJudge(device="cpu", seeds=3, limits=Limits(wall_s=3.0, processes=256))
    silent = f"{HELD}import time\nheld.channel.socket.sendall = lambda raw: time.sleep(100)\n"
    found = judge.judge(task, answer(FORWARD, silent.replace("held.channel", "if held.models: held.channel")))
    assert found.passed, found.message  # said at the import alone, where there is no model yet
    found = judge.judge(task, answer("time.sleep(100)", "import time\n"))
    assert (found.verdict, found.message) == (Verdict.TIMEOUT, "not done within 3 s")


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


@pytest.mark.parametrize(
    "code",
    [f"{ANSWER}{HELD}{UNDONE}", f"{ANSWER}{HELD}held.digest = lambda tensors: bytes(range(32))\n"],
    ids=["computed_when_the_clock_stands", "digest_made_up"],
)
def test_outputs_are_those_of_when_the_clock_stopped(judge: ModuleJudge, task: ModuleTask, code: str) -> None:
    found = judge.judge(task, code)
    assert found.verdict is Verdict.MISMATCH
    assert "not what it was when the call was over" in found.message


CLOCKS = """
import sys, time
time.perf_counter = time.monotonic = time.time = lambda: 0.0
"""


def test_time_is_the_judges(judge: ModuleJudge, task: ModuleTask) -> None:
    found = judge.judge(task, answer("time.sleep(0.03); " + FORWARD, CLOCKS))
    assert found.passed, found.message
    assert all(case.run_s > 0.03 for case in found.cases)


def test_inputs_are_not_there_before_the_clock_runs(judge: ModuleJudge, task: ModuleTask) -> None:
    """Neither is the seed that they are drawn from among what its process is told. Zeros are as hidden as all else."""
    reference = REFERENCE.replace("torch.randn(16, 8)", "torch.zeros(16, 8)")
    looks = f"""{HELD}
seen, told = [], []
def key(size, real=held.channel.key):
    seen[:] = [tensor.clone() for tensor in held.given]
    return real(size)
def call(use, fresh, seed, arguments, blobs=(), real=held.call):
    told[:] = [seed]
    return real(use, fresh, seed, arguments, blobs)
held.channel.key, held.call = key, call
"""
    checks = (
        "x0, y0 = seen; assert not torch.equal(x0, x) and not torch.equal(y0, y) and (x0 != 0).all(); "
        "torch.manual_seed(told[0]); assert not torch.equal(torch.randn(16, 5), y); "
    )
    zeros = ModuleTask("z", "z", "level1", {1: "p"}, None, reference, "z:1")
    found = judge.judge(zeros, answer(checks + FORWARD, looks))
    assert found.passed, found.message


def test_the_seed_repeats_the_inputs(task: ModuleTask) -> None:
    says = answer("raise ValueError(str(y.double().sum().item()))")
    messages = [ModuleJudge(device="cpu", seeds=3, seed=seed).judge(task, says).message for seed in (7, 7, 8, None)]
    assert messages[0] == messages[1] and len(set(messages)) == 3


HALF = """
def half(x):
    return x.half().float()
"""


def test_a_lower_precision_is_flagged(judge: ModuleJudge, task: ModuleTask) -> None:
    """Where the outputs are small, the tolerance says nothing of their precision."""
    small = ModuleTask("s", "s", "level1", {1: "p"}, None, REFERENCE.replace("[8, 2.0]", "[8, 0.02]"), "s:1")
    lower = "return torch.relu(nn.functional.linear(half(x), half(self.linear.weight), self.linear.bias)) * self.scale, y.argmax(dim=1)"
    found = judge.judge(small, answer(lower, HALF))
    assert found.passed, found.message
    assert found.flags == (LOWER,) and "output[0] is off by " in found.message
    right = "return torch.relu(sum(x[:, k:k + 1] * self.linear.weight[:, k] for k in range(8)) + self.linear.bias) * self.scale, y.argmax(dim=1)"
    found = judge.judge(small, answer(right))
    assert (found.verdict, found.message, found.flags) == (Verdict.PASSED, "", ())
    fixed = ModuleTask(
        "f", "f", "level1", {1: "p"}, None, small.reference.replace("(x))", "(x)) @ torch.eye(4)"), "f:1"
    )
    assert judge.judge(fixed, answer(lower, HALF)).flags == (NO_FLOAT64,)


def test_time_limit(judge: ModuleJudge, task: ModuleTask) -> None:
    short = ModuleJudge(device="cpu", seeds=3, limits=Limits(wall_s=2.0, processes=256))
    found = short.judge(task, answer("import time; time.sleep(100)"))
    assert (found.verdict, found.message) == (Verdict.TIMEOUT, "not done within 2 s")


def test_compile_only(task: ModuleTask) -> None:
    judge = ModuleJudge(device="cuda", compile_only=True)
    built = judge.build(task, ANSWER)
    assert (built.product, built.judgement.verdict) == (None, Verdict.COMPILED)


def test_a_reference_that_fails_is_not_the_answers_fault(judge: ModuleJudge) -> None:
    broken = ModuleTask(
        "b", "b", "level1", {1: "p"}, None, REFERENCE.replace("torch.randn(16, 8)", "torch.randn(16, 9)"), "b:1"
    )
    found = judge.judge(broken, ANSWER.replace("self.linear(x)", "self.linear(x[:, :8])"))
    assert found.verdict is Verdict.INFRA_ERROR
    assert "task b: the reference's call failed" in found.message


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


@pytest.mark.parametrize("size", [0, 1, 7, 33, 512, 513, 16385, 100003])
def test_masks_and_digests_are_the_same_on_a_gpu(size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """handover.cu, its functions called on the host."""
    program = tmp_path_factory.getbasetemp() / "handover"
    if not program.exists():
        try:
            nvcc = find_toolkit().nvcc
        except SandboxError:
            pytest.skip("nvcc is needed")
        source = program.with_suffix(".cu")
        source.write_text(f'#include "{HANDOVER}"\n{ON_THE_HOST}')
        subprocess.run([nvcc, "-O1", "-std=c++17", "-o", program, source], check=True)
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    key = bytes(range(16))
    done = subprocess.run([program], input=data.tobytes(), capture_output=True, check=True).stdout
    handover.Mask(key, 3).apply(data)
    assert done[:-32] == data.tobytes()
    assert done[-32:] == handover.digest(data)


ON_THE_HOST = """
#include <cstdio>
#include <vector>
int main() {
  std::vector<ulonglong2> room(1 << 14), more(1 << 10);
  uint8_t *data = reinterpret_cast<uint8_t*>(room.data()), *hashes = reinterpret_cast<uint8_t*>(more.data());
  size_t bytes = fread(data, 1, 1 << 18, stdin);
  for (size_t b = 0; b * BLOCK < bytes; ++b) unmask_block(data, bytes, b, 3, 0x0706050403020100, 0x0f0e0d0c0b0a0908);
  fwrite(data, 1, bytes, stdout);
  for (bool last = false; !last;) {
    const size_t pieces = bytes > PIECE ? (bytes + PIECE - 1) / PIECE : 1;
    for (size_t p = 0; p < pieces; ++p) hash_piece(data, bytes, p, hashes);
    data = hashes, bytes = pieces * HASH, hashes += bytes, last = pieces == 1;
  }
  fwrite(data, 1, HASH, stdout);
}
"""


def test_a_mask_goes_on_where_it_stopped() -> None:
    data = np.arange(100, dtype=np.uint8)
    whole, parts = data.copy(), data.copy()
    handover.Mask(bytes(16), 1).apply(whole)
    mask = handover.Mask(bytes(16), 1)
    mask.apply(parts[:64])
    mask.apply(parts[64:])
    assert (whole == parts).all() and (whole != data).mean() > 0.9


def recorded(*names: str, complete: bool = True, ends: int = 10_000) -> Activity:
    """Kernels of 10 microseconds, one after another."""
    kernels = (Kernel(n * 20_000, n * 20_000 + ends, (1, 1, 1), (32, 1, 1), name) for n, name in enumerate(names))
    return Activity(tuple(kernels), (), complete)


ADD = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"
GEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8"
UNMASK, HASH = "_ZN12_GLOBAL__N_112cuset_unmaskEPhmmmm", "_ZN12_GLOBAL__N_110cuset_hashEPKhmmPh"


def test_calls_are_found_in_a_record() -> None:
    """Each between the last mask taken off and the first hash."""
    names = ["_Z4initv", UNMASK, UNMASK, ADD, "_Z4minePf", HASH, HASH, HASH, "_Z5laterv", UNMASK, GEMM, HASH]
    calls = calls_of(recorded(*names), 2)
    assert calls and [[kernel.name for kernel in call.kernels] for call in calls] == [[ADD, "_Z4minePf"], [GEMM]]
    assert [call.busy_s for call in calls] == pytest.approx([20e-6, 10e-6])
    assert (
        calls_of(recorded(*names), 3)
        is calls_of(recorded(*names, complete=False), 2)
        is calls_of(Activity(), 1)
        is None
    )


def test_the_gpus_opinion() -> None:
    own = [recorded(ADD, "fused_kernel")]
    assert second_opinion(own, 30e-6) == {"flags": [], "kernels": kernel_uses(own)}
    assert second_opinion([recorded(ADD, GEMM)], 30e-6)["flags"] == [NO_KERNEL]
    less = second_opinion(own, 9e-6)
    assert less["speedup"] is None and less["flags"] == [MORE]
    assert second_opinion(None, 9e-6) == {"flags": [MISSING], "speedup": None}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        (ADD, False),
        (GEMM, False),
        ("_ZN2at6native12_GLOBAL__N_119cunn_SoftMaxForwardILi4EfffEEvPT2_PKT0_i", False),
        ("_ZN14at_cuda_detail3cub18DeviceReduceKernelINS0_18DeviceReducePolicyE", False),
        ("_Z17gemv2T_kernel_valIiiffffLi128E", False),
        ("cutlass_80_simt_sgemm_128x128_8x4_nn_align1", False),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", False),
        ("triton_poi_fused_add_relu_0", False),
        ("_Z10my_gemv_2TPKfPf", True),
        ("_Z10dot_kernelPKfS0_Pf", True),
        ("_ZN3cub18DeviceReduceKernelINS0_18DeviceReducePolicyE", True),
        ("_ZN7cutlass13device_kernelI4GemmEEvNT_6ParamsE", True),
        ("fused_softmax_kernel", True),
        ("matmul", True),
    ],
)
def test_whose_kernel_it_is(name: str, own: bool) -> None:
    assert (second_opinion([recorded(ADD, name)], None)["flags"] == []) is own


def test_a_process_may_end_by_itself(judge: ModuleJudge, sandboxed: None) -> None:
    """Else what is recorded of its work on the GPU, which is written at its end, would be lost."""
    with scratch_folder() as folder:
        (folder / "answer.py").write_text("import atexit\natexit.register(print, 'left')\n" + ANSWER)
        with judge.hold(folder, None) as module:
            module.find("ModelNew")
            assert module.leave() == Activity()  # nothing is recorded without a GPU
            assert isinstance(module._finished, Finished)
            assert (module._finished.returncode, module._finished.stdout) == (0, "left\n")


def test_speed() -> None:
    """Beside a call of nothing, and none where the noise is as large."""
    steady = [100e-6, 101e-6, 99e-6] * 5
    found = speed(52e-6, steady, [time + 50e-6 for time in steady], [time + 25e-6 for time in steady])
    assert found["speedup"] == pytest.approx(2) and not found["flags"]
    assert (found["reference_s"], found["kernel_s"]) == pytest.approx((50e-6, 25e-6))
    for reference, answer in ((steady, steady), ([time + 50e-6 for time in steady], [time - 9e-6 for time in steady])):
        found = speed(50e-6, steady, reference, answer)
        assert "speedup" not in found and NOISE in found["flags"]
    loud = [100e-6, 300e-6, 200e-6] * 5
    found = speed(50e-6, loud, [time + 50e-6 for time in loud], [time + 25e-6 for time in loud])
    assert found["flags"] == [NOISE]
    found = speed(35e-6, steady, [time + 50e-6 for time in steady], [time + 25e-6 for time in steady])
    assert found["flags"] == [UNSTEADY]
    found = speed(1e-3, steady, [time + 1e-3 for time in steady], [time + 50e-6 for time in steady])
    assert found["flags"] == ["speed-up over 10x"]


def tf32(x: torch.Tensor) -> torch.Tensor:
    """Ten bits of mantissa, as tensor cores take it."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def sequential(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A thread for each output that adds one product after another."""
    out = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        out += a[:, k : k + 1] * b[k]
    return out


HONEST = {
    "same": lambda a, b: a @ b,
    "sequential": sequential,
    "split": lambda a, b: sum(a[:, k : k + 64] @ b[k : k + 64] for k in range(0, a.shape[1], 64)),
    "reversed": lambda a, b: a.flip(1) @ b.flip(0),
    "three_tf32": lambda a, b: tf32(a) @ tf32(b) + (a - tf32(a)) @ tf32(b) + tf32(a) @ (b - tf32(b)),
}
LOWERED = {
    "tf32": lambda a, b: tf32(a) @ tf32(b),
    "half": lambda a, b: a.half().float() @ b.half().float(),
    "bfloat16": lambda a, b: a.bfloat16().float() @ b.bfloat16().float(),
    "rounded": lambda a, b: (a @ b).half().float(),
}
AFTER = {
    "none": lambda y: y,
    "softmax": lambda y: torch.softmax(y, dim=-1),
    "norm": lambda y: torch.nn.functional.layer_norm(y, y.shape[-1:]),
    "sum": lambda y: y.sum(dim=-1),
}


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("way", [*HONEST, *LOWERED])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_precision(way: str, after: str, shift: float, tmp_path: Path) -> None:
    """All lower precisions show in a matrix product, and none of the honest ways; positive numbers add to large sums."""
    torch.manual_seed(0)
    a, b = torch.randn(64, 512) + shift, torch.randn(512, 64) / 23 + shift / 100
    exact, right, found = (AFTER[after](y) for y in (a.double() @ b.double(), a @ b, (HONEST | LOWERED)[way](a, b)))
    saved = []
    for name, tensor in (("exact", exact), ("right", right), ("found", found)):
        tensor.numpy().tofile(tmp_path / name)
        saved.append([Saved("y", str(tensor.dtype), list(tensor.shape), tmp_path / name)])
    assert (lower_precision(*saved) is None) is (way in HONEST)


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
