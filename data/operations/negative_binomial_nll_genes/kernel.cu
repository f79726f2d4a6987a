#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int CELLS = 60;
const int GENES = 200;

static bool read_exact(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

// What depends on the gene alone is computed once; zero counts need no lgamma at all.
__global__ void gene_terms(const float* dispersion, float2* terms) {
    const int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < GENES) terms[g] = make_float2(lgammaf(dispersion[g]), logf(dispersion[g]));
}

__global__ void nb_nll_fast(const int* __restrict__ counts, const float* __restrict__ mean,
                            const float* __restrict__ dispersion, const float2* __restrict__ terms,
                            float* __restrict__ nll) {
    __shared__ float warps[4];
    const size_t base = (size_t)blockIdx.x * GENES;
    float sum = 0.0f;
    for (int g = threadIdx.x; g < GENES; g += 128) {
        const int c = counts[base + g];
        const float u = mean[base + g];
        const float t = dispersion[g];
        const float both = logf(t + u);
        sum += t * (both - terms[g].y);
        if (c > 0) {
            const float k = (float)c;
            sum += terms[g].x + lgammaf(k + 1.0f) - lgammaf(k + t) + k * (both - logf(u));
        }
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) nll[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
}

int main() {
    int* counts;
    float *mean, *dispersion, *nll, *terms;
    cudaMallocManaged(&counts, CELLS * GENES * sizeof(int));
    cudaMallocManaged(&mean, CELLS * GENES * sizeof(float));
    cudaMallocManaged(&dispersion, GENES * sizeof(float));
    cudaMallocManaged(&nll, CELLS * sizeof(float));
    cudaMallocManaged(&terms, GENES * 2 * sizeof(float));

    if (!read_exact("data/counts.bin", counts, CELLS * GENES * sizeof(int)) ||
        !read_exact("data/mean.bin", mean, CELLS * GENES * sizeof(float)) ||
        !read_exact("data/dispersion.bin", dispersion, GENES * sizeof(float))) {
        fprintf(stderr, "bad input files\n");
        return 1;
    }

    gene_terms<<<(GENES + 127) / 128, 128>>>(dispersion, (float2*)terms);
    nb_nll_fast<<<CELLS, 128>>>(counts, mean, dispersion, (const float2*)terms, nll);
    cudaDeviceSynchronize();

    FILE* nll_file = fopen("data/nll.bin", "wb");
    if (!nll_file) return 1;
    fwrite(nll, sizeof(float), CELLS, nll_file);
    fclose(nll_file);

    cudaFree(counts);
    cudaFree(mean);
    cudaFree(dispersion);
    cudaFree(nll);
    cudaFree(terms);
    return 0;
}
