#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kHeight = 160;
constexpr int kWidth = 200;

template <typename T>
struct DevArray {
    T* p = nullptr;
    size_t count;
    explicit DevArray(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "out of device memory\n";
            std::exit(1);
        }
    }
    ~DevArray() { cudaFree(p); }
    DevArray(const DevArray&) = delete;
    DevArray& operator=(const DevArray&) = delete;
    T* get() const { return p; }
    void upload(const std::vector<T>& v) { cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void download(std::vector<T>& v) const { cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot read " + path << "\n";
        std::exit(1);
    }
    return v;
}

// The sixteen counters are the bytes of two 64-bit words.
__global__ void majority_packed(const uchar4* __restrict__ labels, unsigned char* __restrict__ winner,
                                int* __restrict__ votes) {
    constexpr int bw = kWidth / 4;
    constexpr int blocks_total = bw * (kHeight / 4);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks_total; i += gridDim.x * blockDim.x) {
        const int r = i / bw, c = i % bw;
        unsigned long long field[2] = {0ull, 0ull};
        for (int a = 0; a < 4; ++a) {
            const uchar4 q = labels[(size_t)(4 * r + a) * bw + c];
            const int l[4] = {q.x, q.y, q.z, q.w};
            for (int b = 0; b < 4; ++b) {
                const unsigned long long one = 1ull << (8 * (l[b] & 7));
                field[0] += l[b] < 8 ? one : 0ull;
                field[1] += l[b] < 8 ? 0ull : one;
            }
        }
        int best = 0, top = -1;
        for (int k = 0; k < 16; ++k) {
            const int n = (int)(field[k / 8] >> (8 * (k & 7))) & 255;
            if (n > top) {
                top = n;
                best = k;
            }
        }
        winner[i] = (unsigned char)best;
        votes[i] = top;
    }
}

int main() {
    const size_t num_labels = (size_t)kHeight * kWidth;
    const size_t num_winner = (size_t)(kHeight / 4) * (kWidth / 4);
    std::vector<unsigned char> labels_host = load_file<unsigned char>("data/labels.bin", num_labels);
    std::vector<unsigned char> winner_host(num_winner);
    std::vector<int> votes_host(num_winner);

    DevArray<unsigned char> dev_labels(num_labels);
    DevArray<unsigned char> dev_winner(num_winner);
    DevArray<int> dev_votes(num_winner);
    dev_labels.upload(labels_host);

    int blocks = (((kHeight / 4) * (kWidth / 4)) + 128 - 1) / 128;
    majority_packed<<<blocks < 4096 ? blocks : 4096, 128>>>((const uchar4*)dev_labels.get(), dev_winner.get(),
        dev_votes.get());
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "launch error\n";
        return 1;
    }

    dev_winner.download(winner_host);
    dev_votes.download(votes_host);
    std::ofstream("data/winner.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(winner_host.data()), num_winner * sizeof(unsigned char));
    std::ofstream("data/votes.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(votes_host.data()), num_winner * sizeof(int));
    return 0;
}
