#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void fetch(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void put(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

constexpr int kSteps = 16;
constexpr int kNeurons = 1500;

__global__ void lif(const float* current, const float* threshold, unsigned char* spikes, int* count, float* potential) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < kNeurons) {
        float limit = threshold[j];
        float v = 0.0f;
        int fired = 0;
        for (int t = 0; t < kSteps; ++t) {
            size_t k = (size_t)t * kNeurons + j;
            v = 0.5f * v + current[k];
            if (v >= limit) {
                spikes[k] = 1;
                v -= limit;
                fired++;
            } else {
                spikes[k] = 0;
            }
        }
        count[j] = fired;
        potential[j] = v;
    }
}

int main(void) {
    const size_t current_len = kSteps * kNeurons;
    float* h_current = new float[current_len];
    float* h_threshold = new float[kNeurons];
    unsigned char* h_spikes = new unsigned char[current_len];
    int* h_count = new int[kNeurons];
    float* h_potential = new float[kNeurons];
    fetch("data/current.bin", h_current, current_len * sizeof(float));
    fetch("data/threshold.bin", h_threshold, kNeurons * sizeof(float));

    float *d_current, *d_threshold, *d_potential;
    unsigned char* d_spikes;
    int* d_count;
    cudaMalloc(&d_current, current_len * sizeof(float));
    cudaMalloc(&d_threshold, kNeurons * sizeof(float));
    cudaMalloc(&d_spikes, current_len * sizeof(unsigned char));
    cudaMalloc(&d_count, kNeurons * sizeof(int));
    cudaMalloc(&d_potential, kNeurons * sizeof(float));
    cudaMemcpy(d_current, h_current, current_len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_threshold, h_threshold, kNeurons * sizeof(float), cudaMemcpyHostToDevice);

    lif<<<DIV_UP(kNeurons, 256), 256>>>(d_current, d_threshold, d_spikes, d_count, d_potential);
    cudaDeviceSynchronize();

    cudaMemcpy(h_spikes, d_spikes, current_len * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_count, d_count, kNeurons * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_potential, d_potential, kNeurons * sizeof(float), cudaMemcpyDeviceToHost);
    put("data/spikes.bin", h_spikes, current_len * sizeof(unsigned char));
    put("data/count.bin", h_count, kNeurons * sizeof(int));
    put("data/potential.bin", h_potential, kNeurons * sizeof(float));

    cudaFree(d_current);
    cudaFree(d_threshold);
    cudaFree(d_spikes);
    cudaFree(d_count);
    cudaFree(d_potential);
    delete[] h_current;
    delete[] h_threshold;
    delete[] h_spikes;
    delete[] h_count;
    delete[] h_potential;
    return 0;
}
