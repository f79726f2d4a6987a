#include <cstdio>
#include <cuda_runtime.h>

const int VOICES = 12;
const int SAMPLES = 1500;

__global__ void oscillators(const float* table, const unsigned int* start, const unsigned int* step,
              const float* volume, const unsigned int* ticks, float* sound) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= VOICES * SAMPLES) return;
  int v = i / SAMPLES;
  unsigned int p = start[v] + ticks[i % SAMPLES] * step[v];
  unsigned int k = p >> 22;
  float q = (p & 0x3fffff) / 4194304.0f;
  float left = table[k];
  float right = table[(k + 1) % 1024];
  sound[i] = volume[v] * (left + q * (right - left));
}

int main() {
  float* table = nullptr;
  unsigned int* start = nullptr;
  unsigned int* step = nullptr;
  float* volume = nullptr;
  unsigned int* ticks = nullptr;
  float* sound = nullptr;
  cudaMallocManaged(&table, 1024 * sizeof(float));
  cudaMallocManaged(&start, VOICES * sizeof(unsigned int));
  cudaMallocManaged(&step, VOICES * sizeof(unsigned int));
  cudaMallocManaged(&volume, VOICES * sizeof(float));
  cudaMallocManaged(&ticks, SAMPLES * sizeof(unsigned int));
  cudaMallocManaged(&sound, VOICES * SAMPLES * sizeof(float));

  FILE* file_table = fopen("data/table.bin", "rb");
  if (!file_table || fread(table, sizeof(float), 1024, file_table) != (size_t)(1024)) {
    fprintf(stderr, "error reading data/table.bin\n");
    return 1;
  }
  fclose(file_table);
  FILE* file_start = fopen("data/start.bin", "rb");
  if (!file_start || fread(start, sizeof(unsigned int), VOICES, file_start) != (size_t)(VOICES)) {
    fprintf(stderr, "error reading data/start.bin\n");
    return 1;
  }
  fclose(file_start);
  FILE* file_step = fopen("data/step.bin", "rb");
  if (!file_step || fread(step, sizeof(unsigned int), VOICES, file_step) != (size_t)(VOICES)) {
    fprintf(stderr, "error reading data/step.bin\n");
    return 1;
  }
  fclose(file_step);
  FILE* file_volume = fopen("data/volume.bin", "rb");
  if (!file_volume || fread(volume, sizeof(float), VOICES, file_volume) != (size_t)(VOICES)) {
    fprintf(stderr, "error reading data/volume.bin\n");
    return 1;
  }
  fclose(file_volume);
  FILE* file_ticks = fopen("data/ticks.bin", "rb");
  if (!file_ticks || fread(ticks, sizeof(unsigned int), SAMPLES, file_ticks) != (size_t)(SAMPLES)) {
    fprintf(stderr, "error reading data/ticks.bin\n");
    return 1;
  }
  fclose(file_ticks);

  oscillators<<<(VOICES * SAMPLES + 255) / 256, 256>>>(table, start, step, volume, ticks, sound);
  cudaError_t result = cudaDeviceSynchronize();
  if (result != cudaSuccess) {
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
    return 1;
  }

  FILE* out = fopen("data/sound.bin", "wb");
  if (!out) return 1;
  fwrite(sound, sizeof(float), VOICES * SAMPLES, out);
  fclose(out);

  cudaFree(table);
  cudaFree(start);
  cudaFree(step);
  cudaFree(volume);
  cudaFree(ticks);
  cudaFree(sound);
  return 0;
}
