#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* data, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void store(const std::string& path, const void* data, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

#define ROWS 80
#define WIDTH 150
const unsigned FULL = 0xffffffffu;
const int WARPS = 4;

// A warp walks along a line, 32 bytes at a time; word starts are found on the ballot of letters.
__global__ void title_lines(const unsigned char* __restrict__ lines, unsigned char* __restrict__ titled,
                            int* __restrict__ words) {
    int r = blockIdx.x * WARPS + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= ROWS) return;
    size_t row = (size_t)r * WIDTH;
    unsigned before = 0;
    int count = 0;
    for (int first = 0; first < WIDTH; first += 32) {
        int c = first + lane;
        unsigned char ch = c < WIDTH ? lines[row + c] : ' ';
        unsigned char small = ch | 0x20;
        bool letter = small >= 'a' && small <= 'z';
        unsigned letters = __ballot_sync(FULL, letter);
        unsigned starts = letters & ~(letters << 1 | before);
        before = letters >> 31;
        count += __popc(starts);
        if (letter) ch = starts >> lane & 1 ? small - 32 : small;
        if (c < WIDTH) titled[row + c] = ch;
    }
    if (lane == 0) words[r] = count;
}

int main() {
    const size_t n_lines = ROWS * WIDTH;
    unsigned char* lines = new unsigned char[n_lines];
    unsigned char* titled = new unsigned char[n_lines];
    int* words = new int[ROWS];
    load("data/lines.bin", lines, n_lines * sizeof(unsigned char));

    unsigned char* dev_lines;
    cudaMalloc(&dev_lines, n_lines * sizeof(unsigned char));
    unsigned char* dev_titled;
    cudaMalloc(&dev_titled, n_lines * sizeof(unsigned char));
    int* dev_words;
    cudaMalloc(&dev_words, ROWS * sizeof(int));
    cudaMemcpy(dev_lines, lines, n_lines * sizeof(unsigned char), cudaMemcpyHostToDevice);

    title_lines<<<ceil_div(ROWS, WARPS), WARPS * 32>>>(dev_lines, dev_titled, dev_words);

    cudaMemcpy(titled, dev_titled, n_lines * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(words, dev_words, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/titled.bin", titled, n_lines * sizeof(unsigned char));
    store("data/words.bin", words, ROWS * sizeof(int));

    cudaFree(dev_lines);
    cudaFree(dev_titled);
    cudaFree(dev_words);
    delete[] lines;
    delete[] titled;
    delete[] words;
    return 0;
}
