#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, float* data, size_t n) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(data, sizeof(float), n, f) != n) {
        fprintf(stderr, "error reading %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void save_array(const std::string& path, const float* data, size_t n) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(data, sizeof(float), n, f) != n) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int CLIPS = 5;
constexpr int FRAMES = 30;

const int FRAME = 160;
const int ORDER = 10;

__global__ void prediction_error(const float* speech, const float* predictor, float* residual) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= CLIPS * FRAMES * FRAME) return;
    int t = i % (FRAMES * FRAME);
    const float* a = predictor + i / FRAME * ORDER;
    float e = speech[i];
    for (int k = 1; k <= ORDER && k <= t; k++) {
        e -= a[k - 1] * speech[i - k];
    }
    residual[i] = e;
}

int main() {
    float* h_speech = new float[CLIPS * FRAMES * 160];
    float* h_predictor = new float[CLIPS * FRAMES * 10];
    float* h_residual = new float[CLIPS * FRAMES * 160];
    load_array("data/speech.bin", h_speech, CLIPS * FRAMES * 160);
    load_array("data/predictor.bin", h_predictor, CLIPS * FRAMES * 10);

    float* d_speech;
    float* d_predictor;
    float* d_residual;
    cudaMalloc(&d_speech, CLIPS * FRAMES * 160 * sizeof(float));
    cudaMalloc(&d_predictor, CLIPS * FRAMES * 10 * sizeof(float));
    cudaMalloc((void**)&d_residual, CLIPS * FRAMES * 160 * sizeof(float));
    cudaMemcpy(d_speech, h_speech, CLIPS * FRAMES * 160 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_predictor, h_predictor, CLIPS * FRAMES * 10 * sizeof(float), cudaMemcpyHostToDevice);

    int n = CLIPS * FRAMES * FRAME;
    prediction_error<<<(n + 255) / 256, 256>>>(d_speech, d_predictor, d_residual);

    cudaMemcpy(h_residual, d_residual, CLIPS * FRAMES * 160 * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/residual.bin", h_residual, CLIPS * FRAMES * 160);

    cudaFree(d_speech);
    cudaFree(d_predictor);
    cudaFree(d_residual);
    delete[] h_speech;
    delete[] h_predictor;
    delete[] h_residual;
    return 0;
}
