#include <cstdio>
#include <cuda_runtime.h>

#define NODES 700
#define ENTRIES 5000

static bool load_into(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

__global__ void signed_laplacian(const int* row_start, const int* neighbor, const float* weight, const float* x,
                                 float* result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NODES) {
        float own = x[i];
        float sum = 0.0f;
        for (int k = row_start[i]; k < row_start[i + 1]; ++k) {
            sum += fabsf(weight[k]) * own - weight[k] * x[neighbor[k]];
        }
        result[i] = sum;
    }
}

int main() {
    int* row_start;
    int* neighbor;
    float* weight;
    float* x;
    float* y;
    cudaMallocManaged(&row_start, (NODES + 1) * sizeof(int));
    cudaMallocManaged(&neighbor, ENTRIES * sizeof(int));
    cudaMallocManaged(&weight, ENTRIES * sizeof(float));
    cudaMallocManaged(&x, NODES * sizeof(float));
    cudaMallocManaged(&y, NODES * sizeof(float));

    bool ok = load_into("data/row_start.bin", row_start, (NODES + 1) * sizeof(int));
    ok = ok && load_into("data/neighbor.bin", neighbor, ENTRIES * sizeof(int));
    ok = ok && load_into("data/weight.bin", weight, ENTRIES * sizeof(float));
    ok = ok && load_into("data/x.bin", x, NODES * sizeof(float));
    if (!ok) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    signed_laplacian<<<(NODES + 255) / 256, 256>>>(row_start, neighbor, weight, x, y);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(status));
        return 1;
    }

    FILE* out = fopen("data/y.bin", "wb");
    fwrite(y, sizeof(float), NODES, out);
    fclose(out);

    cudaFree(row_start);
    cudaFree(neighbor);
    cudaFree(weight);
    cudaFree(x);
    cudaFree(y);
}
