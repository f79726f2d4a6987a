const int ROWS = 10;
const int SAMPLES = 1500;
const float PI = 3.14159265f;

__global__ void quadrature_filter(const float* x, float* quadrature, int samples) {
  __shared__ float taps[31];
  if (threadIdx.x < 31) {
    int k = (int)threadIdx.x - 15;
    float window = 0.54f + 0.46f * cosf(PI * k / 15.0f);
    taps[threadIdx.x] = k % 2 == 0 ? 0.0f : window * 2.0f / (PI * k);
  }
  __syncthreads();
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= samples) return;
  const float* row = x + blockIdx.y * samples;
  float sum = 0.0f;
  for (int k = -15; k <= 15; ++k) {
    int s = min(max(t - k, 0), samples - 1);
    sum += taps[k + 15] * row[s];
  }
  quadrature[blockIdx.y * samples + t] = sum;
}

int main() {
  const size_t elements = ROWS * SAMPLES;
  const size_t bytes = elements * sizeof(float);

  float* h_x = new float[elements];
  read_binary("data/x.bin", h_x, elements);
  float* h_quadrature = new float[elements];

  float *d_x, *d_quadrature;
  cudaMalloc(&d_x, bytes);
  cudaMalloc(&d_quadrature, bytes);
  cudaMemcpy(d_x, h_x, bytes, cudaMemcpyHostToDevice);

  dim3 blocks((SAMPLES + 255) / 256, ROWS);
  quadrature_filter<<<blocks, 256>>>(d_x, d_quadrature, SAMPLES);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_quadrature, d_quadrature, bytes, cudaMemcpyDeviceToHost);
  write_binary("data/quadrature.bin", h_quadrature, elements);

  cudaFree(d_x);
  delete[] h_x;
  cudaFree(d_quadrature);
  delete[] h_quadrature;
  return 0;
}
