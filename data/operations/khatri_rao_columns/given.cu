constexpr int kLeft = 20;
constexpr int kRight = 33;
constexpr int kRank = 17;

__global__ void khatri_rao(const float* a, const float* b, const float* lambda_r, float* out,
                           int right, int rank, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < total) {
    int c = idx % rank;
    int i = idx / rank / right;
    int j = idx / rank % right;
    out[idx] = lambda_r[c] * a[i * rank + c] * b[j * rank + c];
  }
}

int main() {
  const size_t b_size = kRight * kRank;
  const int out_size = kLeft * kRight * kRank;
  float* h_a = new float[kLeft * kRank];
  read_binary("data/a.bin", h_a, kLeft * kRank);
  float* h_b = new float[b_size];
  read_binary("data/b.bin", h_b, b_size);
  float* h_lambda_r = new float[kRank];
  read_binary("data/lambda_r.bin", h_lambda_r, kRank);

  float* d_a = nullptr;
  float* d_b = nullptr;
  float* d_lambda_r = nullptr;
  float* d_out = nullptr;
  cudaMalloc(&d_a, kLeft * kRank * sizeof(float));
  cudaMemcpy(d_a, h_a, kLeft * kRank * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_b, b_size * sizeof(float));
  cudaMemcpy(d_b, h_b, b_size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_lambda_r, kRank * sizeof(float));
  cudaMemcpy(d_lambda_r, h_lambda_r, kRank * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_out, out_size * sizeof(float));

  khatri_rao<<<(out_size + 255) / 256, 256>>>(d_a, d_b, d_lambda_r, d_out, kRight, kRank, out_size);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  float* h_out = new float[out_size];
  cudaMemcpy(h_out, d_out, out_size * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/out.bin", h_out, out_size);

  cudaFree(d_a);
  delete[] h_a;
  cudaFree(d_b);
  delete[] h_b;
  cudaFree(d_lambda_r);
  delete[] h_lambda_r;
  cudaFree(d_out);
  delete[] h_out;
  return 0;
}
