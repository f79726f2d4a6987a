constexpr int CLIPS = 5;
constexpr int FRAMES = 30;
const int FRAME = 160;
const int ORDER = 10;

__global__ void prediction_error(const float* speech, const float* predictor, float* residual,
                                 int clips, int frames) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= clips * frames * FRAME) return;
  int t = i % (frames * FRAME);
  const float* a = predictor + i / FRAME * ORDER;
  float e = speech[i];
  for (int k = 1; k <= ORDER && k <= t; k++) {
    e -= a[k - 1] * speech[i - k];
  }
  residual[i] = e;
}

int main() {
  const int elements = CLIPS * FRAMES * 160;
  const size_t predictor_total = CLIPS * FRAMES * 10;
  float* h_speech = new float[elements];
  read_binary("data/speech.bin", h_speech, elements);
  float* d_speech = nullptr;
  cudaMalloc(&d_speech, elements * sizeof(float));
  cudaMemcpy(d_speech, h_speech, elements * sizeof(float), cudaMemcpyHostToDevice);

  float* h_predictor = new float[predictor_total];
  read_binary("data/predictor.bin", h_predictor, predictor_total);
  float* d_predictor = nullptr;
  cudaMalloc(&d_predictor, predictor_total * sizeof(float));
  cudaMemcpy(d_predictor, h_predictor, predictor_total * sizeof(float), cudaMemcpyHostToDevice);

  float* h_residual = new float[elements];
  float* d_residual = nullptr;
  cudaMalloc(&d_residual, elements * sizeof(float));

  const int threads = 256;
  const int blocks = (elements + threads - 1) / threads;
  prediction_error<<<blocks, threads>>>(d_speech, d_predictor, d_residual, CLIPS, FRAMES);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_residual, d_residual, elements * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/residual.bin", h_residual, elements);

  cudaFree(d_speech);
  cudaFree(d_predictor);
  cudaFree(d_residual);
  delete[] h_speech;
  delete[] h_predictor;
  delete[] h_residual;
  return 0;
}
