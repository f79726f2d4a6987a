#include <cuda_runtime.h>

#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define MAX_MAPS 4096
#define MAX_SIDE 512
#define THREADS 256
#define WARPS (THREADS / 32)

struct State {
    float peak;             // largest value so far
    float sum, sumX, sumY;  // of w, w * x, w * y with w = exp(value - peak)
};

__device__ __forceinline__ State emptyState() { return {-FLT_MAX, 0.0f, 0.0f, 0.0f}; }

__device__ __forceinline__ State join(State a, State b) {
    const float peak = fmaxf(a.peak, b.peak);
    const float fa = expf(a.peak - peak), fb = expf(b.peak - peak);
    return {peak, a.sum * fa + b.sum * fb, a.sumX * fa + b.sumX * fb, a.sumY * fa + b.sumY * fb};
}

// The joined state of the warp, valid in lane 0.
__device__ State joinWarp(State state) {
    for (int offset = 16; offset > 0; offset /= 2) {
        State other;
        other.peak = __shfl_down_sync(0xffffffffu, state.peak, offset);
        other.sum = __shfl_down_sync(0xffffffffu, state.sum, offset);
        other.sumX = __shfl_down_sync(0xffffffffu, state.sumX, offset);
        other.sumY = __shfl_down_sync(0xffffffffu, state.sumY, offset);
        state = join(state, other);
    }
    return state;
}

__global__ void softArgmax(const float* __restrict__ heatmaps, float2* __restrict__ centres,
                           float* __restrict__ confidence, int height, int width) {
    __shared__ State states[WARPS];
    const int pixels = height * width;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* map = heatmaps + (size_t)blockIdx.x * pixels;

    State mine = emptyState();
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
        mine = join(mine, State{map[i], 1.0f, (float)(i % width), (float)(i / width)});
    }
    mine = joinWarp(mine);
    if (lane == 0) states[warp] = mine;
    __syncthreads();

    if (warp == 0) {
        const State total = joinWarp(lane < WARPS ? states[lane] : emptyState());
        if (lane == 0) {
            centres[blockIdx.x] = make_float2(total.sumX / total.sum, total.sumY / total.sum);
            confidence[blockIdx.x] = 1.0f / total.sum;
        }
    }
}

static void stopOn(cudaError_t status, const char* where) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
        exit(1);
    }
}

static void readFile(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || (size_t)in.tellg() != bytes || !in.seekg(0).read((char*)target, bytes)) {
        fprintf(stderr, "%s: expected a file of %zu bytes\n", path, bytes);
        exit(1);
    }
}

static void writeFile(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)source, bytes);
    out.close();
    if (!out) {
        fprintf(stderr, "%s: write error\n", path);
        exit(1);
    }
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    const int maps = sizes[0], height = sizes[1], width = sizes[2];
    if (maps < 1 || maps > MAX_MAPS || height < 1 || height > MAX_SIDE || width < 1 || width > MAX_SIDE) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    std::vector<float> heatmaps((size_t)maps * height * width), confidence(maps);
    std::vector<float2> centres(maps);
    readFile("data/heatmaps.bin", heatmaps.data(), heatmaps.size() * sizeof(float));

    float *dHeatmaps, *dConfidence;
    float2* dCentres;
    stopOn(cudaMalloc(&dHeatmaps, heatmaps.size() * sizeof(float)), "cudaMalloc");
    stopOn(cudaMalloc(&dConfidence, maps * sizeof(float)), "cudaMalloc");
    stopOn(cudaMalloc(&dCentres, maps * sizeof(float2)), "cudaMalloc");
    stopOn(cudaMemcpy(dHeatmaps, heatmaps.data(), heatmaps.size() * sizeof(float), cudaMemcpyHostToDevice), "copy in");
    softArgmax<<<maps, THREADS>>>(dHeatmaps, dCentres, dConfidence, height, width);
    stopOn(cudaGetLastError(), "softArgmax");
    stopOn(cudaMemcpy(centres.data(), dCentres, maps * sizeof(float2), cudaMemcpyDeviceToHost), "copy out");
    stopOn(cudaMemcpy(confidence.data(), dConfidence, maps * sizeof(float), cudaMemcpyDeviceToHost), "copy out");
    stopOn(cudaFree(dHeatmaps), "cudaFree");
    stopOn(cudaFree(dConfidence), "cudaFree");
    stopOn(cudaFree(dCentres), "cudaFree");

    writeFile("data/centres.bin", centres.data(), maps * sizeof(float2));
    writeFile("data/confidence.bin", confidence.data(), maps * sizeof(float));
    return 0;
}
