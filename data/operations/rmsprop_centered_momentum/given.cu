constexpr int N = 9999;

__global__ void rmsprop_step(const float* weight, const float* grad, const float* square_avg,
                             const float* grad_avg, const float* velocity, float* weight_out,
                             float* square_avg_out, float* grad_avg_out, float* velocity_out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float g = grad[i];
    float s = 0.99f * square_avg[i] + 0.01f * g * g;
    float a = 0.99f * grad_avg[i] + 0.01f * g;
    float deviation = sqrtf(fmaxf(s - a * a, 0.0f));
    float v = 0.9f * velocity[i] + g / (deviation + 1e-3f);
    square_avg_out[i] = s;
    grad_avg_out[i] = a;
    velocity_out[i] = v;
    weight_out[i] = weight[i] - 0.01f * v;
  }
}

int main() {
  std::vector<float> h_weight(N);
  std::vector<float> h_grad(N);
  std::vector<float> h_square_avg(N);
  std::vector<float> h_grad_avg(N);
  std::vector<float> h_velocity(N);
  std::vector<float> h_weight_out(N);
  std::vector<float> h_square_avg_out(N);
  std::vector<float> h_grad_avg_out(N);
  std::vector<float> h_velocity_out(N);
  read_binary("data/weight.bin", h_weight.data(), N);
  read_binary("data/grad.bin", h_grad.data(), N);
  read_binary("data/square_avg.bin", h_square_avg.data(), N);
  read_binary("data/grad_avg.bin", h_grad_avg.data(), N);
  read_binary("data/velocity.bin", h_velocity.data(), N);

  float *d_weight, *d_grad, *d_square_avg, *d_grad_avg, *d_velocity, *d_weight_out, *d_square_avg_out,
      *d_grad_avg_out, *d_velocity_out;
  cudaMalloc(&d_weight, sizeof(float) * N);
  cudaMalloc(&d_grad, sizeof(float) * N);
  cudaMalloc(&d_square_avg, sizeof(float) * N);
  cudaMalloc(&d_grad_avg, sizeof(float) * N);
  cudaMalloc(&d_velocity, sizeof(float) * N);
  cudaMalloc(&d_weight_out, sizeof(float) * N);
  cudaMalloc(&d_square_avg_out, sizeof(float) * N);
  cudaMalloc(&d_grad_avg_out, sizeof(float) * N);
  cudaMalloc(&d_velocity_out, sizeof(float) * N);

  cudaMemcpy(d_weight, h_weight.data(), sizeof(float) * N, cudaMemcpyHostToDevice);
  cudaMemcpy(d_grad, h_grad.data(), sizeof(float) * N, cudaMemcpyHostToDevice);
  cudaMemcpy(d_square_avg, h_square_avg.data(), sizeof(float) * N, cudaMemcpyHostToDevice);
  cudaMemcpy(d_grad_avg, h_grad_avg.data(), sizeof(float) * N, cudaMemcpyHostToDevice);
  cudaMemcpy(d_velocity, h_velocity.data(), sizeof(float) * N, cudaMemcpyHostToDevice);

  dim3 block(256);
  dim3 grid((N + 255) / 256);
  rmsprop_step<<<grid, block>>>(d_weight, d_grad, d_square_avg, d_grad_avg, d_velocity,
                                  d_weight_out, d_square_avg_out, d_grad_avg_out, d_velocity_out, N);
  cudaDeviceSynchronize();

  cudaMemcpy(h_weight_out.data(), d_weight_out, sizeof(float) * N, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_square_avg_out.data(), d_square_avg_out, sizeof(float) * N, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_grad_avg_out.data(), d_grad_avg_out, sizeof(float) * N, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_velocity_out.data(), d_velocity_out, sizeof(float) * N, cudaMemcpyDeviceToHost);
  write_binary("data/weight_out.bin", h_weight_out.data(), N);
  write_binary("data/square_avg_out.bin", h_square_avg_out.data(), N);
  write_binary("data/grad_avg_out.bin", h_grad_avg_out.data(), N);
  write_binary("data/velocity_out.bin", h_velocity_out.data(), N);

  cudaFree(d_velocity_out);
  cudaFree(d_grad_avg_out);
  cudaFree(d_square_avg_out);
  cudaFree(d_weight_out);
  cudaFree(d_velocity);
  cudaFree(d_grad_avg);
  cudaFree(d_square_avg);
  cudaFree(d_grad);
  cudaFree(d_weight);
  return 0;
}
