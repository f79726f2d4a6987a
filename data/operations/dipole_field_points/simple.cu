#include <vector>
#include <cstdlib>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int POINTS = 500;
constexpr int DIPOLES = 60;

inline void ensure(cudaError_t e, const char* msg) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e));
        exit(1);
    }
}

bool readFile(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t got = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return got == v.size();
}

bool writeFile(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    size_t put = fwrite(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return put == v.size();
}

__global__ void dipoleField(const float* point, const float* place, const float* moment, float* field) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= POINTS) return;
    float x = point[3 * i], y = point[3 * i + 1], z = point[3 * i + 2];
    float bx = 0.0f, by = 0.0f, bz = 0.0f;
    for (int j = 0; j < DIPOLES; ++j) {
        float dx = x - place[3 * j], dy = y - place[3 * j + 1], dz = z - place[3 * j + 2];
        float mx = moment[3 * j], my = moment[3 * j + 1], mz = moment[3 * j + 2];
        float r2 = dx * dx + dy * dy + dz * dz + 0.04f;
        float r = sqrtf(r2);
        float r3 = r2 * r;
        float k = 3.0f * (mx * dx + my * dy + mz * dz) / (r3 * r2);
        bx += k * dx - mx / r3;
        by += k * dy - my / r3;
        bz += k * dz - mz / r3;
    }
    field[3 * i] = bx;
    field[3 * i + 1] = by;
    field[3 * i + 2] = bz;
}

int main() {
    std::vector<float> h_point(POINTS * 3);
    std::vector<float> h_place(DIPOLES * 3);
    std::vector<float> h_moment(DIPOLES * 3);
    std::vector<float> h_field(POINTS * 3);
    if (!readFile("data/point.bin", h_point) ||
        !readFile("data/place.bin", h_place) ||
        !readFile("data/moment.bin", h_moment)) {
        fprintf(stderr, "cannot read inputs\n");
        return 1;
    }

    float* d_point;
    float* d_place;
    float* d_moment;
    float* d_field;
    ensure(cudaMalloc(&d_point, POINTS * 3 * sizeof(float)), "device memory for point");
    ensure(cudaMalloc(&d_place, DIPOLES * 3 * sizeof(float)), "device memory for place");
    ensure(cudaMalloc(&d_moment, DIPOLES * 3 * sizeof(float)), "device memory for moment");
    ensure(cudaMalloc(&d_field, POINTS * 3 * sizeof(float)), "device memory for field");
    ensure(cudaMemcpy(d_point, h_point.data(), POINTS * 3 * sizeof(float), cudaMemcpyHostToDevice),
            "copy point");
    ensure(cudaMemcpy(d_place, h_place.data(), DIPOLES * 3 * sizeof(float), cudaMemcpyHostToDevice),
            "copy place");
    ensure(cudaMemcpy(d_moment, h_moment.data(), DIPOLES * 3 * sizeof(float), cudaMemcpyHostToDevice),
            "copy moment");

    dipoleField<<<(POINTS + 127) / 128, 128>>>(d_point, d_place, d_moment, d_field);
    ensure(cudaGetLastError(), "launch");
    ensure(cudaMemcpy(h_field.data(), d_field, POINTS * 3 * sizeof(float), cudaMemcpyDeviceToHost),
            "copy field back");

    cudaFree(d_point);
    cudaFree(d_place);
    cudaFree(d_moment);
    cudaFree(d_field);

    if (!writeFile("data/field.bin", h_field)) {
        fprintf(stderr, "cannot write data/field.bin\n");
        return 1;
    }
    return 0;
}
