#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>

void load_array(const std::string& path, void* buf, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (f == nullptr || fread(buf, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void save_array(const std::string& path, const void* buf, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (f == nullptr || fwrite(buf, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int VOXELS = 2000;
constexpr int PULSES = 6;
constexpr int THREADS = 128;

// Sine and cosine of the flip angles are the same for all voxels: each block finds them once.
__global__ void sequence_shared(const float* __restrict__ tissue, const float* __restrict__ pulse,
                                float* __restrict__ magnetization, float* __restrict__ strongest) {
    __shared__ float3 step[PULSES];
    for (int p = threadIdx.x; p < PULSES; p += THREADS) {
        float sine, cosine;
        sincosf(pulse[2 * p], &sine, &cosine);
        step[p] = make_float3(sine, cosine, pulse[2 * p + 1]);
    }
    __syncthreads();
    int v = blockIdx.x * THREADS + threadIdx.x;
    if (v >= VOXELS) return;
    float r1 = tissue[3 * v], r2 = tissue[3 * v + 1], w = tissue[3 * v + 2];
    float x = 0.0f, y = 0.0f, z = 1.0f, square = 0.0f;
    for (int p = 0; p < PULSES; ++p) {
        float3 q = step[p];
        float turned = y * q.y - z * q.x;
        z = y * q.x + z * q.y;
        if (p > 0) square = fmaxf(square, x * x + turned * turned);
        float s, c;
        sincosf(w * q.z, &s, &c);
        float decay = expf(-r2 * q.z);
        y = decay * (x * s + turned * c);
        x = decay * (x * c - turned * s);
        z = fmaf(z - 1.0f, expf(-r1 * q.z), 1.0f);
    }
    magnetization[3 * v] = x;
    magnetization[3 * v + 1] = y;
    magnetization[3 * v + 2] = z;
    strongest[v] = sqrtf(square);
}

int main() {
    float* tissue = new float[VOXELS * 3];
    float* pulse = new float[PULSES * 2];
    float* magnetization = new float[VOXELS * 3];
    float* strongest = new float[VOXELS];
    load_array("data/tissue.bin", tissue, VOXELS * 3 * sizeof(float));
    load_array("data/pulse.bin", pulse, PULSES * 2 * sizeof(float));

    float *d_tissue, *d_pulse, *d_magnetization, *d_strongest;
    cudaMalloc(&d_tissue, VOXELS * 3 * sizeof(float));
    cudaMalloc(&d_pulse, PULSES * 2 * sizeof(float));
    cudaMalloc(&d_magnetization, VOXELS * 3 * sizeof(float));
    cudaMalloc(&d_strongest, VOXELS * sizeof(float));
    cudaMemcpy(d_tissue, tissue, VOXELS * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pulse, pulse, PULSES * 2 * sizeof(float), cudaMemcpyHostToDevice);

    sequence_shared<<<CEIL_DIV(VOXELS, THREADS), THREADS>>>(d_tissue, d_pulse, d_magnetization, d_strongest);
    cudaMemcpy(magnetization, d_magnetization, VOXELS * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(strongest, d_strongest, VOXELS * sizeof(float), cudaMemcpyDeviceToHost);

    save_array("data/magnetization.bin", magnetization, VOXELS * 3 * sizeof(float));
    save_array("data/strongest.bin", strongest, VOXELS * sizeof(float));

    cudaFree(d_tissue);
    cudaFree(d_pulse);
    cudaFree(d_magnetization);
    cudaFree(d_strongest);
    delete[] tissue;
    delete[] pulse;
    delete[] magnetization;
    delete[] strongest;
    return 0;
}
