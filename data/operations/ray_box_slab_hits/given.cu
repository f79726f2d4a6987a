#define N 2000
#define M 16

__global__ void slab_test(const float* rays, const float* boxes, int* hits, float* entry, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* o = rays + 6 * i;
  const float* d = o + 3;
  int count = 0;
  float first = INFINITY;
  for (int b = 0; b < m; ++b) {
    const float* lo = boxes + 6 * b;
    const float* hi = lo + 3;
    float near = -INFINITY, far = INFINITY;
    for (int k = 0; k < 3; ++k) {
      float t0 = (lo[k] - o[k]) / d[k];
      float t1 = (hi[k] - o[k]) / d[k];
      near = fmaxf(near, fminf(t0, t1));
      far = fminf(far, fmaxf(t0, t1));
    }
    if (near <= far && far >= 0.0f) {
      ++count;
      first = fminf(first, fmaxf(near, 0.0f));
    }
  }
  hits[i] = count;
  entry[i] = count > 0 ? first : -1.0f;
}

int main() {
  std::vector<float> h_rays(N * 6);
  std::vector<float> h_boxes(M * 6);
  std::vector<int> h_hits(N);
  std::vector<float> h_entry(N);
  read_binary("data/rays.bin", h_rays.data(), N * 6);
  read_binary("data/boxes.bin", h_boxes.data(), M * 6);

  float* d_rays;
  float* d_boxes;
  int* d_hits;
  float* d_entry;
  cudaMalloc(&d_rays, sizeof(float) * N * 6);
  cudaMalloc(&d_boxes, sizeof(float) * M * 6);
  cudaMalloc(&d_hits, sizeof(int) * N);
  cudaMalloc(&d_entry, sizeof(float) * N);
  cudaMemcpy(d_rays, h_rays.data(), sizeof(float) * N * 6, cudaMemcpyHostToDevice);
  cudaMemcpy(d_boxes, h_boxes.data(), sizeof(float) * M * 6, cudaMemcpyHostToDevice);

  int block_size = 512;
  int grid_size = (N + block_size - 1) / block_size;
  slab_test<<<grid_size, block_size>>>(d_rays, d_boxes, d_hits, d_entry, N, M);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_hits.data(), d_hits, sizeof(int) * N, cudaMemcpyDeviceToHost);
  write_binary("data/hits.bin", reinterpret_cast<const float*>(h_hits.data()), N);
  cudaMemcpy(h_entry.data(), d_entry, sizeof(float) * N, cudaMemcpyDeviceToHost);
  write_binary("data/entry.bin", h_entry.data(), N);

  cudaFree(d_rays);
  cudaFree(d_boxes);
  cudaFree(d_hits);
  cudaFree(d_entry);
  return 0;
}
