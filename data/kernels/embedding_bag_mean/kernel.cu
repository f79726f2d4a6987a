#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxTableRows = 1000000, kMaxDim4 = 256, kMaxBags = 1000000, kMaxEntries = 10000000;
constexpr int kWarps = 8;  // bags per block

__global__ void bagMeans(const float4* __restrict__ table, const int* __restrict__ offsets,
                         const int* __restrict__ indices, float4* __restrict__ means, int dim4, int bags) {
    const int bag = blockIdx.x * kWarps + threadIdx.y;
    if (bag >= bags) return;
    const int begin = offsets[bag], end = offsets[bag + 1];
    const float scale = end > begin ? 1.0f / (end - begin) : 0.0f;

    for (int group = threadIdx.x; group < dim4; group += 32) {
        float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int e = begin; e < end; ++e) {
            const float4 part = table[static_cast<size_t>(indices[e]) * dim4 + group];
            sum.x += part.x;
            sum.y += part.y;
            sum.z += part.z;
            sum.w += part.w;
        }
        means[static_cast<size_t>(bag) * dim4 + group] =
            make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale);
    }
}

static void require(bool condition, const char* path, const char* complaint) {
    if (!condition) {
        fprintf(stderr, "%s: %s\n", path, complaint);
        exit(1);
    }
}

static void check(cudaError_t status) { require(status == cudaSuccess, "CUDA", cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    require(file != nullptr, path, "cannot be opened");
    const bool exact = fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    fclose(file);
    require(exact, path, "does not have the expected length");
    return values;
}

// float4 pointers come from here as well: cudaMalloc aligns far beyond 16 bytes.
template <typename T>
static T* upload(const void* host, size_t bytes) {
    T* device = nullptr;
    check(cudaMalloc(&device, bytes));
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 4);
    const int limits[] = {kMaxTableRows, kMaxDim4, kMaxBags, kMaxEntries};
    for (int i = 0; i < 4; ++i) {
        require(sizes[i] >= 1 && sizes[i] <= limits[i], "data/sizes.bin", "an entry is out of range");
    }
    const int tableRows = sizes[0], dim4 = sizes[1], bags = sizes[2], entries = sizes[3];

    const std::vector<float> table = readFile<float>("data/table.bin", static_cast<size_t>(tableRows) * dim4 * 4);
    const std::vector<int> offsets = readFile<int>("data/offsets.bin", static_cast<size_t>(bags) + 1);
    const std::vector<int> indices = readFile<int>("data/indices.bin", entries);
    require(offsets.front() == 0 && offsets.back() == entries, "data/offsets.bin", "must run from 0 to entries");
    for (int b = 0; b < bags; ++b) require(offsets[b] <= offsets[b + 1], "data/offsets.bin", "decreases");
    for (int index : indices) require(index >= 0 && index < tableRows, "data/indices.bin", "names no table row");

    float4* dTable = upload<float4>(table.data(), table.size() * sizeof(float));
    int* dOffsets = upload<int>(offsets.data(), offsets.size() * sizeof(int));
    int* dIndices = upload<int>(indices.data(), indices.size() * sizeof(int));
    std::vector<float4> means(static_cast<size_t>(bags) * dim4);
    float4* dMeans = nullptr;
    check(cudaMalloc(&dMeans, means.size() * sizeof(float4)));

    bagMeans<<<(bags + kWarps - 1) / kWarps, dim3(32, kWarps)>>>(dTable, dOffsets, dIndices, dMeans, dim4, bags);
    check(cudaGetLastError());
    check(cudaMemcpy(means.data(), dMeans, means.size() * sizeof(float4), cudaMemcpyDeviceToHost));
    check(cudaFree(dTable));
    check(cudaFree(dOffsets));
    check(cudaFree(dIndices));
    check(cudaFree(dMeans));

    FILE* out = fopen("data/means.bin", "wb");
    require(out != nullptr, "data/means.bin", "cannot be created");
    const bool complete = fwrite(means.data(), sizeof(float4), means.size(), out) == means.size();
    require(fclose(out) == 0 && complete, "data/means.bin", "cannot be written");
    return 0;
}
