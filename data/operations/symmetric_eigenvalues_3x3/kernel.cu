#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kCount = 2500;

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

// One Jacobi rotation that makes the entry pq zero; pr and qr are the other entries of the two rows.
__device__ void rotate(float& pp, float& qq, float& pq, float& pr, float& qr) {
    if (fabsf(pq) < 1e-12f) return;
    const float theta = (qq - pp) / (2.0f * pq);
    const float t = copysignf(1.0f, theta) / (fabsf(theta) + sqrtf(fmaf(theta, theta, 1.0f)));
    const float c = rsqrtf(fmaf(t, t, 1.0f));
    const float s = t * c;
    pp -= t * pq;
    qq += t * pq;
    pq = 0.0f;
    const float old = pr;
    pr = c * old - s * qr;
    qr = s * old + c * qr;
}

__global__ void eigenvalues_jacobi(const float2* __restrict__ s, float* __restrict__ values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kCount) return;
    const float2 u = s[3 * i], v = s[3 * i + 1], w = s[3 * i + 2];
    float xx = u.x, xy = u.y, xz = v.x, yy = v.y, yz = w.x, zz = w.y;
    for (int sweep = 0; sweep < 5; ++sweep) {
        rotate(xx, yy, xy, xz, yz);
        rotate(xx, zz, xz, xy, yz);
        rotate(yy, zz, yz, xy, xz);
    }
    const float high = fmaxf(xx, fmaxf(yy, zz));
    const float low = fminf(xx, fminf(yy, zz));
    const float middle = fmaxf(fminf(xx, yy), fminf(fmaxf(xx, yy), zz));
    values[3 * i] = high;
    values[3 * i + 1] = middle;
    values[3 * i + 2] = low;
}

int main() {
    std::vector<float> host_s(kCount * 6);
    std::vector<float> host_values(kCount * 3);
    if (!read_all("data/s.bin", host_s)) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    float *d_s = nullptr, *d_values = nullptr;
    checkCuda(cudaMalloc(&d_s, sizeof(float) * kCount * 6), "cudaMalloc s");
    checkCuda(cudaMalloc(&d_values, sizeof(float) * kCount * 3), "cudaMalloc values");
    checkCuda(cudaMemcpy(d_s, host_s.data(), sizeof(float) * kCount * 6, cudaMemcpyHostToDevice), "copy s");

    eigenvalues_jacobi<<<(kCount + 127) / 128, 128>>>((const float2*)d_s, d_values);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(host_values.data(), d_values, sizeof(float) * kCount * 3, cudaMemcpyDeviceToHost),
            "copy values");

    if (!write_all("data/values.bin", host_values)) return 1;
    cudaFree(d_s);
    cudaFree(d_values);
    return 0;
}
