#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPoints = 500;
constexpr int kDipoles = 60;
constexpr int kTile = 128;

// Blocks go through the dipoles in tiles of 128 that are shared by all of their points.
__global__ void field_tiled(const float* __restrict__ point, const float* __restrict__ place,
                            const float* __restrict__ moment, float* __restrict__ field) {
    __shared__ float3 at[kTile], m[kTile];
    const int i = blockIdx.x * kTile + threadIdx.x;
    float3 p = make_float3(0.0f, 0.0f, 0.0f), b = p;
    if (i < kPoints) p = make_float3(point[3 * i], point[3 * i + 1], point[3 * i + 2]);
    for (int first = 0; first < kDipoles; first += kTile) {
        int j = first + threadIdx.x;
        if (j < kDipoles) {
            at[threadIdx.x] = make_float3(place[3 * j], place[3 * j + 1], place[3 * j + 2]);
            m[threadIdx.x] = make_float3(moment[3 * j], moment[3 * j + 1], moment[3 * j + 2]);
        }
        __syncthreads();
        int n = min(kTile, kDipoles - first);
        for (int t = 0; t < n; ++t) {
            float dx = p.x - at[t].x, dy = p.y - at[t].y, dz = p.z - at[t].z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.04f);
            float square = inverse * inverse, cube = square * inverse;
            float k = 3.0f * square * (m[t].x * dx + m[t].y * dy + m[t].z * dz);
            b.x += cube * (k * dx - m[t].x);
            b.y += cube * (k * dy - m[t].y);
            b.z += cube * (k * dz - m[t].z);
        }
        __syncthreads();
    }
    if (i < kPoints) {
        field[3 * i] = b.x;
        field[3 * i + 1] = b.y;
        field[3 * i + 2] = b.z;
    }
}

void launch(const float* d_point, const float* d_place, const float* d_moment, float* d_field) {
    field_tiled<<<(kPoints + kTile - 1) / kTile, kTile>>>(d_point, d_place, d_moment, d_field);
    cudaDeviceSynchronize();
}

int main() {
    std::vector<float> host_point(kPoints * 3);
    std::vector<float> host_place(kDipoles * 3);
    std::vector<float> host_moment(kDipoles * 3);
    std::vector<float> host_field(kPoints * 3);
    FILE* fin0 = fopen("data/point.bin", "rb");
    if (!fin0 || fread(host_point.data(), sizeof(float), host_point.size(), fin0) != host_point.size()) {
        fprintf(stderr, "cannot read data/point.bin\n");
        return 1;
    }
    fclose(fin0);
    FILE* fin1 = fopen("data/place.bin", "rb");
    if (!fin1 || fread(host_place.data(), sizeof(float), host_place.size(), fin1) != host_place.size()) {
        fprintf(stderr, "cannot read data/place.bin\n");
        return 1;
    }
    fclose(fin1);
    FILE* fin2 = fopen("data/moment.bin", "rb");
    if (!fin2 || fread(host_moment.data(), sizeof(float), host_moment.size(), fin2) != host_moment.size()) {
        fprintf(stderr, "cannot read data/moment.bin\n");
        return 1;
    }
    fclose(fin2);

    float *d_point, *d_place, *d_moment, *d_field;
    cudaMalloc(&d_point, kPoints * 3 * sizeof(float));
    cudaMalloc(&d_place, kDipoles * 3 * sizeof(float));
    cudaMalloc(&d_moment, kDipoles * 3 * sizeof(float));
    cudaMalloc(&d_field, kPoints * 3 * sizeof(float));
    cudaMemcpy(d_point, host_point.data(), kPoints * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_place, host_place.data(), kDipoles * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, host_moment.data(), kDipoles * 3 * sizeof(float), cudaMemcpyHostToDevice);
    launch(d_point, d_place, d_moment, d_field);
    cudaMemcpy(host_field.data(), d_field, kPoints * 3 * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out0 = fopen("data/field.bin", "wb");
    fwrite(host_field.data(), sizeof(float), host_field.size(), out0);
    fclose(out0);

    cudaFree(d_point);
    cudaFree(d_place);
    cudaFree(d_moment);
    cudaFree(d_field);
    return 0;
}
