#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int BATCH = 40;
static const int LENGTH = 100;

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}

static bool read_file(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

bool write_file(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int WIDE = LENGTH + 1;
constexpr int THREADS = 256;

// One block per sequence: a token is read once and written to both outputs.
__global__ void shift_rows(const int* __restrict__ tokens, const int* __restrict__ lengths,
                           int* __restrict__ decoder_input, int* __restrict__ label, int* label_count) {
    const int n = lengths[blockIdx.x];
    const size_t in = (size_t)blockIdx.x * LENGTH, out = (size_t)blockIdx.x * WIDE;
    int count = 0;
    for (int start = 0; start < WIDE; start += THREADS) {
        const int t = start + threadIdx.x;
        bool counts = false;
        if (t < WIDE) {
            const int id = t < n ? tokens[in + t] : t == n ? 2 : -100;
            const int target = t < n && id == 3 ? -100 : id;
            counts = target != -100;
            label[out + t] = target;
            if (t < LENGTH) decoder_input[out + t + 1] = t < n ? id : 0;
            if (t == 0) decoder_input[out] = 1;
        }
        count += __syncthreads_count(counts);
    }
    if (threadIdx.x == 0) atomicAdd(label_count, count);
}

int main() {
    std::vector<int> tokens(BATCH * LENGTH);
    std::vector<int> lengths(BATCH);
    std::vector<int> decoder_input(BATCH * WIDE);
    std::vector<int> label(BATCH * WIDE);
    std::vector<int> label_count(1);
    if (!read_file("data/tokens.bin", tokens.data(), BATCH * LENGTH * sizeof(int))) {
        fprintf(stderr, "cannot read data/tokens.bin\n");
        return 1;
    }
    if (!read_file("data/lengths.bin", lengths.data(), BATCH * sizeof(int))) {
        fprintf(stderr, "cannot read data/lengths.bin\n");
        return 1;
    }

    int* dev_tokens = nullptr;
    int* dev_lengths = nullptr;
    int* dev_decoder_input = nullptr;
    int* dev_label = nullptr;
    int* dev_label_count = nullptr;
    check(cudaMalloc(&dev_tokens, BATCH * LENGTH * sizeof(int)), "cudaMalloc tokens");
    check(cudaMalloc(&dev_lengths, BATCH * sizeof(int)), "cudaMalloc");
    check(cudaMalloc(&dev_decoder_input, BATCH * WIDE * sizeof(int)), "cudaMalloc decoder_input");
    check(cudaMalloc(&dev_label, BATCH * WIDE * sizeof(int)), "cudaMalloc");
    check(cudaMalloc(&dev_label_count, 1 * sizeof(int)), "cudaMalloc");
    check(cudaMemcpy(dev_tokens, tokens.data(), BATCH * LENGTH * sizeof(int), cudaMemcpyHostToDevice),
            "copy tokens");
    check(cudaMemcpy(dev_lengths, lengths.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice), "copy lengths");

    check(cudaMemset(dev_label_count, 0, sizeof(int)), "prepare");
    shift_rows<<<BATCH, THREADS>>>(dev_tokens, dev_lengths, dev_decoder_input, dev_label, dev_label_count);
    check(cudaGetLastError(), "kernel launch");
    check(cudaMemcpy(decoder_input.data(), dev_decoder_input, BATCH * WIDE * sizeof(int),
            cudaMemcpyDeviceToHost), "copy decoder_input");
    check(cudaMemcpy(label.data(), dev_label, BATCH * WIDE * sizeof(int), cudaMemcpyDeviceToHost), "copy label");
    check(cudaMemcpy(label_count.data(), dev_label_count, 1 * sizeof(int), cudaMemcpyDeviceToHost),
            "copy label_count");

    if (!write_file("data/decoder_input.bin", decoder_input.data(), BATCH * WIDE * sizeof(int))) return 1;
    if (!write_file("data/label.bin", label.data(), BATCH * WIDE * sizeof(int))) return 1;
    if (!write_file("data/label_count.bin", label_count.data(), 1 * sizeof(int))) return 1;
    cudaFree(dev_tokens);
    cudaFree(dev_lengths);
    cudaFree(dev_decoder_input);
    cudaFree(dev_label);
    cudaFree(dev_label_count);
    return 0;
}
