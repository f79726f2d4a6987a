#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int STEPS = 40;
const int BATCH = 50;
const int BEAMS = 5;

__global__ void backtrace(const int* tokens, const int* parents, int* sequences, int* used) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * BEAMS) return;
    int b = i / BEAMS;
    int slot = i % BEAMS;
    int* seq = sequences + (size_t)i * STEPS;
    int length = STEPS;
    for (int t = STEPS - 1; t >= 0; --t) {
        int at = (t * BATCH + b) * BEAMS + slot;
        seq[t] = tokens[at];
        if (seq[t] == 2) length = t + 1;
        slot = parents[at];
    }
    for (int t = length; t < STEPS; ++t) seq[t] = 0;
    used[i] = length;
}

int main() {
    const size_t num_tokens = (size_t)STEPS * BATCH * BEAMS;
    const size_t num_sequences = BATCH * BEAMS * STEPS;
    const size_t num_used = BATCH * BEAMS;
    std::vector<int> h_tokens(num_tokens), h_parents(num_tokens), h_sequences(num_sequences), h_used(num_used);
    std::ifstream file_tokens("data/tokens.bin", std::ios::binary);
    if (!file_tokens.read((char*)h_tokens.data(), num_tokens * sizeof(int))) return 1;
    std::ifstream file_parents("data/parents.bin", std::ios::binary);
    if (!file_parents.read((char*)h_parents.data(), num_tokens * sizeof(int))) return 1;
    int *d_tokens, *d_parents, *d_sequences, *d_used;
    cudaMalloc(&d_tokens, num_tokens * sizeof(int));
    cudaMalloc(&d_parents, num_tokens * sizeof(int));
    cudaMalloc(&d_sequences, num_sequences * sizeof(int));
    cudaMalloc(&d_used, num_used * sizeof(int));
    cudaMemcpy(d_tokens, h_tokens.data(), num_tokens * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_parents, h_parents.data(), num_tokens * sizeof(int), cudaMemcpyHostToDevice);
    backtrace<<<(BATCH * BEAMS + 128 - 1) / 128, 128>>>(d_tokens, d_parents, d_sequences, d_used);
    cudaMemcpy(h_sequences.data(), d_sequences, num_sequences * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_used.data(), d_used, num_used * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/sequences.bin", std::ios::binary).write((char*)h_sequences.data(),
        num_sequences * sizeof(int));
    std::ofstream("data/used.bin", std::ios::binary).write((char*)h_used.data(), num_used * sizeof(int));
    cudaFree(d_tokens);
    cudaFree(d_parents);
    cudaFree(d_sequences);
    cudaFree(d_used);
}
