#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>

void load_array(const char* path, float* data, size_t num) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)data, num * sizeof(float))) {
        std::cerr << "failed to read " << path << "\n";
        std::exit(1);
    }
}

void save_array(const char* path, const float* data, size_t num) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), num * sizeof(float));
}
//@given

constexpr int kDays = 20;
constexpr int kRegions = 1000;

__global__ void epidemic(const float* contact, const float* population, const float* infected,
                         float* course, float* peak) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kRegions) return;
    float n = population[r];
    float i = infected[r];
    float s = n - i;
    float e = 0.0f;
    float highest = 0.0f;
    for (int d = 0; d < kDays; ++d) {
        float fresh = contact[d * kRegions + r] * s * i / n;
        float onset = 0.25f * e;
        float cured = 0.1f * i;
        s -= fresh;
        e += fresh - onset;
        i += onset - cured;
        course[d * kRegions + r] = i;
        highest = fmaxf(highest, i);
    }
    peak[r] = highest;
}

int main() {
    float* h_contact = new float[kDays * kRegions];
    float* h_population = new float[kRegions];
    float* h_infected = new float[kRegions];
    float* h_course = new float[kDays * kRegions];
    float* h_peak = new float[kRegions];
    load_array("data/contact.bin", h_contact, kDays * kRegions);
    load_array("data/population.bin", h_population, kRegions);
    load_array("data/infected.bin", h_infected, kRegions);

    float* d_contact;
    float* d_population;
    float* d_infected;
    float* d_course;
    float* d_peak;
    cudaMalloc(&d_contact, kDays * kRegions * sizeof(float));
    cudaMalloc(&d_population, kRegions * sizeof(float));
    cudaMalloc(&d_infected, kRegions * sizeof(float));
    cudaMalloc(&d_course, kDays * kRegions * sizeof(float));
    cudaMalloc(&d_peak, kRegions * sizeof(float));
    cudaMemcpy(d_contact, h_contact, kDays * kRegions * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_population, h_population, kRegions * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_infected, h_infected, kRegions * sizeof(float), cudaMemcpyHostToDevice);

    epidemic<<<(kRegions + 127) / 128, 128>>>(d_contact, d_population, d_infected, d_course, d_peak);
    cudaMemcpy(h_course, d_course, kDays * kRegions * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_peak, d_peak, kRegions * sizeof(float), cudaMemcpyDeviceToHost);

    save_array("data/course.bin", h_course, kDays * kRegions);
    save_array("data/peak.bin", h_peak, kRegions);

    cudaFree(d_contact);
    cudaFree(d_population);
    cudaFree(d_infected);
    cudaFree(d_course);
    cudaFree(d_peak);
    delete[] h_contact;
    delete[] h_population;
    delete[] h_infected;
    delete[] h_course;
    delete[] h_peak;
    return 0;
}
