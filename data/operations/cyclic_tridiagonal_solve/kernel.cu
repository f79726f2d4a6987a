#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kN = 50;
constexpr int kSystems = 150;

// Every unknown is kept as x[i] = p + r * x[i+1] + t * x[n-1]; one equation for x[n-1] remains at the end.
__global__ void solve_bordered(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ c,
                               const float* __restrict__ f, float2* __restrict__ rt, float* __restrict__ x) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= kSystems) return;
    float inv = 1.0f / b[s];
    float p = f[s] * inv, r = -c[s] * inv, t = -a[s] * inv;
    x[s] = p;
    rt[s] = make_float2(r, t);
    // The equation of unknown n-1 while the others are eliminated: first * x[i+1] + self * x[n-1] = right.
    const int end = (kN - 1) * kSystems + s;
    float first = c[end];
    float self = b[end], right = f[end];
    right -= first * p;
    self += first * t;
    first *= r;
    for (int i = 1; i < kN - 1; ++i) {
        const int at = i * kSystems + s;
        const float low = a[at];
        inv = 1.0f / fmaf(low, r, b[at]);
        p = (f[at] - low * p) * inv;
        t = -low * t * inv;
        r = -c[at] * inv;
        x[at] = p;
        rt[at] = make_float2(r, t);
        right -= first * p;
        self += first * t;
        first *= r;
    }
    // Unknown n-2 couples to n-1 through r as well as t.
    const float low = a[end];
    self += first + low * (r + t);
    right -= low * p;
    const float tail = right / self;
    x[end] = tail;
    float next = tail;
    for (int i = kN - 2; i >= 0; --i) {
        const int at = i * kSystems + s;
        const float2 k = rt[at];
        next = x[at] + k.x * next + k.y * tail;
        x[at] = next;
    }
}

void solve(const float* d_a, const float* d_b, const float* d_c, const float* d_f, float* d_x, float2* d_rt) {
    solve_bordered<<<(kSystems + 63) / 64, 64>>>(d_a, d_b, d_c, d_f, d_rt, d_x);
}

int main() {
    const size_t count_a = (size_t)kN * kSystems;
    std::vector<float> host_a(count_a);
    std::vector<float> host_b(count_a);
    std::vector<float> host_c(count_a);
    std::vector<float> host_f(count_a);
    std::vector<float> host_x(count_a);
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(host_a.data()), count_a * sizeof(float))) {
        std::cerr << "data/a.bin is missing or short\n";
        return 1;
    }
    std::ifstream b_in("data/b.bin", std::ios::binary);
    if (!b_in.read(reinterpret_cast<char*>(host_b.data()), count_a * sizeof(float))) {
        std::cerr << "data/b.bin is missing or short\n";
        return 1;
    }
    std::ifstream c_in("data/c.bin", std::ios::binary);
    if (!c_in.read(reinterpret_cast<char*>(host_c.data()), count_a * sizeof(float))) {
        std::cerr << "data/c.bin is missing or short\n";
        return 1;
    }
    std::ifstream f_in("data/f.bin", std::ios::binary);
    if (!f_in.read(reinterpret_cast<char*>(host_f.data()), count_a * sizeof(float))) {
        std::cerr << "data/f.bin is missing or short\n";
        return 1;
    }

    float *d_a, *d_b, *d_c, *d_f, *d_x;
    float2 *d_rt;
    cudaMalloc(&d_a, count_a * sizeof(float));
    cudaMalloc(&d_b, count_a * sizeof(float));
    cudaMalloc(&d_c, count_a * sizeof(float));
    cudaMalloc(&d_f, count_a * sizeof(float));
    cudaMalloc(&d_x, count_a * sizeof(float));
    cudaMalloc(&d_rt, count_a * sizeof(float2));
    cudaMemcpy(d_a, host_a.data(), count_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, host_b.data(), count_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_c, host_c.data(), count_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_f, host_f.data(), count_a * sizeof(float), cudaMemcpyHostToDevice);
    solve(d_a, d_b, d_c, d_f, d_x, d_rt);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }
    cudaMemcpy(host_x.data(), d_x, count_a * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream x_out("data/x.bin", std::ios::binary);
    x_out.write(reinterpret_cast<const char*>(host_x.data()), count_a * sizeof(float));
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    cudaFree(d_f);
    cudaFree(d_x);
    cudaFree(d_rt);
    return 0;
}
