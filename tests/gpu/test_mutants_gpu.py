"""Mutants on a GPU: the judge fails them, and compute-sanitizer shows what right outputs hide."""

import struct

import pytest
from task_factory import load_row

from cuset_stage.judge.bench import Bench
from cuset_stage.judge.judge_spec import EvaluationSpec
from cuset_stage.mutants.adverse import CONTROL, VARIANTS, make_adverse
from cuset_stage.sandbox import Compiler, SandboxError, Verdict, lease_gpu, list_gpus, run_program


GPUS = list_gpus()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="needs a CUDA GPU")]


# One warp, so that without the barrier the outputs are right all the same. Threads beyond n stay away from both arrays.
REVERSE = """#include <cstdio>
__global__ void reverse(const int* x, int* y, int n) {
    __shared__ int tile[32];
    int i = threadIdx.x;
    tile[i] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = tile[n - 1 - i];
}
int main() {
    int host[32], *x, *y;
    FILE* in = fopen("data/x.bin", "rb");
    if (fread(host, 4, 32, in) != 32) return 1;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&y, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    reverse<<<1, 32>>>(x, y, 32);
    if (cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    FILE* out = fopen("data/y.bin", "wb");
    fwrite(host, 4, 32, out);
    return fclose(out);
}
"""
WITHOUT_BARRIER = REVERSE.replace("    __syncthreads();\n", "")
# right outputs: an allocation has 512 bytes
BESIDE = REVERSE.replace("if (i < n) y[i]", "y[i + 32] = 0;\n    if (i < n) y[i]")

# Shared memory that nobody wrote, of three kinds: a kernel's own, of a size given at the launch, a device function's.
LOOK = """#include <cstdio>
__device__ unsigned deep(int i) {
    __shared__ unsigned own[5];
    return *static_cast<volatile unsigned*>(own + i);
}
__global__ void look(unsigned* seen, int n) {
    extern __shared__ unsigned sized[];
    __shared__ unsigned fixed[37];
    for (int i = threadIdx.x; i < n; i += blockDim.x) seen[i] = *static_cast<volatile unsigned*>(sized + i);
    if (threadIdx.x < 37) seen[n + threadIdx.x] = *static_cast<volatile unsigned*>(fixed + threadIdx.x);
    if (threadIdx.x < 5) seen[n + 37 + threadIdx.x] = deep(threadIdx.x);
}
int main() {
    unsigned host[1043], *seen;
    cudaMalloc(&seen, sizeof(host));
    look<<<1, 96, 4 * 1001>>>(seen, 1001);
    if (cudaMemcpy(host, seen, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    FILE* out = fopen("data/y.bin", "wb");
    fwrite(host, 4, 1043, out);
    return fclose(out);
}
"""
# What was read before the second barrier is overwritten after it.
OVERWRITE = """#include <cstdio>
__global__ void reverse(int* y) {
    __shared__ int tile[1043];
    const int i = threadIdx.x;
    tile[i] = i + 1;
    __syncthreads();
    y[i] = tile[63 - i];
    __syncthreads();
    tile[i] = -1;
    __syncthreads();
    if (tile[63 - i] == 0) y[i] = 0;
}
int main() {
    int host[1043] = {}, *y;
    cudaMalloc(&y, sizeof(host));
    reverse<<<1, 64>>>(y);
    if (cudaMemcpy(host, y, 256, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    FILE* out = fopen("data/y.bin", "wb");
    fwrite(host, 4, 1043, out);
    return fclose(out);
}
"""
OVERWRITE_EARLY = OVERWRITE.replace("tile[63 - i];\n    __syncthreads();", "tile[63 - i];")


def outputs(source: str) -> tuple[int, ...]:
    """The 1043 words that a program writes."""
    compiled = Compiler(arch=GPUS[0].arch).compile(source)
    assert compiled.binary is not None, compiled.message
    with (
        lease_gpu(GPUS) as gpu,
        run_program(compiled.binary, inputs={}, outputs={"data/y.bin": (4 * 1043,)}, gpu=gpu) as ran,
    ):
        return struct.unpack("<1043I", ran.outputs["data/y.bin"].read_bytes())


@pytest.mark.parametrize("variant", range(len(VARIANTS)))
def test_a_missing_barrier_shows_in_the_adverse_form_and_hides_in_the_control_form(variant):
    """The adverse form fills shared memory with its pattern; the control form takes that memory, and changes nothing else."""
    assert set(outputs(make_adverse(LOOK, variant))) == {VARIANTS[variant][0]}
    right = outputs(OVERWRITE)
    assert right[:64] == tuple(range(64, 0, -1))
    assert outputs(make_adverse(OVERWRITE, variant)) == right
    assert outputs(make_adverse(OVERWRITE_EARLY, variant)) != right
    assert outputs(make_adverse(OVERWRITE_EARLY, CONTROL)) == outputs(OVERWRITE_EARLY)
    assert make_adverse(OVERWRITE, CONTROL) != make_adverse(OVERWRITE, variant)


ROW = {
    "id": "reverse",
    "prompt": "Reverse 32 numbers.",
    "inputs": [{"name": "x", "dtype": "int32", "shape": [32]}],
    "outputs": [{"name": "y", "dtype": "int32", "shape": [32]}],
    "reference": "import numpy as np\nTOLERANCE = {'y': (0.0, 0.0)}\n"
    "def make_inputs(rng):\n    return {'x': rng.integers(1, 1000, 32, dtype=np.int32)}\n"
    "def reference(inputs):\n    return {'y': inputs['x'][::-1].copy()}\n",
}


@pytest.mark.parametrize("isolation", ["bubblewrap", "landlock"])
def test_thorough_judges_what_right_outputs_hide(isolation, tmp_path):
    """The task has no program of its own, so that a right one passes only where no tool reports anything."""
    task = load_row(tmp_path, ROW)
    try:
        judges = [Bench(EvaluationSpec(isolation=isolation, thorough=each), "cuda").judge for each in (False, True)]
    except SandboxError as error:  # compute-sanitizer does not run there
        pytest.skip(str(error))
    verdicts = {REVERSE: Verdict.PASSED, WITHOUT_BARRIER: Verdict.RACE, BESIDE: Verdict.MEMORY_ERROR}
    for source, verdict in verdicts.items():
        plain, thorough = (judge.judge(task, source) for judge in judges)
        assert (plain.verdict, thorough.verdict) == (Verdict.PASSED, verdict), (plain.message, thorough.message)
        assert not [flag for flag in thorough.flags if "not looked at" in flag]
