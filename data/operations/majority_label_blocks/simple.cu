#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load(const std::string& file_name, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(file_name, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot load " << file_name << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void store(const std::string& file_name, const std::vector<T>& v) {
    std::ofstream out(file_name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kHeight = 160;
constexpr int kWidth = 200;

__global__ void majority(const unsigned char* labels, unsigned char* winner, int* votes) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= kWidth / 4 || r >= kHeight / 4) return;
    int count[16];
    for (int k = 0; k < 16; k++) count[k] = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) count[labels[(4 * r + a) * kWidth + 4 * c + b]]++;
    int best = 0;
    for (int k = 1; k < 16; k++)
        if (count[k] > count[best]) best = k;
    winner[r * (kWidth / 4) + c] = (unsigned char)best;
    votes[r * (kWidth / 4) + c] = count[best];
}

int main() {
    constexpr size_t num_labels = size_t(kHeight) * kWidth;
    constexpr size_t num_winner = (kHeight / 4) * (kWidth / 4);
    const auto host_labels = load<unsigned char>("data/labels.bin", num_labels);
    std::vector<unsigned char> host_winner(num_winner);
    std::vector<int> host_votes(num_winner);

    unsigned char* d_labels = nullptr;
    unsigned char* d_winner = nullptr;
    int* d_votes = nullptr;
    cudaMalloc(&d_labels, num_labels * sizeof(unsigned char));
    cudaMalloc(&d_winner, num_winner * sizeof(unsigned char));
    cudaMalloc(&d_votes, num_winner * sizeof(int));
    cudaMemcpy(d_labels, host_labels.data(), host_labels.size() * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dim3 block(32, 4);
    dim3 grid(((kWidth / 4) + 32 - 1) / 32, ((kHeight / 4) + 4 - 1) / 4);
    majority<<<grid, block>>>(d_labels, d_winner, d_votes);

    cudaMemcpy(host_winner.data(), d_winner, host_winner.size() * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_votes.data(), d_votes, host_votes.size() * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/winner.bin", host_winner);
    store("data/votes.bin", host_votes);
    cudaFree(d_labels);
    cudaFree(d_winner);
    cudaFree(d_votes);
    return 0;
}
