#define CHANNELS 3
#define HEIGHT 70
#define WIDTH 110

__global__ void color_grade(const float* image, const float* lift, const float* gamma, const float* gain,
              float* graded, int plane) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y;
  if (i >= plane) return;
  float x = image[c * plane + i];
  float t = gain[c] * (x + lift[c] * (1.0f - x));
  t = fminf(fmaxf(t, 0.0f), 1.0f);
  graded[c * plane + i] = powf(t, 1.0f / gamma[c]);
}

int main() {
  const int count = CHANNELS * HEIGHT * WIDTH;

  float* h_image = new float[count];
  float* h_lift = new float[CHANNELS];
  float* h_gamma = new float[CHANNELS];
  float* h_gain = new float[CHANNELS];
  read_binary("data/image.bin", h_image, count);
  read_binary("data/lift.bin", h_lift, CHANNELS);
  read_binary("data/gamma.bin", h_gamma, CHANNELS);
  read_binary("data/gain.bin", h_gain, CHANNELS);
  float *d_image, *d_lift, *d_gamma, *d_gain, *d_graded;
  cudaMalloc(&d_image, count * sizeof(float));
  cudaMalloc(&d_lift, CHANNELS * sizeof(float));
  cudaMalloc(&d_gamma, CHANNELS * sizeof(float));
  cudaMalloc(&d_gain, CHANNELS * sizeof(float));
  cudaMalloc(&d_graded, count * sizeof(float));
  cudaMemcpy(d_image, h_image, count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_lift, h_lift, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, h_gamma, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gain, h_gain, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  const int plane = HEIGHT * WIDTH;
  dim3 grid((plane + 255) / 256, CHANNELS);
  color_grade<<<grid, 256>>>(d_image, d_lift, d_gamma, d_gain, d_graded, plane);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "lift kernel: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_graded = new float[count];
  cudaMemcpy(h_graded, d_graded, count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/graded.bin", h_graded, count);

  cudaFree(d_image);
  delete[] h_image;
  cudaFree(d_lift);
  delete[] h_lift;
  cudaFree(d_gamma);
  delete[] h_gamma;
  cudaFree(d_gain);
  delete[] h_gain;
  cudaFree(d_graded);
  delete[] h_graded;
  return 0;
}
