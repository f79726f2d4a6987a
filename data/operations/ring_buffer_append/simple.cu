#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define CHANNELS 30
#define CAPACITY 400
#define CHUNK_LEN 300

__global__ void append(const float* buffer, const int* head, const float* chunk, const int* fresh,
                       float* updated, int* new_head) {
    int c = blockIdx.x;
    int start = head[c];
    int n = fresh[c];
    for (int s = threadIdx.x; s < CAPACITY; s += blockDim.x) {
        // Sample k lands on slot s; the last such sample counts.
        int k = (s - start + CAPACITY) % CAPACITY;
        float v = buffer[c * CAPACITY + s];
        while (k < n) {
            v = chunk[c * CHUNK_LEN + k];
            k += CAPACITY;
        }
        updated[c * CAPACITY + s] = v;
    }
    if (threadIdx.x == 0) new_head[c] = (start + n) % CAPACITY;
}

int main() {
    size_t buffer_len = (size_t)CHANNELS * CAPACITY;
    size_t chunk_len = (size_t)CHANNELS * CHUNK_LEN;
    std::vector<float> buffer(buffer_len), chunk(chunk_len), updated(buffer_len);
    std::vector<int> head(CHANNELS), fresh(CHANNELS), new_head(CHANNELS);
    std::ifstream f_buffer("data/buffer.bin", std::ios::binary);
    if (!f_buffer.read((char*)buffer.data(), buffer_len * sizeof(float))) return 1;
    std::ifstream f_head("data/head.bin", std::ios::binary);
    if (!f_head.read((char*)head.data(), CHANNELS * sizeof(int))) return 1;
    std::ifstream f_chunk("data/chunk.bin", std::ios::binary);
    if (!f_chunk.read((char*)chunk.data(), chunk_len * sizeof(float))) return 1;
    std::ifstream f_fresh("data/fresh.bin", std::ios::binary);
    if (!f_fresh.read((char*)fresh.data(), CHANNELS * sizeof(int))) return 1;
    float* d_buffer;
    int* d_head;
    float* d_chunk;
    int* d_fresh;
    float* d_updated;
    int* d_new_head;
    cudaMalloc(&d_buffer, buffer_len * sizeof(float));
    cudaMalloc(&d_head, CHANNELS * sizeof(int));
    cudaMalloc(&d_chunk, chunk_len * sizeof(float));
    cudaMalloc(&d_fresh, CHANNELS * sizeof(int));
    cudaMalloc(&d_updated, buffer_len * sizeof(float));
    cudaMalloc(&d_new_head, CHANNELS * sizeof(int));
    cudaMemcpy(d_buffer, buffer.data(), buffer_len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_head, head.data(), CHANNELS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_chunk, chunk.data(), chunk_len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_fresh, fresh.data(), CHANNELS * sizeof(int), cudaMemcpyHostToDevice);
    append<<<CHANNELS, 256>>>(d_buffer, d_head, d_chunk, d_fresh, d_updated, d_new_head);
    cudaMemcpy(updated.data(), d_updated, buffer_len * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(new_head.data(), d_new_head, CHANNELS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/updated.bin", std::ios::binary).write((char*)updated.data(), buffer_len * sizeof(float));
    std::ofstream("data/new_head.bin", std::ios::binary).write((char*)new_head.data(), CHANNELS * sizeof(int));
    return 0;
}
