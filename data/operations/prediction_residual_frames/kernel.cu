#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int CLIPS = 5;
const int FRAMES = 30;

// One block per frame; ten samples of history stand in front of the frame in shared memory.
__global__ void frame_residual(const float* __restrict__ speech, const float* __restrict__ predictor,
                               float* __restrict__ residual) {
  __shared__ float s[170];
  __shared__ float a[10];
  const int frame = blockIdx.x;
  const int n = threadIdx.x;
  const int first = frame * 160;
  s[10 + n] = speech[first + n];
  if (n < 10) {
    s[n] = frame % FRAMES > 0 ? speech[first - 10 + n] : 0.0f;
    a[n] = predictor[frame * 10 + n];
  }
  __syncthreads();
  float e = s[10 + n];
  for (int k = 0; k < 10; ++k) e = fmaf(-a[k], s[9 + n - k], e);
  residual[first + n] = e;
}

int main() {
  float* speech = (float*)malloc(CLIPS * FRAMES * 160 * sizeof(float));
  float* predictor = (float*)malloc(CLIPS * FRAMES * 10 * sizeof(float));
  float* residual = (float*)malloc(CLIPS * FRAMES * 160 * sizeof(float));
  FILE* f = fopen("data/speech.bin", "rb");
  if (!f || fread(speech, sizeof(float), CLIPS * FRAMES * 160, f) != (size_t)(CLIPS * FRAMES * 160)) return 1;
  fclose(f);
  f = fopen("data/predictor.bin", "rb");
  if (!f || fread(predictor, sizeof(float), CLIPS * FRAMES * 10, f) != (size_t)(CLIPS * FRAMES * 10)) return 1;
  fclose(f);
  float *d_speech, *d_predictor, *d_residual;
  cudaMalloc(&d_speech, CLIPS * FRAMES * 160 * sizeof(float));
  cudaMalloc(&d_predictor, CLIPS * FRAMES * 10 * sizeof(float));
  cudaMalloc(&d_residual, CLIPS * FRAMES * 160 * sizeof(float));
  cudaMemcpy(d_speech, speech, CLIPS * FRAMES * 160 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_predictor, predictor, CLIPS * FRAMES * 10 * sizeof(float), cudaMemcpyHostToDevice);
  frame_residual<<<CLIPS * FRAMES, 160>>>(d_speech, d_predictor, d_residual);
  cudaMemcpy(residual, d_residual, CLIPS * FRAMES * 160 * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/residual.bin", "wb");
  fwrite(residual, sizeof(float), CLIPS * FRAMES * 160, f);
  fclose(f);
  return 0;
}
