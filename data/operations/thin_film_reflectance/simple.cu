#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
void read_into(const std::string& path, std::vector<T>& v) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) throw std::runtime_error("cannot read " + path);
    fclose(f);
}

constexpr int kFilms = 100;
constexpr int kWaves = 200;

__global__ void film_kernel(const float* thickness, const float* index_film, const float* wavelength,
                            float* reflectance) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int f = blockIdx.y * blockDim.y + threadIdx.y;
    if (f >= kFilms || w >= kWaves) return;
    float n1 = index_film[f];
    float r01 = (1.0f - n1) / (1.0f + n1);
    float r12 = (n1 - 1.52f) / (n1 + 1.52f);
    float phase = 4.0f * 3.14159265f * n1 * thickness[f] / wavelength[w];
    float mix = 2.0f * r01 * r12 * cosf(phase);
    reflectance[f * kWaves + w] = (r01 * r01 + r12 * r12 + mix) / (1.0f + r01 * r01 * r12 * r12 + mix);
}

int main() {
    try {
        std::vector<float> h_thickness(kFilms);
        std::vector<float> h_index_film(kFilms);
        std::vector<float> h_wavelength(kWaves);
        std::vector<float> h_reflectance(kFilms * kWaves);
        read_into("data/thickness.bin", h_thickness);
        read_into("data/index_film.bin", h_index_film);
        read_into("data/wavelength.bin", h_wavelength);

        DeviceBuffer<float> d_thickness(kFilms);
        DeviceBuffer<float> d_index_film(kFilms);
        DeviceBuffer<float> d_wavelength(kWaves);
        DeviceBuffer<float> d_reflectance(kFilms * kWaves);
        cudaMemcpy(d_thickness.ptr, h_thickness.data(), kFilms * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_index_film.ptr, h_index_film.data(), kFilms * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_wavelength.ptr, h_wavelength.data(), kWaves * sizeof(float), cudaMemcpyHostToDevice);

        dim3 block(32, 8);
        dim3 grid((kWaves + 31) / 32, (kFilms + 8 - 1) / 8);
        film_kernel<<<grid, block>>>(d_thickness.ptr, d_index_film.ptr, d_wavelength.ptr, d_reflectance.ptr);
        if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

        cudaMemcpy(h_reflectance.data(), d_reflectance.ptr, kFilms * kWaves * sizeof(float),
            cudaMemcpyDeviceToHost);
        FILE* out = fopen("data/reflectance.bin", "wb");
        if (!out) return 1;
        fwrite(h_reflectance.data(), sizeof(float), h_reflectance.size(), out);
        fclose(out);
    } catch (const std::exception& e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
