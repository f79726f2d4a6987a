#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
struct GpuArray {
    T* data = nullptr;
    size_t count;
    explicit GpuArray(size_t n_) : count(n_) {
        if (cudaMalloc(&data, n_ * sizeof(T)) != cudaSuccess) {
            throw std::runtime_error("cudaMalloc failed");
        }
    }
    ~GpuArray() { cudaFree(data); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void from_host(const std::vector<T>& v) { cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
    void to_host(std::vector<T>& v) const {
        cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> read_vector(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        throw std::runtime_error(std::string("cannot read ") + path);
    }
    return v;
}

const int LISTS = 100;
const int LONGEST = 60;

__global__ void listnet(const float* scores, const float* relevance, const int* length, float* loss) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= LISTS) return;
    const float* s = scores + (size_t)q * LONGEST;
    const float* r = relevance + (size_t)q * LONGEST;
    int n = length[q];
    float smax = s[0], rmax = r[0];
    for (int k = 1; k < n; k++) {
        smax = fmaxf(smax, s[k]);
        rmax = fmaxf(rmax, r[k]);
    }
    float ssum = 0.0f, rsum = 0.0f, cross = 0.0f;
    for (int k = 0; k < n; k++) {
        float t = expf(r[k] - rmax);
        ssum += expf(s[k] - smax);
        rsum += t;
        cross += t * (s[k] - smax);
    }
    loss[q] = logf(ssum) - cross / rsum;
}

int main() try {
    std::vector<float> hScores = read_vector<float>("data/scores.bin", LISTS * LONGEST);
    std::vector<float> hRelevance = read_vector<float>("data/relevance.bin", LISTS * LONGEST);
    auto hLength = read_vector<int>("data/length.bin", LISTS);
    std::vector<float> hLoss(LISTS);

    GpuArray<float> d_scores(LISTS * LONGEST);
    GpuArray<float> d_relevance(LISTS * LONGEST);
    GpuArray<int> d_length(LISTS);
    GpuArray<float> d_loss(LISTS);
    d_scores.from_host(hScores);
    d_relevance.from_host(hRelevance);
    d_length.from_host(hLength);

    listnet<<<(LISTS + 63) / 64, 64>>>(d_scores.data, d_relevance.data, d_length.data, d_loss.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        throw std::runtime_error("kernel failed");
    }

    d_loss.to_host(hLoss);
    std::ofstream loss_out("data/loss.bin", std::ios::binary);
    loss_out.write(reinterpret_cast<const char*>(hLoss.data()), hLoss.size() * sizeof(float));
    return 0;
} catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
}
