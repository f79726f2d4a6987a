#include <cfloat>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define CHANNELS 8
#define HEIGHT 40
#define WIDTH 60
#define REGIONS 50

__global__ void roi_max(const float* features, const int* boxes, float* pooled) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= REGIONS * CHANNELS * 25) return;
    int bx = i % 5, by = i / 5 % 5, c = i / 25 % CHANNELS, r = i / 25 / CHANNELS;
    int x0 = boxes[4 * r], y0 = boxes[4 * r + 1];
    int w = boxes[4 * r + 2] - x0 + 1, h = boxes[4 * r + 3] - y0 + 1;
    int top = y0 + by * h / 5, bottom = y0 + ((by + 1) * h + 4) / 5;
    int left = x0 + bx * w / 5, right = x0 + ((bx + 1) * w + 4) / 5;
    float best = -FLT_MAX;
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x) best = fmaxf(best, features[((size_t)c * HEIGHT + y) * WIDTH + x]);
    pooled[i] = best;
}

int main() {
    const size_t features_elems = CHANNELS * HEIGHT * WIDTH;
    const size_t boxes_elems = REGIONS * 4;
    const size_t pooled_elems = REGIONS * CHANNELS * 5 * 5;
    std::vector<float> features_host(features_elems), pooled_host(pooled_elems);
    std::vector<int> boxes_host(boxes_elems);
    std::ifstream file_features("data/features.bin", std::ios::binary);
    if (!file_features.read((char*)features_host.data(), features_elems * sizeof(float))) return 1;
    std::ifstream file_boxes("data/boxes.bin", std::ios::binary);
    if (!file_boxes.read((char*)boxes_host.data(), boxes_elems * sizeof(int))) return 1;
    float *d_features, *d_pooled;
    int *d_boxes;
    cudaMalloc(&d_features, features_elems * sizeof(float));
    cudaMalloc(&d_boxes, boxes_elems * sizeof(int));
    cudaMalloc(&d_pooled, pooled_elems * sizeof(float));
    cudaMemcpy(d_features, features_host.data(), features_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_boxes, boxes_host.data(), boxes_elems * sizeof(int), cudaMemcpyHostToDevice);
    roi_max<<<(REGIONS * CHANNELS * 25 + 128 - 1) / 128, 128>>>(d_features, d_boxes, d_pooled);
    cudaMemcpy(pooled_host.data(), d_pooled, pooled_elems * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/pooled.bin", std::ios::binary).write((char*)pooled_host.data(),
        pooled_elems * sizeof(float));
}
