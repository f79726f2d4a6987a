#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
    throw std::runtime_error("short file: " + path);
  }
  return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kUsers = 70;
constexpr int kClicks = 300;
constexpr int kBlock = 256;

// A block per user; votes count the session starts up to each click.
__global__ void number_sessions_block(const int* __restrict__ time, const int* __restrict__ user_gap,
                   int* __restrict__ session, int* __restrict__ sessions) {
  __shared__ int starts[kBlock / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int* t = time + (size_t)blockIdx.x * kClicks;
  int limit = user_gap[blockIdx.x];
  int carry = 0;
  for (int first = 0; first < kClicks; first += kBlock) {
    int i = first + threadIdx.x;
    bool opens = i > 0 && i < kClicks && t[i] - t[i - 1] > limit;
    unsigned int votes = __ballot_sync(0xffffffffu, opens);
    if (lane == 0) starts[warp] = __popc(votes);
    __syncthreads();
    int number = carry + __popc(votes & (0xffffffffu >> (31 - lane)));
    for (int w = 0; w < kBlock / 32; ++w) {
      if (w < warp) number += starts[w];
      carry += starts[w];
    }
    if (i < kClicks) session[(size_t)blockIdx.x * kClicks + i] = number;
    __syncthreads();
  }
  if (threadIdx.x == 0) sessions[blockIdx.x] = carry + 1;
}

int main() {
  constexpr size_t n = (size_t)kUsers * kClicks;
  const auto h_time = load<int>("data/time.bin", n);
  const auto h_user_gap = load<int>("data/user_gap.bin", kUsers);

  int *dTime, *dUser_gap, *dSession, *dSessions;
  cudaMalloc(&dTime, n * sizeof(int));
  cudaMalloc(&dUser_gap, kUsers * sizeof(int));
  cudaMalloc(&dSession, n * sizeof(int));
  cudaMalloc(&dSessions, kUsers * sizeof(int));
  cudaMemcpy(dTime, h_time.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dUser_gap, h_user_gap.data(), kUsers * sizeof(int), cudaMemcpyHostToDevice);

  number_sessions_block<<<kUsers, kBlock>>>(dTime, dUser_gap, dSession, dSessions);
  const auto status = cudaDeviceSynchronize();
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

  std::vector<int> h_session(n);
  std::vector<int> h_sessions(kUsers);
  cudaMemcpy(h_session.data(), dSession, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_sessions.data(), dSessions, kUsers * sizeof(int), cudaMemcpyDeviceToHost);
  store("data/session.bin", h_session);
  store("data/sessions.bin", h_sessions);
  cudaFree(dTime);
  cudaFree(dUser_gap);
  cudaFree(dSession);
  cudaFree(dSessions);
  return 0;
}
