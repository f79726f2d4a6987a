const int kCells = 60;
const int kGenes = 200;
const int kNumElements = kCells * kGenes;

__global__ void nb_nll(const int* counts, const float* mean, const float* dispersion, float* nll, int genes) {
  __shared__ float part[256];
  int tid = threadIdx.x;
  float sum = 0.0f;
  for (int g = tid; g < genes; g += 256) {
    float k = (float)counts[(size_t)blockIdx.x * genes + g];
    float u = mean[(size_t)blockIdx.x * genes + g];
    float t = dispersion[g];
    sum += lgammaf(t) + lgammaf(k + 1.0f) - lgammaf(k + t);
    sum += t * logf((t + u) / t) + k * logf((t + u) / u);
  }
  part[tid] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (tid < d) part[tid] += part[tid + d];
    __syncthreads();
  }
  if (tid == 0) nll[blockIdx.x] = part[0];
}

int main() {
  int* h_counts = new int[kNumElements];
  float* h_mean = new float[kNumElements];
  float* h_dispersion = new float[kGenes];
  float* h_nll = new float[kCells];
  read_binary("data/counts.bin", reinterpret_cast<float*>(h_counts), kNumElements);
  read_binary("data/mean.bin", h_mean, kNumElements);
  read_binary("data/dispersion.bin", h_dispersion, kGenes);

  int *d_counts;
  float *d_mean, *d_dispersion, *d_nll;
  cudaMalloc(&d_counts, kNumElements * sizeof(int));
  cudaMalloc(&d_mean, kNumElements * sizeof(float));
  cudaMalloc(&d_dispersion, kGenes * sizeof(float));
  cudaMalloc(&d_nll, kCells * sizeof(float));
  cudaMemcpy(d_counts, h_counts, kNumElements * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_mean, h_mean, kNumElements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_dispersion, h_dispersion, kGenes * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid(kCells);
  dim3 block(256);
  nb_nll<<<grid, block>>>(d_counts, d_mean, d_dispersion, d_nll, kGenes);
  cudaError_t err = cudaGetLastError();
  if (err == cudaSuccess) err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_nll, d_nll, kCells * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/nll.bin", h_nll, kCells);

  delete[] h_counts;
  delete[] h_mean;
  delete[] h_dispersion;
  delete[] h_nll;
  cudaFree(d_counts);
  cudaFree(d_mean);
  cudaFree(d_dispersion);
  cudaFree(d_nll);
  return 0;
}
