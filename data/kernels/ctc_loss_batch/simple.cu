#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__device__ float addLogs(float a, float b) {
    float top = fmaxf(a, b);
    return top == -INFINITY ? top : top + logf(expf(a - top) + expf(b - top));
}

// One thread walks one sequence; alpha is its row of global memory, updated in place from the last state down.
__global__ void ctcLoss(const float* logProbs, const int* targets, const int* frameCount, const int* labelCount,
                        float* alphas, float* loss, int batch, int classes, int labels) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    const int* label = targets + (size_t)b * labels;
    int states = 2 * labelCount[b] + 1;
    float* alpha = alphas + (size_t)b * (2 * labels + 1);
    for (int t = 0; t < frameCount[b]; ++t) {
        const float* now = logProbs + ((size_t)t * batch + b) * classes;
        for (int s = states - 1; s >= 0; --s) {
            float sum;
            if (t == 0) {
                sum = s < 2 ? 0.0f : -INFINITY;
            } else {
                sum = alpha[s];
                if (s > 0) sum = addLogs(sum, alpha[s - 1]);
                if (s > 2 && s % 2 == 1 && label[s / 2] != label[s / 2 - 1]) sum = addLogs(sum, alpha[s - 2]);
            }
            alpha[s] = sum + now[s % 2 ? label[s / 2] : 0];
        }
    }
    float total = alpha[states - 1];
    if (states > 1) total = addLogs(total, alpha[states - 2]);
    loss[b] = -total;
}

static void must(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void cuda(cudaError_t code) { must(code == cudaSuccess, cudaGetErrorString(code)); }

static void* readFile(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* f = fopen(path, "rb");
    must(data && f && fread(data, 1, bytes, f) == bytes && fgetc(f) == EOF, path);
    fclose(f);
    return data;
}

static void* copyToDevice(const void* host, size_t bytes) {
    void* device;
    cuda(cudaMalloc(&device, bytes));
    if (host) cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
}

int main() {
    int* sizes = (int*)readFile("data/sizes.bin", 16);
    int frames = sizes[0], batch = sizes[1], classes = sizes[2], labels = sizes[3];
    must(frames >= 1 && frames <= 2048 && batch >= 1 && batch <= 4096, "sizes");
    must(classes >= 2 && classes <= 1024 && labels >= 1 && labels <= 512, "sizes");
    size_t cells = (size_t)frames * batch * classes;
    void* logProbs = readFile("data/log_probs.bin", cells * 4);
    int* targets = (int*)readFile("data/targets.bin", (size_t)batch * labels * 4);
    int* frameCount = (int*)readFile("data/frame_count.bin", batch * 4);
    int* labelCount = (int*)readFile("data/label_count.bin", batch * 4);
    for (int i = 0; i < batch * labels; ++i) must(targets[i] >= 1 && targets[i] < classes, "targets");
    for (int b = 0; b < batch; ++b) must(frameCount[b] >= 1 && frameCount[b] <= frames, "frame_count");
    for (int b = 0; b < batch; ++b) must(labelCount[b] >= 0 && labelCount[b] <= labels, "label_count");

    float* dLoss = (float*)copyToDevice(NULL, batch * 4);
    float* alphas = (float*)copyToDevice(NULL, (size_t)batch * (2 * labels + 1) * 4);
    ctcLoss<<<(batch + 31) / 32, 32>>>(
        (float*)copyToDevice(logProbs, cells * 4), (int*)copyToDevice(targets, (size_t)batch * labels * 4),
        (int*)copyToDevice(frameCount, batch * 4), (int*)copyToDevice(labelCount, batch * 4), alphas, dLoss, batch,
        classes, labels);
    cuda(cudaGetLastError());
    float* loss = (float*)malloc(batch * 4);
    must(loss != NULL, "out of memory");
    cuda(cudaMemcpy(loss, dLoss, batch * 4, cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/loss.bin", "wb");
    must(out && fwrite(loss, 4, batch, out) == (size_t)batch && fclose(out) == 0, "data/loss.bin");
    return 0;
}
