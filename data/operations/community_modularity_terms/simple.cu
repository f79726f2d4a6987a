#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
  std::vector<T> data(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
    std::cerr << "cannot read " << path << '\n';
    std::exit(1);
  }
  return data;
}

template <typename T>
void write(const std::string& path, const std::vector<T>& data) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kNodes = 500;
constexpr int kEdges = 5000;
constexpr int kCommunities = 11;

__global__ void add_edges(const int* edge, const float* weight, const int* community,
                          float* inside, float* ends, float* total) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= kEdges) return;
  float w = weight[e];
  int a = community[edge[2 * e]];
  int b = community[edge[2 * e + 1]];
  if (a == b) atomicAdd(&inside[a], w);
  atomicAdd(&ends[a], w);
  atomicAdd(&ends[b], w);
  atomicAdd(total, w);
}

__global__ void finish(const float* inside, const float* ends, const float* total, float* term) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < kCommunities) {
    float w = *total;
    float share = ends[c] / (2.0f * w);
    term[c] = inside[c] / w - share * share;
  }
}

int main() {
  const auto host_edge = read<int>("data/edge.bin", kEdges * 2);
  const auto host_weight = read<float>("data/weight.bin", kEdges);
  const auto host_community = read<int>("data/community.bin", kNodes);

  int* d_edge;
  float* d_weight;
  int* d_community;
  float* d_inside;
  float* d_term;
  float* d_ends;
  float* d_total;
  cudaMalloc(&d_edge, kEdges * 2 * sizeof(int));
  cudaMalloc(&d_weight, kEdges * sizeof(float));
  cudaMalloc(&d_community, kNodes * sizeof(int));
  cudaMalloc(&d_inside, kCommunities * sizeof(float));
  cudaMalloc(&d_term, kCommunities * sizeof(float));
  cudaMalloc(&d_ends, kCommunities * sizeof(float));
  cudaMalloc(&d_total, sizeof(float));
  cudaMemcpy(d_edge, host_edge.data(), kEdges * 2 * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_weight, host_weight.data(), kEdges * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_community, host_community.data(), kNodes * sizeof(int), cudaMemcpyHostToDevice);

  cudaMemset(d_inside, 0, kCommunities * sizeof(float));
  cudaMemset(d_ends, 0, kCommunities * sizeof(float));
  cudaMemset(d_total, 0, sizeof(float));
  add_edges<<<(kEdges + 255) / 256, 256>>>(d_edge, d_weight, d_community, d_inside, d_ends, d_total);
  finish<<<(kCommunities + 127) / 128, 128>>>(d_inside, d_ends, d_total, d_term);

  std::vector<float> host_inside(kCommunities);
  std::vector<float> host_term(kCommunities);
  cudaMemcpy(host_inside.data(), d_inside, kCommunities * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_term.data(), d_term, kCommunities * sizeof(float), cudaMemcpyDeviceToHost);
  write("data/inside.bin", host_inside);
  write("data/term.bin", host_term);

  cudaFree(d_edge);
  cudaFree(d_weight);
  cudaFree(d_community);
  cudaFree(d_inside);
  cudaFree(d_term);
  cudaFree(d_ends);
  cudaFree(d_total);
}
