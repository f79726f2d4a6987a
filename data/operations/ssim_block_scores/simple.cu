#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int BLOCK_ROWS = 10;
static const int BLOCK_COLS = 17;

__global__ void ssim_blocks(const float* a, const float* b, float* score) {
    int bx = blockIdx.x * blockDim.x + threadIdx.x;
    int by = blockIdx.y;
    if (bx >= BLOCK_COLS) return;
    const int pitch = BLOCK_COLS * 8;
    const float* pa = a + by * 8 * pitch + bx * 8;
    const float* pb = b + by * 8 * pitch + bx * 8;
    float ma = 0.0f, mb = 0.0f;
    for (int k = 0; k < 64; ++k) {
        ma += pa[k / 8 * pitch + k % 8];
        mb += pb[k / 8 * pitch + k % 8];
    }
    ma /= 64.0f;
    mb /= 64.0f;
    float va = 0.0f, vb = 0.0f, cov = 0.0f;
    for (int k = 0; k < 64; ++k) {
        float da = pa[k / 8 * pitch + k % 8] - ma;
        float db = pb[k / 8 * pitch + k % 8] - mb;
        va += da * da;
        vb += db * db;
        cov += da * db;
    }
    const float c1 = 6.5025f, c2 = 58.5225f;
    float top = (2.0f * ma * mb + c1) * (2.0f * cov / 64.0f + c2);
    float bottom = (ma * ma + mb * mb + c1) * (va / 64.0f + vb / 64.0f + c2);
    score[by * BLOCK_COLS + bx] = top / bottom;
}

void solve(const float* d_first, const float* d_second, float* d_score) {
    dim3 grid((BLOCK_COLS + 63) / 64, BLOCK_ROWS);
    ssim_blocks<<<grid, 64>>>(d_first, d_second, d_score);
}

int main() {
    const int firstElems = (BLOCK_ROWS * 8) * (BLOCK_COLS * 8);
    const int scoreElems = BLOCK_ROWS * BLOCK_COLS;
    std::vector<float> h_first(firstElems);
    std::vector<float> h_second(firstElems);
    std::vector<float> h_score(scoreElems);
    FILE* f = fopen("data/first.bin", "rb");
    if (!f || fread(h_first.data(), sizeof(float), h_first.size(), f) != h_first.size()) {
        fprintf(stderr, "error reading first\n");
        return EXIT_FAILURE;
    }
    fclose(f);
    f = fopen("data/second.bin", "rb");
    if (!f || fread(h_second.data(), sizeof(float), h_second.size(), f) != h_second.size()) {
        fprintf(stderr, "error reading second\n");
        return EXIT_FAILURE;
    }
    fclose(f);

    float* d_first;
    float* d_second;
    float* d_score;
    cudaMalloc(&d_first, firstElems * sizeof(float));
    cudaMalloc(&d_second, firstElems * sizeof(float));
    cudaMalloc(&d_score, scoreElems * sizeof(float));
    cudaMemcpy(d_first, h_first.data(), firstElems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second.data(), firstElems * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_first, d_second, d_score);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_score.data(), d_score, scoreElems * sizeof(float), cudaMemcpyDeviceToHost);
    f = fopen("data/score.bin", "wb");
    if (!f || fwrite(h_score.data(), sizeof(float), h_score.size(), f) != h_score.size()) return EXIT_FAILURE;
    fclose(f);
    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_score);
    return 0;
}
