#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool read_all(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

bool write_all(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t n = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return n == v.size();
}

constexpr int kN = 50;
constexpr int kSystems = 150;

// Sherman-Morrison with gamma = -b[0]; the open matrix differs from the ring's in its two corner entries.
__global__ void solve_ring(const float* a, const float* b, const float* c, const float* f, float* ratio, float* q,
                           float* x) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= kSystems) return;
    const int last = (kN - 1) * kSystems + s;
    float gamma = -b[s];
    float corner = a[s], opposite = c[last];
    float d = b[s] - gamma;
    ratio[s] = c[s] / d;
    x[s] = f[s] / d;
    q[s] = gamma / d;
    for (int i = 1; i < kN; ++i) {
        int at = i * kSystems + s, before = at - kSystems;
        float diag = b[at];
        if (i == kN - 1) diag -= corner * opposite / gamma;
        d = diag - a[at] * ratio[before];
        ratio[at] = c[at] / d;
        x[at] = (f[at] - a[at] * x[before]) / d;
        float right = i == kN - 1 ? opposite : 0.0f;
        q[at] = (right - a[at] * q[before]) / d;
    }
    for (int i = kN - 2; i >= 0; --i) {
        int at = i * kSystems + s, next = at + kSystems;
        x[at] -= ratio[at] * x[next];
        q[at] -= ratio[at] * q[next];
    }
    float k = corner / gamma;
    float factor = (x[s] + k * x[last]) / (1.0f + q[s] + k * q[last]);
    for (int i = 0; i < kN; ++i) x[i * kSystems + s] -= factor * q[i * kSystems + s];
}

int main() {
    const size_t n_a = (size_t)kN * kSystems;
    std::vector<float> h_a(n_a);
    std::vector<float> h_b(n_a);
    std::vector<float> h_c(n_a);
    std::vector<float> h_f(n_a);
    std::vector<float> h_x(n_a);
    if (!read_all("data/a.bin", h_a) ||
        !read_all("data/b.bin", h_b) ||
        !read_all("data/c.bin", h_c) ||
        !read_all("data/f.bin", h_f)) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    float *d_a, *d_b, *d_c, *d_f, *d_x, *d_ratio, *d_q;
    checkCuda(cudaMalloc(&d_a, n_a * sizeof(float)), "cudaMalloc a");
    checkCuda(cudaMalloc(&d_b, n_a * sizeof(float)), "cudaMalloc b");
    checkCuda(cudaMalloc(&d_c, n_a * sizeof(float)), "cudaMalloc c");
    checkCuda(cudaMalloc(&d_f, n_a * sizeof(float)), "cudaMalloc f");
    checkCuda(cudaMalloc(&d_x, n_a * sizeof(float)), "cudaMalloc x");
    checkCuda(cudaMalloc(&d_ratio, n_a * sizeof(float)), "cudaMalloc ratio");
    checkCuda(cudaMalloc(&d_q, n_a * sizeof(float)), "cudaMalloc q");
    checkCuda(cudaMemcpy(d_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice), "copy a");
    checkCuda(cudaMemcpy(d_b, h_b.data(), n_a * sizeof(float), cudaMemcpyHostToDevice), "copy b");
    checkCuda(cudaMemcpy(d_c, h_c.data(), n_a * sizeof(float), cudaMemcpyHostToDevice), "copy c");
    checkCuda(cudaMemcpy(d_f, h_f.data(), n_a * sizeof(float), cudaMemcpyHostToDevice), "copy f");

    solve_ring<<<(kSystems + 127) / 128, 128>>>(d_a, d_b, d_c, d_f, d_ratio, d_q, d_x);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(h_x.data(), d_x, n_a * sizeof(float), cudaMemcpyDeviceToHost), "copy x");

    if (!write_all("data/x.bin", h_x)) return 1;
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    cudaFree(d_f);
    cudaFree(d_x);
    cudaFree(d_ratio);
    cudaFree(d_q);
    return 0;
}
