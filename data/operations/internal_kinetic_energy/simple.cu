#include <cstdio>
#include <cuda_runtime.h>

constexpr int kMolecules = 300;
constexpr int kAtoms = 12;

static bool read_data(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(dst, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

__global__ void split_motion(const float* mass, const float* velocity, float* drift, float* internal) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= kMolecules) return;
    const float* w = mass + m * kAtoms;
    const float* v = velocity + 3 * m * kAtoms;
    float total = 0.0f, px = 0.0f, py = 0.0f, pz = 0.0f;
    for (int a = 0; a < kAtoms; ++a) {
        total += w[a];
        px += w[a] * v[3 * a];
        py += w[a] * v[3 * a + 1];
        pz += w[a] * v[3 * a + 2];
    }
    px /= total;
    py /= total;
    pz /= total;
    float energy = 0.0f;
    for (int a = 0; a < kAtoms; ++a) {
        float dx = v[3 * a] - px, dy = v[3 * a + 1] - py, dz = v[3 * a + 2] - pz;
        energy += w[a] * (dx * dx + dy * dy + dz * dz);
    }
    drift[3 * m] = px;
    drift[3 * m + 1] = py;
    drift[3 * m + 2] = pz;
    internal[m] = 0.5f * energy;
}

int main() {
    float* mass;
    float* velocity;
    float* drift;
    float* internal;
    cudaMallocManaged(&mass, kMolecules * kAtoms * sizeof(float));
    cudaMallocManaged(&velocity, kMolecules * kAtoms * 3 * sizeof(float));
    cudaMallocManaged(&drift, kMolecules * 3 * sizeof(float));
    cudaMallocManaged(&internal, kMolecules * sizeof(float));

    bool ok = read_data("data/mass.bin", mass, kMolecules * kAtoms * sizeof(float));
    ok = ok && read_data("data/velocity.bin", velocity, kMolecules * kAtoms * 3 * sizeof(float));
    if (!ok) {
        fprintf(stderr, "cannot read the inputs\n");
        return 1;
    }

    split_motion<<<(kMolecules + 127) / 128, 128>>>(mass, velocity, drift, internal);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
        return 1;
    }

    FILE* out = fopen("data/drift.bin", "wb");
    fwrite(drift, sizeof(float), kMolecules * 3, out);
    fclose(out);
    out = fopen("data/internal.bin", "wb");
    fwrite(internal, sizeof(float), kMolecules, out);
    fclose(out);

    cudaFree(mass);
    cudaFree(velocity);
    cudaFree(drift);
    cudaFree(internal);
    return 0;
}
