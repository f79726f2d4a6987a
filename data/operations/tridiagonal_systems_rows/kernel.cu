#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_array(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(file);
}

void save_array(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes) {
        fprintf(stderr, "error writing %s\n", path);
        exit(1);
    }
    fclose(file);
}
//@given

#define SYSTEMS 60
#define N 100
static int div_up(int a, int b) { return (a + b - 1) / b; }

// Parallel cyclic reduction: one block a system, each step doubles the distance to the coupled unknowns.
__global__ void cyclic_reduction(const float* __restrict__ low, const float* __restrict__ mid,
                                 const float* __restrict__ high, const float* __restrict__ rhs,
                                 float* __restrict__ u) {
    __shared__ float a[N], b[N], c[N], d[N];
    const int i = threadIdx.x;
    const int at = blockIdx.x * N + i;
    if (i < N) {
        a[i] = i > 0 ? low[at] : 0.0f;
        b[i] = mid[at];
        c[i] = i + 1 < N ? high[at] : 0.0f;
        d[i] = rhs[at];
    }
    __syncthreads();
    for (int step = 1; step < N; step *= 2) {
        float na = 0.0f, nb = 1.0f, nc = 0.0f, nd = 0.0f;
        if (i < N) {
            nb = b[i];
            nd = d[i];
            if (i >= step) {
                const float k = a[i] / b[i - step];
                na = -k * a[i - step];
                nb -= k * c[i - step];
                nd -= k * d[i - step];
            }
            if (i + step < N) {
                const float k = c[i] / b[i + step];
                nc = -k * c[i + step];
                nb -= k * a[i + step];
                nd -= k * d[i + step];
            }
        }
        __syncthreads();
        if (i < N) {
            a[i] = na;
            b[i] = nb;
            c[i] = nc;
            d[i] = nd;
        }
        __syncthreads();
    }
    if (i < N) u[at] = d[i] / b[i];
}

int main() {
    const size_t n_low = (size_t)SYSTEMS * N;
    float* h_low = new float[n_low];
    float* h_mid = new float[n_low];
    float* h_high = new float[n_low];
    float* h_rhs = new float[n_low];
    float* h_u = new float[n_low];
    load_array("data/low.bin", h_low, n_low * sizeof(float));
    load_array("data/mid.bin", h_mid, n_low * sizeof(float));
    load_array("data/high.bin", h_high, n_low * sizeof(float));
    load_array("data/rhs.bin", h_rhs, n_low * sizeof(float));

    float* d_low;
    cudaMalloc(&d_low, n_low * sizeof(float));
    float* d_mid;
    cudaMalloc((void**)&d_mid, n_low * sizeof(float));
    float* d_high;
    cudaMalloc(&d_high, n_low * sizeof(float));
    float* d_rhs;
    cudaMalloc((void**)&d_rhs, n_low * sizeof(float));
    float* d_u;
    cudaMalloc((void**)&d_u, n_low * sizeof(float));
    cudaMemcpy(d_low, h_low, n_low * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_mid, h_mid, n_low * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_high, h_high, n_low * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rhs, h_rhs, n_low * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = div_up(N, 32) * 32;
    cyclic_reduction<<<SYSTEMS, threads>>>(d_low, d_mid, d_high, d_rhs, d_u);

    cudaMemcpy(h_u, d_u, n_low * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/u.bin", h_u, n_low * sizeof(float));

    cudaFree(d_low);
    cudaFree(d_mid);
    cudaFree(d_high);
    cudaFree(d_rhs);
    cudaFree(d_u);
    delete[] h_low;
    delete[] h_mid;
    delete[] h_high;
    delete[] h_rhs;
    delete[] h_u;
    return 0;
}
