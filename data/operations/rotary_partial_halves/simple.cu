#include <fstream>
#include <vector>
#include <cuda_runtime.h>

static const int TOKENS = 100;
static const int HEADS = 8;

#define HEAD_DIM 48
#define PAIRS 16

__global__ void rotate(const float* q, const int* position, float* rotated) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TOKENS * HEADS * PAIRS) return;
    int k = i % PAIRS;
    int head = i / PAIRS;
    int token = head / HEADS;
    const float* in = q + (size_t)head * HEAD_DIM;
    float* out = rotated + (size_t)head * HEAD_DIM;
    float angle = position[token] * powf(10000.0f, -k / (float)PAIRS);
    float c = cosf(angle), s = sinf(angle);
    out[k] = in[k] * c - in[k + PAIRS] * s;
    out[k + PAIRS] = in[k + PAIRS] * c + in[k] * s;
    out[k + 2 * PAIRS] = in[k + 2 * PAIRS];
}

int main() {
    const size_t q_count = TOKENS * HEADS * 48;
    std::vector<float> host_q(q_count), host_rotated(q_count);
    std::vector<int> host_position(TOKENS);
    std::ifstream fin_q("data/q.bin", std::ios::binary);
    if (!fin_q.read((char*)host_q.data(), q_count * sizeof(float))) return 1;
    std::ifstream fin_position("data/position.bin", std::ios::binary);
    if (!fin_position.read((char*)host_position.data(), TOKENS * sizeof(int))) return 1;
    float *d_q, *d_rotated;
    int *d_position;
    cudaMalloc(&d_q, q_count * sizeof(float));
    cudaMalloc(&d_position, TOKENS * sizeof(int));
    cudaMalloc(&d_rotated, q_count * sizeof(float));
    cudaMemcpy(d_q, host_q.data(), q_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_position, host_position.data(), TOKENS * sizeof(int), cudaMemcpyHostToDevice);
    rotate<<<(TOKENS * HEADS * PAIRS + 256 - 1) / 256, 256>>>(d_q, d_position, d_rotated);
    cudaMemcpy(host_rotated.data(), d_rotated, q_count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/rotated.bin", std::ios::binary).write((char*)host_rotated.data(), q_count * sizeof(float));
    cudaFree(d_q);
    cudaFree(d_position);
    cudaFree(d_rotated);
    return 0;
}
