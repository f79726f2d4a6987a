#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 60;
constexpr int COLS = 400;

__global__ void schmitt(const float* x, const float* low, const float* high, unsigned char* state, int* switches) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    float lo = low[r], hi = high[r];
    int s = 0, changes = 0;
    for (int c = 0; c < COLS; ++c) {
        float v = x[(size_t)r * COLS + c];
        int next = s;
        if (v >= hi) next = 1;
        else if (v <= lo) next = 0;
        if (next != s) ++changes;
        s = next;
        state[(size_t)r * COLS + c] = (unsigned char)s;
    }
    switches[r] = changes;
}

static void solve(const float* dX, const float* dLow, const float* dHigh, unsigned char* dState, int* dSwitches) {
    schmitt<<<(ROWS + 32 - 1) / 32, 32>>>(dX, dLow, dHigh, dState, dSwitches);
}

int main() {
    const size_t total = (size_t)ROWS * COLS;
    std::vector<float> h_x(total);
    std::vector<float> h_low(ROWS);
    std::vector<float> h_high(ROWS);
    std::vector<unsigned char> h_state(total);
    std::vector<int> h_switches(ROWS);
    FILE* in_x = fopen("data/x.bin", "rb");
    if (!in_x || fread(h_x.data(), sizeof(float), total, in_x) != total) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_x);
    FILE* in_low = fopen("data/low.bin", "rb");
    if (!in_low || fread(h_low.data(), sizeof(float), ROWS, in_low) != (size_t)ROWS) {
        fprintf(stderr, "cannot read data/low.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_low);
    FILE* in_high = fopen("data/high.bin", "rb");
    if (!in_high || fread(h_high.data(), sizeof(float), ROWS, in_high) != (size_t)ROWS) {
        fprintf(stderr, "cannot read data/high.bin\n");
        return EXIT_FAILURE;
    }
    fclose(in_high);

    float *dX, *dLow, *dHigh;
    unsigned char* dState = nullptr;
    int* dSwitches = nullptr;
    cudaMalloc(&dX, total * sizeof(float));
    cudaMalloc(&dLow, ROWS * sizeof(float));
    cudaMalloc(&dHigh, ROWS * sizeof(float));
    cudaMalloc(&dState, total * sizeof(unsigned char));
    cudaMalloc(&dSwitches, ROWS * sizeof(int));
    cudaMemcpy(dX, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dLow, h_low.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dHigh, h_high.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);

    solve(dX, dLow, dHigh, dState, dSwitches);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "CUDA failure: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }

    cudaMemcpy(h_state.data(), dState, total * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_switches.data(), dSwitches, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    FILE* out_state = fopen("data/state.bin", "wb");
    fwrite(h_state.data(), sizeof(unsigned char), total, out_state);
    fclose(out_state);
    FILE* out_switches = fopen("data/switches.bin", "wb");
    fwrite(h_switches.data(), sizeof(int), ROWS, out_switches);
    fclose(out_switches);
    cudaFree(dX);
    cudaFree(dLow);
    cudaFree(dHigh);
    cudaFree(dState);
    cudaFree(dSwitches);
    return 0;
}
