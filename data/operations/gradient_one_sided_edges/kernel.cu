#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void readArray(const char* name, void* buffer, size_t bytes) {
    FILE* f = fopen(name, "rb");
    size_t got = f ? fread(buffer, 1, bytes, f) : 0;
    if (got != bytes) {
        fprintf(stderr, "%s: short read\n", name);
        exit(1);
    }
    fclose(f);
}

void writeArray(const char* name, const void* buffer, size_t bytes) {
    FILE* f = fopen(name, "wb");
    if (!f || fwrite(buffer, 1, bytes, f) != bytes) {
        fprintf(stderr, "%s: write failed\n", name);
        exit(1);
    }
    fclose(f);
}
//@given

const int ROWS = 90;
const int COLS = 130;

// One block a row. The row weights of the three samples are chosen once for the whole block.
__global__ void gradient_row(const float* __restrict__ f, float* __restrict__ gx, float* __restrict__ gy) {
    const int r = blockIdx.x;
    const int first = r == 0 ? 0 : (r == ROWS - 1 ? ROWS - 3 : r - 1);
    float w0 = -2.0f, w1 = 0.0f, w2 = 2.0f;
    if (r == 0) { w0 = -6.0f; w1 = 8.0f; w2 = -2.0f; }
    if (r == ROWS - 1) { w0 = 2.0f; w1 = -8.0f; w2 = 6.0f; }
    const float* a = f + (size_t)first * COLS;
    const float* b = a + COLS;
    const float* d = b + COLS;
    const float* row = f + (size_t)r * COLS;
    for (int c = threadIdx.x; c < COLS; c += blockDim.x) {
        float g;
        if (c == 0) g = -3.0f * row[0] + 4.0f * row[1] - row[2];
        else if (c == COLS - 1) g = 3.0f * row[c] - 4.0f * row[c - 1] + row[c - 2];
        else g = row[c + 1] - row[c - 1];
        gx[(size_t)r * COLS + c] = g;
        gy[(size_t)r * COLS + c] = w0 * a[c] + w1 * b[c] + w2 * d[c];
    }
}

int main() {
    size_t count = ROWS * COLS;

    float* h_field = new float[count];
    float* h_grad_x = new float[count];
    float* h_grad_y = new float[count];
    readArray("data/field.bin", h_field, count * sizeof(float));

    float *d_field;
    float *d_grad_x;
    float *d_grad_y;
    cudaMalloc((void**)&d_field, count * sizeof(float));
    cudaMalloc(&d_grad_x, count * sizeof(float));
    cudaMalloc(&d_grad_y, count * sizeof(float));
    cudaMemcpy(d_field, h_field, count * sizeof(float), cudaMemcpyHostToDevice);

    gradient_row<<<ROWS, 256>>>(d_field, d_grad_x, d_grad_y);

    cudaMemcpy(h_grad_x, d_grad_x, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_grad_y, d_grad_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    writeArray("data/grad_x.bin", h_grad_x, count * sizeof(float));
    writeArray("data/grad_y.bin", h_grad_y, count * sizeof(float));

    cudaFree(d_field);
    cudaFree(d_grad_x);
    cudaFree(d_grad_y);
    delete[] h_field;
    delete[] h_grad_x;
    delete[] h_grad_y;
    return 0;
}
