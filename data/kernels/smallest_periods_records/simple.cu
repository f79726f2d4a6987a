#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t e) {
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
    std::exit(1);
}

// The prefix function of Knuth, Morris and Pratt: longest[i] is the longest border of the first i + 1 bytes.
__global__ void findPeriods(const uint8_t* text, const int* lengths, int records, int width, short* scratch,
                            int* period, int* borders) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= records) return;
    const uint8_t* s = text + (size_t)r * width;
    short* longest = scratch + (size_t)r * width;
    int length = lengths[r], k = 0, count = 0;
    if (length > 0) longest[0] = 0;
    for (int i = 1; i < length; ++i) {
        while (k > 0 && s[i] != s[k]) k = longest[k - 1];
        if (s[i] == s[k]) ++k;
        longest[i] = (short)k;
    }
    period[r] = length - k;
    for (; k > 0; k = longest[k - 1]) ++count;
    borders[r] = count;
}

template <typename T>
static std::vector<T> readAll(const char* path, size_t count) {
    std::vector<T> data(count);
    FILE* f = std::fopen(path, "rb");
    if (!f || std::fread(data.data(), sizeof(T), count, f) != count || std::fgetc(f) != EOF) {
        std::fprintf(stderr, "cannot read %s\n", path);
        std::exit(1);
    }
    std::fclose(f);
    return data;
}

static void writeAll(const char* path, const int* device, int count) {
    std::vector<int> data(count);
    check(cudaMemcpy(data.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* f = std::fopen(path, "wb");
    if (!f || std::fwrite(data.data(), sizeof(int), count, f) != data.size() || std::fclose(f) != 0) {
        std::fprintf(stderr, "cannot write %s\n", path);
        std::exit(1);
    }
}

int main() {
    auto sizes = readAll<int>("data/sizes.bin", 2);
    int records = sizes[0], width = sizes[1];
    if (records < 1 || records > 65535 || width < 1 || width > 2048) {
        std::fprintf(stderr, "bad sizes\n");
        return 1;
    }
    auto text = readAll<uint8_t>("data/text.bin", (size_t)records * width);
    auto lengths = readAll<int>("data/lengths.bin", records);
    for (int length : lengths) {
        if (length < 0 || length > width) {
            std::fprintf(stderr, "bad length %d\n", length);
            return 1;
        }
    }
    uint8_t* dText;
    int *dLengths, *dPeriod, *dBorders;
    short* scratch;
    check(cudaMalloc(&dText, text.size()));
    check(cudaMalloc(&scratch, text.size() * sizeof(short)));
    check(cudaMalloc(&dLengths, records * sizeof(int)));
    check(cudaMalloc(&dPeriod, records * sizeof(int)));
    check(cudaMalloc(&dBorders, records * sizeof(int)));
    check(cudaMemcpy(dText, text.data(), text.size(), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dLengths, lengths.data(), records * sizeof(int), cudaMemcpyHostToDevice));
    findPeriods<<<(records + 127) / 128, 128>>>(dText, dLengths, records, width, scratch, dPeriod, dBorders);
    check(cudaGetLastError());
    writeAll("data/period.bin", dPeriod, records);
    writeAll("data/borders.bin", dBorders, records);
    return 0;
}
