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
