#include <cuda_runtime.h>
#include <cstdlib>
#include <cstdio>

void load_array(const char* path, void* data, size_t num_bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(data, 1, num_bytes, f) != num_bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void save_array(const char* path, const void* data, size_t num_bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(data, 1, num_bytes, f) != num_bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

constexpr int NODES = 3000;

__global__ void climb(const int* parent, const float* length, int* root, float* distance, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int at = v;
    float sum = 0.0f;
    while (parent[at] != at) {
        sum += length[at];
        at = parent[at];
    }
    root[v] = at;
    distance[v] = sum;
}

int main() {
    int* parent_h = new int[NODES];
    float* length_h = new float[NODES];
    int* root_h = new int[NODES];
    float* distance_h = new float[NODES];
    load_array("data/parent.bin", parent_h, NODES * sizeof(int));
    load_array("data/length.bin", length_h, NODES * sizeof(float));

    int* parent_d = nullptr;
    float* length_d = nullptr;
    int* root_d = nullptr;
    float* distance_d = nullptr;
    cudaMalloc(&parent_d, NODES * sizeof(int));
    cudaMemcpy(parent_d, parent_h, NODES * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&length_d, NODES * sizeof(float));
    cudaMemcpy(length_d, length_h, NODES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&root_d, NODES * sizeof(int));
    cudaMalloc(&distance_d, NODES * sizeof(float));

    climb<<<DIV_UP(NODES, 256), 256>>>(parent_d, length_d, root_d, distance_d, NODES);
    cudaMemcpy(root_h, root_d, NODES * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(distance_h, distance_d, NODES * sizeof(float), cudaMemcpyDeviceToHost);

    save_array("data/root.bin", root_h, NODES * sizeof(int));
    save_array("data/distance.bin", distance_h, NODES * sizeof(float));

    cudaFree(parent_d);
    cudaFree(length_d);
    cudaFree(root_d);
    cudaFree(distance_d);
    delete[] parent_h;
    delete[] length_h;
    delete[] root_h;
    delete[] distance_h;
    return 0;
}
