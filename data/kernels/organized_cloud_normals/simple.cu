#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void normalAt(const float* cloud, float* normals, int height, int width) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    int v = blockIdx.y * blockDim.y + threadIdx.y;
    if (u >= width || v >= height) return;
    int center = 3 * (v * width + u);
    float n[3] = {0, 0, 0};
    if (u > 0 && v > 0 && u + 1 < width && v + 1 < height) {
        int left = center - 3, right = center + 3, up = center - 3 * width, down = center + 3 * width;
        if (cloud[center + 2] != 0 && cloud[left + 2] != 0 && cloud[right + 2] != 0 && cloud[up + 2] != 0 &&
            cloud[down + 2] != 0) {
            float a[3], b[3];
            for (int k = 0; k < 3; ++k) {
                a[k] = cloud[right + k] - cloud[left + k];
                b[k] = cloud[down + k] - cloud[up + k];
            }
            n[0] = a[1] * b[2] - a[2] * b[1];
            n[1] = a[2] * b[0] - a[0] * b[2];
            n[2] = a[0] * b[1] - a[1] * b[0];
            float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            float facing = n[0] * cloud[center] + n[1] * cloud[center + 1] + n[2] * cloud[center + 2];
            for (int k = 0; k < 3 && length > 0; ++k) n[k] = facing > 0 ? -n[k] / length : n[k] / length;
        }
    }
    for (int k = 0; k < 3; ++k) normals[center + k] = n[k];
}

void stop(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

void gpu(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

int main() {
    int sizes[2];
    FILE* in = fopen("data/sizes.bin", "rb");
    if (!in || fread(sizes, sizeof(int), 2, in) != 2 || fgetc(in) != EOF) stop("data/sizes.bin: expected two values");
    fclose(in);
    int height = sizes[0], width = sizes[1];
    if (height < 1 || height > 2048 || width < 1 || width > 2048) stop("data/sizes.bin: out of range");
    size_t count = size_t(height) * width * 3;
    std::vector<float> values(count);
    in = fopen("data/cloud.bin", "rb");
    if (!in || fread(values.data(), sizeof(float), count, in) != count || fgetc(in) != EOF) {
        stop("data/cloud.bin: wrong length");
    }
    fclose(in);

    float *cloud, *normals;
    gpu(cudaMalloc(&cloud, count * sizeof(float)));
    gpu(cudaMalloc(&normals, count * sizeof(float)));
    gpu(cudaMemcpy(cloud, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    normalAt<<<grid, block>>>(cloud, normals, height, width);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(values.data(), normals, count * sizeof(float), cudaMemcpyDeviceToHost));
    gpu(cudaFree(cloud));
    gpu(cudaFree(normals));

    FILE* out = fopen("data/normals.bin", "wb");
    if (!out || fwrite(values.data(), sizeof(float), count, out) != count || fclose(out) != 0) {
        stop("data/normals.bin: not written");
    }
    return 0;
}
