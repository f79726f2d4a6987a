"""The judge on a GPU: the bundled programs pass, twice alike; what breaks on a device breaks alone; speed is measured."""

import subprocess
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands import cuset
from host_programs import make_task
from task_factory import write_lines

from cuset_stage.judge.bench import Bench
from cuset_stage.judge.devices import GpuPool, Turns, hold_driver, probe_gpu
from cuset_stage.judge.gpu_activity import Recorder, find_recorder, why_no_counters
from cuset_stage.judge.gpu_work import IDLE_KERNEL, MISSING, NO_KERNEL
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.judge.judgement import Judgement
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.judge.modules.trial import NOISE, UNSTEADY, Trial
from cuset_stage.judge.results import read_results
from cuset_stage.sandbox import Verdict, list_gpus
from cuset_stage.tasks import ModuleTask, load_tasks


pytestmark = pytest.mark.gpu

KERNELS = Path(__file__).resolve().parents[2] / "data" / "kernels"
SOME = ("tiled_sgemm", "row_argmax", "exclusive_scan", "wave_equation_graph")


def test_the_bundled_programs_pass_twice_alike(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    # No result without its kernels: a program whose every launch is gone has to fail.
    rows = [
        {"task": task.id, "sample": sample, "code": code}
        for task in load_tasks(KERNELS, only=SOME)
        for sample, code in enumerate([task.solution, task.solution.replace("<<<", "; //")])
    ]
    answers = write_lines(tmp_path / "answers.jsonl", *rows)
    seen = []
    for name in ("first", "second"):
        output = tmp_path / f"{name}.jsonl"
        cuset("evaluate", answers, tasks=KERNELS, only=",".join(SOME), output=output)
        results = read_results(output)
        seen.append({(s["task"], s["sample"]): (s["verdict"], s["case"]) for s in results.samples})
        assert results.run["gpus"][0]["name"] and results.run["gpus"][0]["driver"]
        assert results.run["arch"] == list_gpus()[0].arch
    assert seen[0] == seen[1]
    for name in SOME:
        assert seen[0][name, 0] == ("passed", None)
        assert seen[0][name, 1][0] != "passed"


@pytest.fixture
def judge(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    return Bench(JudgeSpec(time_limit=10.0, flags="-O1"), "cuda").judge


PROGRAM = r"""
#include <cstdio>
#include <cstring>

__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) KERNEL;
}

int main() {
  static float host[100];
  FILE* file = fopen("data/x.bin", "rb");
  fread(host, 4, 100, file);
  fclose(file);
  float* x;
  cudaError_t error = cudaMalloc(&x, 400);
  cudaMemcpy(x, host, 400, cudaMemcpyHostToDevice);
  twice<<<8, 128>>>(x, 100);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  cudaMemcpy(host, x, 400, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(error)); return 1; }
  file = fopen("data/y.bin", "wb");
  fwrite(host, 4, 100, file);
  fclose(file);
  EXTRA
}
"""


def program(kernel: str = "x[i] *= 2", extra: str = "") -> str:
    return PROGRAM.replace("KERNEL", kernel).replace("EXTRA", extra)


def test_what_breaks_breaks_alone(judge: Any, tmp_path: Path) -> None:
    """Each of these ends as it should, and the right program after it still passes on the same GPU."""
    task = make_task(tmp_path, "right")
    for code, verdict, says in (
        (program("x[i + (1ll << 40)] = 1"), Verdict.RUNTIME_ERROR, "illegal memory access"),
        (program('asm("trap;")'), Verdict.RUNTIME_ERROR, ""),
        (program("while (x[i] == x[i]) __nanosleep(1000)"), Verdict.TIMEOUT, "10 s"),
        # text that looks like a lost GPU makes the judge look at the GPU, which works
        (program(extra='fprintf(stderr, "no CUDA-capable device is detected"); return 1;'), Verdict.RUNTIME_ERROR, ""),
        (program("x[i] *= 2 + (i == 99)"), Verdict.MISMATCH, "first at (99,)"),
    ):
        judged = judge.judge(task, code)
        assert (judged.verdict, says in judged.message) == (verdict, True), judged
        assert judge.judge(task, program()).passed
    assert not judge.gpus.lost


def test_the_driver_is_held_until_the_judge_ends() -> None:
    gpus = tuple(gpu.uuid for gpu in list_gpus())
    holder = hold_driver(gpus)
    with pytest.raises(subprocess.TimeoutExpired):
        holder.wait(2)
    assert hold_driver(gpus) is holder
    hold_driver.cache_clear()
    holder.stdin.close()
    assert holder.wait(60) == 0


def test_the_probe_works_and_counters_are_read_by_many_threads_at_once() -> None:
    with ThreadPoolExecutor(32) as pool:
        assert len(set(pool.map(why_no_counters, list_gpus()[:1] * 64))) == 1
    assert [probe_gpu(gpu) for gpu in list_gpus()] == [None] * len(list_gpus())


# ----------------------------------------------------------------------------------------------------------- modules

REFERENCE = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        y = x
        for _ in range(20):
            y = torch.sin(y) + x
        return torch.relu(y) * self.scale


def get_inputs():
    return [torch.randn(512, 1024)]


def get_init_inputs():
    return [2.0]
"""
FUSED = '''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void fused(const float* x, float* y, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int k = 0; k < 20; ++k) v = sinf(v) + x[i];
  y[i] = fmaxf(v, 0.0f) * scale;
}

torch::Tensor run(torch::Tensor x, double scale) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  fused<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), scale, n);
  return y;
}
"""
module = load_inline("fused", cpp_sources="torch::Tensor run(torch::Tensor x, double scale);", cuda_sources=SOURCE,
                     functions=["run"])


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return module.run(x, self.scale)
'''
# PyTorch does the work in place, which is faster than the reference; a kernel of its own works on one value.
BESIDE = FUSED.replace(
    "        return module.run(x, self.scale)\n",
    "        module.run(x[:1, :1], self.scale)\n        y = x\n        for _ in range(20):\n            y = torch.sin(y).add_(x)\n"
    "        return torch.relu_(y).mul_(self.scale)\n",
)
NEW = REFERENCE.replace("class Model(", "class ModelNew(")


def instead(forward: str) -> str:
    """An answer whose `forward` is this one, and whose own is `compute`."""
    lines = textwrap.indent(textwrap.dedent(forward).strip("\n"), 8 * " ")
    return NEW.replace("        y = x\n", f"{lines}\n\n    def compute(self, x):\n        y = x\n")


SIDE_STREAM = instead("""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(40_000_000)
        return self.compute(x)
""")
MATMUL = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2048, 2048) / 4096)

    def forward(self, x):
        return x @ self.w


def get_inputs():
    return [torch.randn(2048, 2048)]


def get_init_inputs():
    return []
"""
# The work is done in a hook, before the clock starts, on the tensors that the call is going to be given.
HOOKED = instead("""
    if getattr(self, 'given', None) is x:
        return self.made
    self.given = x
    def ahead(*_):
        self.made = self.compute(self.given)
    torch.cuda.manual_seed_all = ahead
    torch.cuda.synchronize = ahead
    return self.compute(x)
""")
GRAPH = instead("""
    if not hasattr(self, 'graph'):
        self.given, self.graph = x.clone(), torch.cuda.CUDAGraph()
        self.compute(self.given)
        with torch.cuda.graph(self.graph):
            self.made = self.compute(self.given)
    self.given.copy_(x)
    self.graph.replay()
    return self.made.clone()
""")
KEEPS = instead("""
    if not hasattr(self, 'known'):
        self.known = {}
    key = x[::64].sum().item()
    if key not in self.known:
        self.known[key] = self.compute(x)
    return self.known[key]
""")
SLOW = REFERENCE.replace("        y = x\n", "        torch.cuda._sleep(20_000_000)\n        y = x\n")


def module_judged(code: str, reference: str = REFERENCE, **settings: Any) -> Judgement:
    """The judgement. Others may use the GPU meanwhile: what was built is judged again, four times at most, until times are steady."""
    task = ModuleTask("level1_1_x", "1_x", "level1", {1: "p"}, None, reference, "x.py:1")
    judge = ModuleJudge(gpus=GpuPool(list_gpus()), arch=list_gpus()[0].arch, budget_s=10.0, **settings)
    built = judge.build(task, code)
    judged = built.judgement
    try:
        for _ in range(5 if built.product else 0):
            judged = judge.execute(task, built)
            if not {UNSTEADY, NOISE}.intersection(judged.flags):
                break
            print(judged.message)  # what was not steady
    finally:
        judge.discard(built)
    return judged


def test_a_fused_kernel_is_faster_and_work_that_is_pytorchs_beside_a_kernel_of_its_own_is_flagged() -> None:
    recorder = find_recorder()
    assert isinstance(recorder, Recorder), recorder
    for code, flagged in ((FUSED, False), (BESIDE, True)):
        judged = module_judged(code, recorder=recorder)
        assert judged.passed, judged.message
        assert any("fused" in kernel.name for kernel in judged.kernels), judged
        assert (IDLE_KERNEL in judged.flags) is flagged and NO_KERNEL not in judged.flags, judged
        if flagged:
            assert judged.speedup is None, judged
        else:
            assert 1.5 < judged.speedup < 100, judged
            assert judged.speedup == pytest.approx(judged.reference_s / judged.kernel_s)


def test_calls_that_are_recorded_have_to_be_right() -> None:
    """PyTorch does the work where nothing records, and a kernel that is wrong where something does."""
    code = BESIDE.replace(
        "        y = x\n",
        "        import os\n        if 'CUSET_GPU_ACTIVITY' in os.environ:\n            return module.run(x, 0.5)\n        y = x\n",
    )
    judged = module_judged(code, recorder=find_recorder())
    assert judged.passed and MISSING in judged.flags and judged.speedup is None, judged


WRONG = {
    "does not compile": (FUSED.replace("float v = x[i];", "flaot v = x[i];"), "flaot"),
    "a side stream that nobody waits for": (SIDE_STREAM, "side stream"),
    "computed in a hook, before the call": (HOOKED, ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    code, says = WRONG[name]
    judged = module_judged(code)
    verdict = Verdict.COMPILE_ERROR if name == "does not compile" else Verdict.MISMATCH
    assert (judged.verdict, judged.compiled) == (verdict, verdict is Verdict.MISMATCH), judged
    assert says in judged.message


@pytest.mark.parametrize(
    ("code", "reference", "least", "most"),
    [
        (KEEPS, REFERENCE, 0, 1.5),  # contents never come again
        (GRAPH, REFERENCE, 1, float("inf")),
        (NEW, REFERENCE, 0.67, 1.5),
        (NEW, SLOW, 10, float("inf")),
    ],
    ids=["kept by its contents", "a graph on static inputs", "the reference itself", "ten times faster"],
)
def test_the_speed_up_is_that_of_the_judges_clock(code: str, reference: str, least: float, most: float) -> None:
    judged = module_judged(code, reference)
    assert judged.passed, judged.message
    assert judged.speedup and least < judged.speedup < most, judged
    assert least < 10 or "speed-up over 10x" in judged.flags


def test_a_lower_precision_does_not_count() -> None:
    for change, flagged in (
        ("return x @ self.w", False),
        ("return x[:, :1024] @ self.w[:1024] + x[:, 1024:] @ self.w[1024:]", False),
        ("torch.backends.cuda.matmul.allow_tf32 = True\n        return x @ self.w", True),
        ("return (x.half() @ self.w.half()).float()", True),
    ):
        answer = MATMUL.replace("class Model(", "class ModelNew(").replace("return x @ self.w", change)
        judged = module_judged(answer, MATMUL)
        assert judged.passed, judged.message
        assert any(flag.startswith("lower_precision") for flag in judged.flags) is flagged, judged
        assert (judged.speedup is None) is flagged, judged


def test_nothing_is_built_while_something_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, done = Turns(), set()

    def watched(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def watch(*given: Any, **named: Any) -> Any:
            done.add((name, turns._building, turns._timing))
            return real(*given, **named)

        monkeypatch.setattr(owner, name, watch)

    watched(ModuleJudge, "_import")
    for name in ("draw", "time_before", "call_first", "call_timed", "compare_timed", "ask_the_gpu"):
        watched(Trial, name)
    assert module_judged(NEW, turns=turns, recorder=find_recorder()).passed
    timed = ("draw", "time_before", "call_first", "call_timed", "compare_timed")
    # The first inputs are drawn when others may build, those of timed calls in the turn.
    assert done == {("_import", 1, 0), ("draw", 0, 0), ("ask_the_gpu", 1, 0), *((name, 0, 1) for name in timed)}
