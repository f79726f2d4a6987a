#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void checkCuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        std::exit(1);
    }
}

static bool loadBin(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    const bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool storeBin(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    const bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static const int QUERIES = 80;
static const int DOCS = 60;

// The ideal order needs only the number of documents of each grade.
__global__ void ndcg_grade_counts(const float* __restrict__ scores, const int* __restrict__ grades,
                                  const int* __restrict__ cutoff, float* __restrict__ ndcg) {
    __shared__ float s[DOCS];
    __shared__ int grade_count[5];
    __shared__ float dcg, ideal;
    const int q = blockIdx.x;
    const int* g = grades + q * DOCS;
    if (threadIdx.x < 5) grade_count[threadIdx.x] = 0;
    if (threadIdx.x == 0) dcg = ideal = 0.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < DOCS; i += blockDim.x) {
        s[i] = scores[q * DOCS + i];
        atomicAdd(&grade_count[g[i]], 1);
    }
    __syncthreads();
    const int depth = min(cutoff[q], DOCS);
    float a = 0.0f, b = 0.0f;
    for (int i = threadIdx.x; i < DOCS; i += blockDim.x) {
        if (i < depth) {
            int grade = 4, upto = grade_count[4];
            while (i >= upto) upto += grade_count[--grade];
            b += ((1 << grade) - 1) / log2f(i + 2.0f);
        }
        if (g[i] == 0) continue;
        const float mine = s[i];
        int pos = 0;
        for (int j = 0; j < DOCS; ++j) pos += s[j] > mine || (s[j] == mine && j < i);
        if (pos < depth) a += ((1 << g[i]) - 1) / log2f(pos + 2.0f);
    }
    atomicAdd(&dcg, a);
    atomicAdd(&ideal, b);
    __syncthreads();
    if (threadIdx.x == 0) ndcg[q] = ideal > 0.0f ? dcg / ideal : 0.0f;
}

int main() {
    std::vector<float> hScores(QUERIES * DOCS);
    std::vector<int> hGrades(QUERIES * DOCS);
    std::vector<int> hCutoff(QUERIES);
    std::vector<float> hNdcg(QUERIES);
    if (!loadBin("data/scores.bin", hScores.data(), QUERIES * DOCS * sizeof(float))) {
        fprintf(stderr, "cannot read data/scores.bin\n");
        return 1;
    }
    if (!loadBin("data/grades.bin", hGrades.data(), QUERIES * DOCS * sizeof(int))) {
        fprintf(stderr, "cannot read data/grades.bin\n");
        return 1;
    }
    if (!loadBin("data/cutoff.bin", hCutoff.data(), QUERIES * sizeof(int))) {
        fprintf(stderr, "cannot read data/cutoff.bin\n");
        return 1;
    }

    float *d_scores, *d_ndcg;
    int *d_grades, *d_cutoff;
    checkCuda(cudaMalloc(&d_scores, QUERIES * DOCS * sizeof(float)), "allocating scores");
    checkCuda(cudaMalloc(&d_grades, QUERIES * DOCS * sizeof(int)), "allocating grades");
    checkCuda(cudaMalloc(&d_cutoff, QUERIES * sizeof(int)), "allocating cutoff");
    checkCuda(cudaMalloc(&d_ndcg, QUERIES * sizeof(float)), "allocating ndcg");
    checkCuda(cudaMemcpy(d_scores, hScores.data(), QUERIES * DOCS * sizeof(float), cudaMemcpyHostToDevice),
            "copy scores in");
    checkCuda(cudaMemcpy(d_grades, hGrades.data(), QUERIES * DOCS * sizeof(int), cudaMemcpyHostToDevice),
            "copy grades in");
    checkCuda(cudaMemcpy(d_cutoff, hCutoff.data(), QUERIES * sizeof(int), cudaMemcpyHostToDevice), "copy cutoff in");

    ndcg_grade_counts<<<QUERIES, 128>>>(d_scores, d_grades, d_cutoff, d_ndcg);
    checkCuda(cudaGetLastError(), "kernel");

    checkCuda(cudaMemcpy(hNdcg.data(), d_ndcg, QUERIES * sizeof(float), cudaMemcpyDeviceToHost), "memcpy ndcg");
    if (!storeBin("data/ndcg.bin", hNdcg.data(), QUERIES * sizeof(float))) {
        fprintf(stderr, "cannot write data/ndcg.bin\n");
        return 1;
    }
    cudaFree(d_scores);
    cudaFree(d_grades);
    cudaFree(d_cutoff);
    cudaFree(d_ndcg);
    return 0;
}
