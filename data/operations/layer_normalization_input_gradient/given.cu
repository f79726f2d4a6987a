const int ROWS = 24;
const int WIDTH = 300;
const int BLOCK = 256;

__device__ float block_sum(float value, float* buffer) {
  int tid = threadIdx.x;
  __syncthreads();
  buffer[tid] = value;
  __syncthreads();
  for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
    if (tid < stride) buffer[tid] += buffer[tid + stride];
    __syncthreads();
  }
  return buffer[0];
}

__global__ void layer_norm_backward(const float* x, const float* gamma, const float* dy, float* dx, int width) {
  __shared__ float buffer[BLOCK];
  size_t start = (size_t)blockIdx.x * width;
  const float* row = x + start;
  const float* grad = dy + start;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < width; j += BLOCK) sum += row[j];
  float mean = block_sum(sum, buffer) / width;
  float sq = 0.0f;
  for (int j = threadIdx.x; j < width; j += BLOCK) sq += (row[j] - mean) * (row[j] - mean);
  float s = 1.0f / sqrtf(block_sum(sq, buffer) / width + 1e-5f);
  float sum_g = 0.0f, sum_gh = 0.0f;
  for (int j = threadIdx.x; j < width; j += BLOCK) {
    float g = gamma[j] * grad[j];
    sum_g += g;
    sum_gh += g * (row[j] - mean) * s;
  }
  float a = block_sum(sum_g, buffer) / width;
  float b = block_sum(sum_gh, buffer) / width;
  for (int j = threadIdx.x; j < width; j += BLOCK) {
    float h = (row[j] - mean) * s;
    dx[start + j] = s * (gamma[j] * grad[j] - a - h * b);
  }
}

int main() {
  const size_t n = (size_t)ROWS * WIDTH;
  size_t bytes = n * sizeof(float);

  std::vector<float> h_x(n);
  std::vector<float> h_gamma(WIDTH);
  std::vector<float> h_dy(n);
  read_binary("data/x.bin", h_x.data(), n);
  read_binary("data/gamma.bin", h_gamma.data(), WIDTH);
  read_binary("data/dy.bin", h_dy.data(), n);

  float *d_x, *d_gamma, *d_dy;
  cudaMalloc(&d_x, bytes);
  cudaMalloc(&d_gamma, WIDTH * sizeof(float));
  cudaMalloc(&d_dy, bytes);
  cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, h_gamma.data(), WIDTH * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_dy, h_dy.data(), bytes, cudaMemcpyHostToDevice);

  float* d_dx;
  cudaMalloc(&d_dx, bytes);

  layer_norm_backward<<<ROWS, BLOCK>>>(d_x, d_gamma, d_dy, d_dx, WIDTH);
  cudaDeviceSynchronize();

  std::vector<float> h_dx(n);
  cudaMemcpy(h_dx.data(), d_dx, bytes, cudaMemcpyDeviceToHost);
  write_binary("data/dx.bin", h_dx.data(), n);

  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_dy);
  cudaFree(d_dx);
  return 0;
}
