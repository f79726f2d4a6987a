"""The adverse form of a program: wrong results for code that relies on what CUDA leaves undefined.

The adverse form changes a program in four ways:

- At the entry of every kernel, shared memory is filled with a pattern.
- At the entry of every kernel and after every barrier, every other warp is delayed.
- A shuffle from a lane that the block does not have returns the pattern.
- An array is placed below the program's own arrays in shared memory, so that an index below 0 reads the pattern, too.

A correct program is unaffected. A program that gives right results as it is and wrong ones in its adverse form reads
memory that it never wrote, or lacks a barrier. compute-sanitizer does not report these errors: initcheck covers only
global memory, racecheck misses a store that conflicts with an atomic, and memcheck misses an index inside the block's
shared memory.

The control form takes the same memory and registers, but does none of this. A program that is wrong in the control
form, too, lacks room for the adverse form, so its result in that form says nothing.
"""

from __future__ import annotations

import re
from string import Template

from .operators import barrier_statements
from .program import Program


CONTROL = -1
# (pattern, which warps are late). The first pattern is NaN as a float and -1 as an integer, the second a large number.
VARIANTS = ((0xFFFFFFFF, 0), (0x7F7F7F7F, 1))
ENTRY_DELAY, BARRIER_DELAY = 100_000, 20_000  # clock cycles
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*\n", re.MULTILINE)
# The array is the first declaration in the kernel itself, because nvcc 13 gives shared memory to a kernel's own
# variables in their order.
_ENTRY = "__shared__ __align__(1024) unsigned cuset_adverse_below[256]; cuset_adverse::enter(cuset_adverse_below);"

_PRELUDE = Template("""\
namespace cuset_adverse {
constexpr unsigned kPattern = ${pattern}u;
// Not a constant in the control form, so that it needs no fewer registers.
__device__ __forceinline__ bool active() { return $active; }
__device__ __forceinline__ unsigned thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ __forceinline__ unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }
template <int Cycles>
__device__ __forceinline__ void late() {
    if (active() && (thread() / 32 + blockIdx.x + blockIdx.y + blockIdx.z) % 2 == $late) {
        for (long long start = clock64(); clock64() - start < Cycles;) continue;
    }
}
__device__ __forceinline__ void enter(volatile unsigned* below) {
    below[thread() % 256] = kPattern;
    // From the first byte that is the program's to the last of its dynamic part. Not by %total_smem_size: with it the end
    // stayed as it was on an H200.
    extern __shared__ unsigned char cuset_adverse_dynamic[];
    unsigned begin = 0, dynamic;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
    const unsigned end = static_cast<unsigned>(__cvta_generic_to_shared(cuset_adverse_dynamic)) + dynamic;
#if __CUDA_ARCH__ >= 800
    unsigned reserved;
    asm volatile("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(reserved));
    if (reserved == 0) asm volatile("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(begin));
#endif
    for (unsigned at = begin + 4 * thread(); active() && at < end; at += 4 * threads()) {
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(kPattern) : "memory");
    }
    __syncthreads();
    late<$entry_delay>();
}
// `got`, or the pattern when the lane it came from is not there.
template <typename T>
__device__ __forceinline__ T from(T got, unsigned lane) {
    if (!active() || thread() / 32 * 32 + lane < threads()) return got;
    unsigned char* bytes = reinterpret_cast<unsigned char*>(&got);
    for (unsigned i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(kPattern);
    return got;
}
template <typename T>
__device__ __forceinline__ T down(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = thread() % 32;
    return from(__shfl_down_sync(mask, value, delta, width), lane % width + delta < width ? lane + delta : lane);
}
template <typename T>
__device__ __forceinline__ T other(unsigned mask, T value, int lanes, int width = 32) {
    const unsigned lane = thread() % 32, source = lane ^ lanes;
    return from(__shfl_xor_sync(mask, value, lanes, width), source / width > lane / width ? lane : source);
}
template <typename T>
__device__ __forceinline__ T of(unsigned mask, T value, int source, int width = 32) {
    const unsigned lane = thread() % 32;
    return from(__shfl_sync(mask, value, source, width), lane / width * width + (source & (width - 1)));
}
}  // namespace cuset_adverse
#define __shfl_down_sync(...) cuset_adverse::down(__VA_ARGS__)
#define __shfl_xor_sync(...) cuset_adverse::other(__VA_ARGS__)
#define __shfl_sync(...) cuset_adverse::of(__VA_ARGS__)
""")


def make_adverse(source: str, variant: int) -> str | None:
    """Return the adverse form of a program, or None if no kernel was found in it.

    The compiler reports the line numbers of the original program. A program that takes all the shared memory there is
    does not compile, or does not launch, in this form.

    Args:
        source: the program.
        variant: an index of `VARIANTS`, each of which delays another half of the warps, or `CONTROL` for the control
            form.
    """
    pattern, late = VARIANTS[max(variant, 0)]
    program = Program(source)
    additions = [(function.body[0] + 1, f" {_ENTRY}") for function in program.functions if function.is_kernel]
    if not additions:
        return None
    for name, statement, _ in barrier_statements(program):
        if name != "__syncwarp":  # it synchronises a single warp, and the delay is for whole warps
            additions.append((statement.start_byte, "{ "))
            additions.append((statement.end_byte, f" cuset_adverse::late<{BARRIER_DELAY}>(); }}"))
    for place, text in sorted(additions, reverse=True):
        source = source[:place] + text + source[place:]
    top = max((match.end() for match in _INCLUDE.finditer(source)), default=0)
    active = "clock64() < 0" if variant == CONTROL else "true"
    prelude = _PRELUDE.substitute(pattern=hex(pattern), late=late, active=active, entry_delay=ENTRY_DELAY)
    line = source.count("\n", 0, top) + 1
    return f"{source[:top]}{prelude}#line {line}\n{source[top:]}"
