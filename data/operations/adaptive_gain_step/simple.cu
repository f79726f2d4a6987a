#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define POINTS 5000
#define DIMS 2
#define TOTAL (POINTS * DIMS)

#define CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

__global__ void move_points(const float* y, const float* grad, const float* velocity, const float* gain,
                            float* y_out, float* velocity_out, float* gain_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TOTAL) return;
    bool same = (grad[i] > 0.0f) == (velocity[i] > 0.0f);
    float a = fmaxf(same ? 0.8f * gain[i] : gain[i] + 0.2f, 0.01f);
    float v = 0.5f * velocity[i] - 200.0f * a * grad[i];
    gain_out[i] = a;
    velocity_out[i] = v;
    y_out[i] = y[i] + v;
}

__global__ void column_mean(const float* y_out, float* mean) {
    __shared__ float part[512];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int p = t; p < POINTS; p += 512) sum += y_out[p * DIMS + blockIdx.x];
    part[t] = sum;
    __syncthreads();
    for (int s = 256; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) mean[blockIdx.x] = part[0] / POINTS;
}

__global__ void center(float* y_out, const float* mean) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < TOTAL) y_out[i] -= mean[i % DIMS];
}

int main() {
    float* host_y = (float*)malloc(TOTAL * sizeof(float));
    float* host_grad = (float*)malloc(TOTAL * sizeof(float));
    float* host_velocity = (float*)malloc(TOTAL * sizeof(float));
    float* host_gain = (float*)malloc(TOTAL * sizeof(float));
    float* host_y_out = (float*)malloc(TOTAL * sizeof(float));
    float* host_velocity_out = (float*)malloc(TOTAL * sizeof(float));
    float* host_gain_out = (float*)malloc(TOTAL * sizeof(float));
    read_file("data/y.bin", host_y, TOTAL * sizeof(float));
    read_file("data/grad.bin", host_grad, TOTAL * sizeof(float));
    read_file("data/velocity.bin", host_velocity, TOTAL * sizeof(float));
    read_file("data/gain.bin", host_gain, TOTAL * sizeof(float));

    float* d_y;
    float* d_grad;
    float* d_velocity;
    float* d_gain;
    float* d_y_out;
    float* d_velocity_out;
    float* d_gain_out;
    float* d_mean;
    CHECK(cudaMalloc(&d_y, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_grad, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_velocity, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_gain, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_y_out, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_velocity_out, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_gain_out, TOTAL * sizeof(float)));
    CHECK(cudaMalloc(&d_mean, DIMS * sizeof(float)));
    CHECK(cudaMemcpy(d_y, host_y, TOTAL * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_grad, host_grad, TOTAL * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_velocity, host_velocity, TOTAL * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_gain, host_gain, TOTAL * sizeof(float), cudaMemcpyHostToDevice));

    move_points<<<(TOTAL + 255) / 256, 256>>>(d_y, d_grad, d_velocity, d_gain, d_y_out, d_velocity_out, d_gain_out);
    column_mean<<<DIMS, 512>>>(d_y_out, d_mean);
    center<<<(TOTAL + 255) / 256, 256>>>(d_y_out, d_mean);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host_y_out, d_y_out, TOTAL * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host_velocity_out, d_velocity_out, TOTAL * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host_gain_out, d_gain_out, TOTAL * sizeof(float), cudaMemcpyDeviceToHost));

    write_file("data/y_out.bin", host_y_out, TOTAL * sizeof(float));
    write_file("data/velocity_out.bin", host_velocity_out, TOTAL * sizeof(float));
    write_file("data/gain_out.bin", host_gain_out, TOTAL * sizeof(float));
    cudaFree(d_y);
    cudaFree(d_grad);
    cudaFree(d_velocity);
    cudaFree(d_gain);
    cudaFree(d_y_out);
    cudaFree(d_velocity_out);
    cudaFree(d_gain_out);
    cudaFree(d_mean);
    free(host_y);
    free(host_grad);
    free(host_velocity);
    free(host_gain);
    free(host_y_out);
    free(host_velocity_out);
    free(host_gain_out);
    return 0;
}
