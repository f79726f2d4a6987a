#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define DAYS 20
#define REGIONS 1000
#define THREADS 64

// Works with shares of the population; the contact rate of the next day is fetched one day ahead.
__global__ void epidemic_shares(const float* __restrict__ contact, const float* __restrict__ population,
                                const float* __restrict__ infected, float* __restrict__ course,
                                float* __restrict__ peak) {
    int r = blockIdx.x * THREADS + threadIdx.x;
    if (r >= REGIONS) return;
    const float people = population[r];
    float ill = infected[r] / people, exposed = 0.0f, healthy = 1.0f - ill;
    float top = 0.0f;
    float b = contact[r];
    for (int d = 0; d < DAYS; ++d) {
        float tomorrow = d + 1 < DAYS ? contact[(d + 1) * REGIONS + r] : 0.0f;
        float fresh = b * healthy * ill;
        healthy -= fresh;
        ill = fmaf(0.25f, exposed, 0.9f * ill);
        exposed = fmaf(0.75f, exposed, fresh);
        course[d * REGIONS + r] = ill * people;
        top = fmaxf(top, ill);
        b = tomorrow;
    }
    peak[r] = top * people;
}

int main() {
    std::vector<float> host_contact(DAYS * REGIONS), host_population(REGIONS), host_infected(REGIONS),
            host_course(DAYS * REGIONS), host_peak(REGIONS);
    std::ifstream in_contact("data/contact.bin", std::ios::binary);
    if (!in_contact.read((char*)host_contact.data(), DAYS * REGIONS * sizeof(float))) return 1;
    std::ifstream in_population("data/population.bin", std::ios::binary);
    if (!in_population.read((char*)host_population.data(), REGIONS * sizeof(float))) return 1;
    std::ifstream in_infected("data/infected.bin", std::ios::binary);
    if (!in_infected.read((char*)host_infected.data(), REGIONS * sizeof(float))) return 1;
    float* d_contact = nullptr;
    float* d_population = nullptr;
    float* d_infected = nullptr;
    float* d_course = nullptr;
    float* d_peak = nullptr;
    cudaMalloc(&d_contact, DAYS * REGIONS * sizeof(float));
    cudaMalloc(&d_population, REGIONS * sizeof(float));
    cudaMalloc(&d_infected, REGIONS * sizeof(float));
    cudaMalloc(&d_course, DAYS * REGIONS * sizeof(float));
    cudaMalloc(&d_peak, REGIONS * sizeof(float));
    cudaMemcpy(d_contact, host_contact.data(), DAYS * REGIONS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_population, host_population.data(), REGIONS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_infected, host_infected.data(), REGIONS * sizeof(float), cudaMemcpyHostToDevice);
    epidemic_shares<<<(REGIONS + THREADS - 1) / THREADS, THREADS>>>(d_contact, d_population, d_infected,
            d_course, d_peak);
    cudaMemcpy(host_course.data(), d_course, DAYS * REGIONS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_peak.data(), d_peak, REGIONS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/course.bin", std::ios::binary).write((char*)host_course.data(),
            DAYS * REGIONS * sizeof(float));
    std::ofstream("data/peak.bin", std::ios::binary).write((char*)host_peak.data(), REGIONS * sizeof(float));
    cudaFree(d_contact); cudaFree(d_population); cudaFree(d_infected); cudaFree(d_course); cudaFree(d_peak);
    return 0;
}
