#include <fstream>
#include <iostream>

#include <cuda_runtime.h>

constexpr int kStations = 24;
constexpr int kHours = 500;

__global__ void dew_point_station(const float *__restrict__ temp, const float *__restrict__ humidity,
                                  const float *__restrict__ offset, float *__restrict__ dew,
                                          float *__restrict__ spread) {
    const float shift = offset[blockIdx.y];
    const size_t base = (size_t)blockIdx.y * kHours;
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < kHours) {
        const float t = temp[base + k] + shift;
        const float h = __saturatef(fmaxf(humidity[base + k], 1.0f) * 0.01f);
        const float g = logf(h) + 17.62f * t / (243.12f + t);
        const float d = 243.12f * g / (17.62f - g);
        dew[base + k] = d;
        spread[base + k] = t - d;
    }
}

int main() {
    const int count = kStations * kHours;
    float *temp, *humidity, *offset, *dew, *spread;
    cudaMallocManaged(&temp, count * sizeof(float));
    cudaMallocManaged(&humidity, count * sizeof(float));
    cudaMallocManaged(&offset, kStations * sizeof(float));
    cudaMallocManaged(&dew, count * sizeof(float));
    cudaMallocManaged(&spread, count * sizeof(float));
    std::ifstream temp_in("data/temp.bin", std::ios::binary);
    if (!temp_in.read(reinterpret_cast<char*>(temp), count * sizeof(float))) {
        std::cerr << "cannot read data/temp.bin\n";
        return 1;
    }
    std::ifstream humidity_in("data/humidity.bin", std::ios::binary);
    if (!humidity_in.read(reinterpret_cast<char*>(humidity), count * sizeof(float))) {
        std::cerr << "cannot read data/humidity.bin\n";
        return 1;
    }
    std::ifstream offset_in("data/offset.bin", std::ios::binary);
    if (!offset_in.read(reinterpret_cast<char*>(offset), kStations * sizeof(float))) {
        std::cerr << "cannot read data/offset.bin\n";
        return 1;
    }

    dim3 grid((kHours + 127) / 128, kStations);
    dew_point_station<<<grid, 128>>>(temp, humidity, offset, dew, spread);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::ofstream dew_out("data/dew.bin", std::ios::binary);
    dew_out.write(reinterpret_cast<const char*>(dew), count * sizeof(float));
    std::ofstream spread_out("data/spread.bin", std::ios::binary);
    spread_out.write(reinterpret_cast<const char*>(spread), count * sizeof(float));

    cudaFree(spread);
    cudaFree(dew);
    cudaFree(offset);
    cudaFree(humidity);
    cudaFree(temp);
    return 0;
}
