// Enough of CUDA to run the miniature's programs on a CPU, one block after the other: each thread is a context of its own, switched at
// barriers and shuffles. New memory holds garbage. The tests compile a program against it after `name<<<grid, block>>>(...)` became emulate().
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __constant__
#define __shared__ static  // blocks run one after the other
using std::max;

typedef int cudaError_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
template <class T> cudaError_t cudaMalloc(T** memory, size_t bytes) {
  *memory = static_cast<T*>(malloc(bytes));
  memset(*memory, 0x7b, bytes);
  return cudaSuccess;
}
template <class T> cudaError_t cudaMallocManaged(T** memory, size_t bytes) { return cudaMalloc(memory, bytes); }
template <class T> cudaError_t cudaFree(T memory) { return free((void*)memory), cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, int) { return memcpy(to, from, bytes), cudaSuccess; }
template <class T> cudaError_t cudaMemcpyToSymbol(T& to, const void* from, size_t bytes) { return memcpy(&to, from, bytes), cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
template <class T> T __ldg(const T* at) { return *at; }

inline ucontext_t scheduler, threads[1024];
inline char stacks[1024][32768];
inline bool ended[1024];
inline int current;
inline double exchanged[1024];
inline std::function<void()> body;

inline void __syncthreads() { swapcontext(&threads[current], &scheduler); }
template <class T> T __shfl_down_sync(unsigned, T value, int distance) {
  exchanged[current] = value;
  __syncthreads();
  const T other = current % 32 + distance < 32 ? T(exchanged[current + distance]) : value;
  __syncthreads();
  return other;
}
inline void run_thread() {
  body();
  ended[current] = true;
  swapcontext(&threads[current], &scheduler);
}
inline void emulate(dim3 grid, dim3 block, std::function<void()> kernel) {
  body = kernel, gridDim = grid, blockDim = block;
  const int count = block.x * block.y;
  for (unsigned number = 0; number < grid.x * grid.y; ++number) {
    blockIdx = dim3(number % grid.x, number / grid.x, 0);
    for (int thread = 0; thread < count; ++thread) {
      ended[thread] = false;
      getcontext(&threads[thread]);
      threads[thread].uc_stack.ss_sp = stacks[thread];
      threads[thread].uc_stack.ss_size = sizeof stacks[thread];
      makecontext(&threads[thread], run_thread, 0);
    }
    for (bool left = true; left;) {
      left = false;
      for (current = 0; current < count; ++current) {
        if (ended[current]) continue;
        threadIdx = dim3(current % block.x, current / block.x, 0);
        swapcontext(&scheduler, &threads[current]);
        left |= !ended[current];
      }
    }
  }
}
