"""The adverse form of a program: what is put where, that nvcc takes it, and that what it hides is what CUDA leaves undefined."""

import re
import shutil
from pathlib import Path

import pytest

from cuset_stage.mutants.adverse import CONTROL, VARIANTS, make_adverse
from cuset_stage.sandbox import Compiler


# Shuffles of every kind and of half precision, two kernels, a declaration, dynamic shared memory, cooperative groups.
PROGRAM = """#include <cooperative_groups.h>
#include <cuda_fp16.h>
__global__ void later(float* a);
template <int N>
__global__ void __launch_bounds__(256) first(const __half* x, float* a) {
    extern __shared__ float row[];
    row[threadIdx.x] = __half2float(__shfl_xor_sync(~0u, x[threadIdx.x], N));
    cooperative_groups::this_thread_block().sync();
    a[threadIdx.x] = __shfl_down_sync(~0u, row[0], 1) + __shfl_down_sync(~0u, row[0], 1, 16) + __shfl_sync(~0u, 1.0, 3);
}
__global__ void later(float* a)
{
    if (threadIdx.x >= 5) return;
    a[0] = 1.0f;
}
int main() { later<<<1, 1>>>(nullptr); first<1><<<1, 32>>>(nullptr, nullptr); return __LINE__ == 17 ? 0 : 1; }
"""


def test_every_kernel_is_entered_and_lines_stay(tmp_path):
    first, second = (make_adverse(PROGRAM, variant) for variant in range(len(VARIANTS)))
    assert first != second
    head, _, body = first.partition("#line 3\n")
    assert head.startswith("#include <cooperative_groups.h>\n#include <cuda_fp16.h>\nnamespace cuset_adverse {")
    kernels = [line for line in body.splitlines() if re.match(r"\{|__global__ void __launch_bounds__", line)]
    assert [line for line in body.splitlines() if "cuset_adverse::enter" in line] == kernels
    entry = r" __shared__ __align__\(1024\) unsigned cuset_adverse_below\[256\]; cuset_adverse::enter\(cuset_adverse_below\);"
    assert len(re.findall(entry, body)) == 2
    barrier = r"\{ (cooperative_groups::this_thread_block\(\)\.sync\(\);) cuset_adverse::late<\d+>\(\); \}"
    assert len(re.findall(barrier, body)) == 1
    assert PROGRAM.endswith(re.sub(barrier, r"\1", re.sub(entry, "", body)))
    assert make_adverse("int main() {}", 0) is None
    control = make_adverse(PROGRAM, CONTROL)
    assert control.replace("return clock64() < 0;", "return true;") == first


JACOBI = Path(__file__).parents[2] / "data" / "kernels" / "jacobi_grid_sync" / "kernel.cu"


# The control form differs in one expression.
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("variant", [0, pytest.param(CONTROL, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", [None, pytest.param(JACOBI, marks=pytest.mark.slow)])
def test_nvcc_takes_it(path, variant):
    source = make_adverse(path.read_text() if path else PROGRAM, variant)
    compiled = Compiler(arch="sm_90").compile(source)
    assert compiled.binary is not None, compiled.message
