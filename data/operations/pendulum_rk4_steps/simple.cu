#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define PENDULUMS 3000
#define STEPS 100

#define CUDA_CHECK(x) \
    if ((x) != cudaSuccess) { \
        fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1); \
    }

static void get_file(const char* path, void* dst, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(dst, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

static void put_file(const char* path, const void* src, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(src, 1, bytes, file) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(file);
}

__device__ float acceleration(float q, float w, float l) {
    return -9.81f / l * sinf(q) - 0.15f * w;
}

__global__ void swing(const float* angle, const float* speed, const float* length, float* new_angle,
        float* new_speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PENDULUMS) return;
    const float h = 0.01f;
    float q = angle[i], w = speed[i], l = length[i];
    for (int s = 0; s < STEPS; ++s) {
        float q1 = w;
        float w1 = acceleration(q, w, l);
        float q2 = w + 0.5f * h * w1;
        float w2 = acceleration(q + 0.5f * h * q1, q2, l);
        float q3 = w + 0.5f * h * w2;
        float w3 = acceleration(q + 0.5f * h * q2, q3, l);
        float q4 = w + h * w3;
        float w4 = acceleration(q + h * q3, q4, l);
        q += h / 6.0f * (q1 + 2.0f * q2 + 2.0f * q3 + q4);
        w += h / 6.0f * (w1 + 2.0f * w2 + 2.0f * w3 + w4);
    }
    new_angle[i] = q;
    new_speed[i] = w;
}

int main() {
    float* angle_h = (float*)malloc(PENDULUMS * sizeof(float));
    float* speed_h = (float*)malloc(PENDULUMS * sizeof(float));
    float* length_h = (float*)malloc(PENDULUMS * sizeof(float));
    float* new_angle_h = (float*)malloc(PENDULUMS * sizeof(float));
    float* new_speed_h = (float*)malloc(PENDULUMS * sizeof(float));
    get_file("data/angle.bin", angle_h, PENDULUMS * sizeof(float));
    get_file("data/speed.bin", speed_h, PENDULUMS * sizeof(float));
    get_file("data/length.bin", length_h, PENDULUMS * sizeof(float));

    float* angle_d = nullptr;
    float* speed_d = nullptr;
    float* length_d = nullptr;
    float* new_angle_d = nullptr;
    float* new_speed_d = nullptr;
    CUDA_CHECK(cudaMalloc(&angle_d, PENDULUMS * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(angle_d, angle_h, PENDULUMS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&speed_d, PENDULUMS * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(speed_d, speed_h, PENDULUMS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&length_d, PENDULUMS * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(length_d, length_h, PENDULUMS * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&new_angle_d, PENDULUMS * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&new_speed_d, PENDULUMS * sizeof(float)));

    swing<<<(PENDULUMS + 255) / 256, 256>>>(angle_d, speed_d, length_d, new_angle_d, new_speed_d);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(new_angle_h, new_angle_d, PENDULUMS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(new_speed_h, new_speed_d, PENDULUMS * sizeof(float), cudaMemcpyDeviceToHost));

    put_file("data/new_angle.bin", new_angle_h, PENDULUMS * sizeof(float));
    put_file("data/new_speed.bin", new_speed_h, PENDULUMS * sizeof(float));

    cudaFree(angle_d);
    cudaFree(speed_d);
    cudaFree(length_d);
    cudaFree(new_angle_d);
    cudaFree(new_speed_d);
    free(angle_h);
    free(speed_h);
    free(length_h);
    free(new_angle_h);
    free(new_speed_h);
}
