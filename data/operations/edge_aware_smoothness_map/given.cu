const int BATCH = 2;
const int HEIGHT = 50;
const int WIDTH = 61;

__device__ float edge_term(const float* depth, const float* image, int a, int b) {
  float e = 0.0f;
  for (int c = 0; c < 3; ++c) {
    e += fabsf(image[3 * a + c] - image[3 * b + c]);
  }
  return fabsf(depth[a] - depth[b]) * expf(-e / 3.0f);
}

__global__ void smoothness_kernel(const float* depth, const float* image, float* penalty, int total,
                 int height, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int col = i % width;
  int row = (i / width) % height;
  float sum = 0.0f;
  if (col + 1 < width) sum += edge_term(depth, image, i, i + 1);
  if (row + 1 < height) sum += edge_term(depth, image, i, i + width);
  penalty[i] = sum;
}

int main() {
  const int n_depth = BATCH * HEIGHT * WIDTH;
  const int n_image = BATCH * HEIGHT * WIDTH * 3;

  float* d_depth;
  cudaMalloc(&d_depth, n_depth * sizeof(float));
  float* d_image;
  cudaMalloc(&d_image, n_image * sizeof(float));
  float* d_penalty;
  cudaMalloc(&d_penalty, n_depth * sizeof(float));

  float* h_depth = new float[n_depth];
  read_binary("data/depth.bin", h_depth, n_depth);
  cudaMemcpy(d_depth, h_depth, n_depth * sizeof(float), cudaMemcpyHostToDevice);
  float* h_image = new float[n_image];
  read_binary("data/image.bin", h_image, n_image);
  cudaMemcpy(d_image, h_image, n_image * sizeof(float), cudaMemcpyHostToDevice);

  smoothness_kernel<<<(n_depth + 255) / 256, 256>>>(d_depth, d_image, d_penalty, n_depth, HEIGHT, WIDTH);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  float* h_penalty = new float[n_depth];
  cudaMemcpy(h_penalty, d_penalty, n_depth * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/penalty.bin", h_penalty, n_depth);

  cudaFree(d_depth);
  cudaFree(d_image);
  cudaFree(d_penalty);

  delete[] h_depth;
  delete[] h_image;
  delete[] h_penalty;
  return 0;
}
