const int BATCH = 10;
const int N = 64;
const int BLOCK = 256;

__global__ void asymmetry(const float* a, float* ratio, int n) {
  __shared__ float ds[BLOCK], ss[BLOCK];
  const float* m = a + (size_t)blockIdx.x * n * n;
  int t = threadIdx.x;
  float d = 0.0f, s = 0.0f;
  for (int k = t; k < n * n; k += BLOCK) {
    int i = k / n;
    int j = k % n;
    if (i < j) {
      float u = m[i * n + j];
      float v = m[j * n + i];
      d += (u - v) * (u - v);
      s += (u + v) * (u + v);
    }
  }
  ds[t] = d;
  ss[t] = s;
  __syncthreads();
  for (int h = BLOCK / 2; h > 0; h /= 2) {
    if (t < h) {
      ds[t] += ds[t + h];
      ss[t] += ss[t + h];
    }
    __syncthreads();
  }
  if (t == 0) {
    float total = ds[0] + ss[0];
    ratio[blockIdx.x] = total > 0.0f ? ds[0] / total : 0.0f;
  }
}

int main() {
  int n = BATCH * N * N;
  float* h_a = new float[n];
  read_binary("data/a.bin", h_a, n);
  float* h_ratio = new float[BATCH];

  float* d_a;
  cudaMalloc(&d_a, n * sizeof(float));
  float* d_ratio;
  cudaMalloc(&d_ratio, BATCH * sizeof(float));

  cudaMemcpy(d_a, h_a, n * sizeof(float), cudaMemcpyHostToDevice);

  asymmetry<<<BATCH, BLOCK>>>(d_a, d_ratio, N);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch error: " << cudaGetErrorString(err) << '\n';
    return 1;
  }

  cudaMemcpy(h_ratio, d_ratio, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/ratio.bin", h_ratio, BATCH);

  delete[] h_a;
  delete[] h_ratio;
  cudaFree(d_a);
  cudaFree(d_ratio);
  return 0;
}
