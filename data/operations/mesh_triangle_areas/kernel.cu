#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kNv = 1000;
constexpr int kNf = 2000;
const int kBlock = 128;

__device__ float3 corner(const float* __restrict__ vertices, int v) {
    return make_float3(vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
}

// Face indices and centroids pass through shared memory, so that global accesses are contiguous.
__global__ void face_geometry(const float* __restrict__ vertices, const int* __restrict__ faces,
                              float* __restrict__ area, float* __restrict__ centroid) {
    __shared__ int index[3 * kBlock];
    __shared__ float center[3 * kBlock];
    const int first = blockIdx.x * kBlock;
    const int count = min(kBlock, kNf - first);
    for (int k = threadIdx.x; k < 3 * count; k += kBlock) index[k] = faces[3 * first + k];
    __syncthreads();

    const int t = threadIdx.x;
    if (t < count) {
        float3 a = corner(vertices, index[3 * t]);
        float3 b = corner(vertices, index[3 * t + 1]);
        float3 c = corner(vertices, index[3 * t + 2]);
        float3 u = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
        float3 v = make_float3(c.x - a.x, c.y - a.y, c.z - a.z);
        float nx = u.y * v.z - u.z * v.y, ny = u.z * v.x - u.x * v.z, nz = u.x * v.y - u.y * v.x;
        area[first + t] = 0.5f * sqrtf(nx * nx + ny * ny + nz * nz);
        const float third = 1.0f / 3.0f;
        center[3 * t] = (a.x + b.x + c.x) * third;
        center[3 * t + 1] = (a.y + b.y + c.y) * third;
        center[3 * t + 2] = (a.z + b.z + c.z) * third;
    }
    __syncthreads();
    for (int k = t; k < 3 * count; k += kBlock) centroid[3 * first + k] = center[k];
}

int main() {
    auto vertices = read_vector<float>("data/vertices.bin", kNv * 3);
    const auto faces = read_vector<int>("data/faces.bin", kNf * 3);
    std::vector<float> area(kNf);
    std::vector<float> centroid(kNf * 3);

    float* dev_vertices;
    int* dev_faces;
    float* dev_area;
    float* dev_centroid;
    cudaMalloc(&dev_vertices, sizeof(float) * kNv * 3);
    cudaMalloc(&dev_faces, sizeof(int) * kNf * 3);
    cudaMalloc(&dev_area, sizeof(float) * kNf);
    cudaMalloc(&dev_centroid, sizeof(float) * kNf * 3);
    cudaMemcpy(dev_vertices, vertices.data(), sizeof(float) * kNv * 3, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_faces, faces.data(), sizeof(int) * kNf * 3, cudaMemcpyHostToDevice);

    face_geometry<<<(kNf + kBlock - 1) / kBlock, kBlock>>>(dev_vertices, dev_faces, dev_area, dev_centroid);

    cudaMemcpy(area.data(), dev_area, sizeof(float) * kNf, cudaMemcpyDeviceToHost);
    cudaMemcpy(centroid.data(), dev_centroid, sizeof(float) * kNf * 3, cudaMemcpyDeviceToHost);
    write_vector("data/area.bin", area);
    write_vector("data/centroid.bin", centroid);

    cudaFree(dev_vertices);
    cudaFree(dev_faces);
    cudaFree(dev_area);
    cudaFree(dev_centroid);
}
