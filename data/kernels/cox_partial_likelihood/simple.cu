#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

// Each thread looks at all samples twice: for the largest score of its risk set and for the sum.
__global__ void coxLoss(const int* time, const uint8_t* event, const float* score, float* loss, int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples) return;
    if (!event[i]) {
        loss[i] = 0;
        return;
    }
    float top = score[i];
    for (int j = 0; j < samples; ++j) {
        if (time[j] >= time[i]) top = fmaxf(top, score[j]);
    }
    float sum = 0;
    for (int j = 0; j < samples; ++j) {
        if (time[j] >= time[i]) sum += expf(score[j] - top);
    }
    loss[i] = top + logf(sum) - score[i];
}

int fail(const char* what) {
    std::cerr << what << std::endl;
    return 1;
}

template <typename T>
bool readFile(const char* path, std::vector<T>& values) {
    std::ifstream in(path, std::ios::binary);
    return in.read((char*)values.data(), values.size() * sizeof(T)) && in.peek() == EOF;
}

template <typename T>
cudaError_t upload(T** device, const std::vector<T>& values) {
    cudaError_t status = cudaMalloc(device, values.size() * sizeof(T));
    if (status != cudaSuccess) return status;
    return cudaMemcpy(*device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
}

int main() {
    std::vector<int> sizes(1);
    if (!readFile("data/sizes.bin", sizes)) return fail("data/sizes.bin");
    int samples = sizes[0];
    if (samples < 1 || samples > 1000000) return fail("samples out of range");
    std::vector<int> time(samples);
    std::vector<uint8_t> event(samples);
    std::vector<float> score(samples), loss(samples);
    if (!readFile("data/time.bin", time)) return fail("data/time.bin");
    if (!readFile("data/event.bin", event)) return fail("data/event.bin");
    if (!readFile("data/score.bin", score)) return fail("data/score.bin");
    int* dTime = nullptr;
    uint8_t* dEvent = nullptr;
    float *dScore = nullptr, *dLoss = nullptr;
    cudaError_t status = upload(&dTime, time);
    if (status == cudaSuccess) status = upload(&dEvent, event);
    if (status == cudaSuccess) status = upload(&dScore, score);
    if (status == cudaSuccess) status = upload(&dLoss, loss);
    if (status != cudaSuccess) return fail(cudaGetErrorString(status));
    coxLoss<<<(samples + 127) / 128, 128>>>(dTime, dEvent, dScore, dLoss, samples);
    status = cudaGetLastError();
    if (status != cudaSuccess) return fail(cudaGetErrorString(status));
    status = cudaMemcpy(loss.data(), dLoss, samples * sizeof(float), cudaMemcpyDeviceToHost);
    if (status != cudaSuccess) return fail(cudaGetErrorString(status));
    std::ofstream out("data/loss.bin", std::ios::binary);
    out.write((const char*)loss.data(), samples * sizeof(float));
    out.close();
    return out ? 0 : fail("data/loss.bin");
}
