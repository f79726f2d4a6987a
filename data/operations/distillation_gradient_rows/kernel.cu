#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct DeviceArray {
    T* ptr = nullptr;
    size_t count;
    explicit DeviceArray(size_t n_) : count(n_) {
        if (cudaMalloc(&ptr, n_ * sizeof(T)) != cudaSuccess) {
            fprintf(stderr, "cudaMalloc failed\n");
            exit(1);
        }
    }
    ~DeviceArray() { cudaFree(ptr); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

template <typename T>
std::vector<T> read_vector(const char* path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    return v;
}

const int ROWS = 128;
const int CLASSES = 100;
const int COUNT = ROWS * CLASSES;

// Maximum and sum of exponentials of one row, found together by a warp.
__device__ float2 row_stats(const float* v, int lane) {
    float top = -1e30f, sum = 0.0f;
    for (int k = lane; k < CLASSES; k += 32) {
        const float m = fmaxf(top, v[k]);
        sum = sum * expf(0.25f * (top - m)) + expf(0.25f * (v[k] - m));
        top = m;
    }
    for (int d = 16; d > 0; d >>= 1) {
        const float top2 = __shfl_xor_sync(0xffffffffu, top, d);
        const float sum2 = __shfl_xor_sync(0xffffffffu, sum, d);
        const float m = fmaxf(top, top2);
        sum = sum * expf(0.25f * (top - m)) + sum2 * expf(0.25f * (top2 - m));
        top = m;
    }
    return make_float2(top, 1.0f / sum);
}

__global__ void distill_grad_warp(const float* __restrict__ student, const float* __restrict__ teacher,
                                  const float* __restrict__ weight, float* __restrict__ grad) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= ROWS) return;
    const size_t base = (size_t)row * CLASSES;
    const float2 s = row_stats(student + base, lane);
    const float2 t = row_stats(teacher + base, lane);
    const float w = 4.0f * weight[row];
    for (int k = lane; k < CLASSES; k += 32) {
        const float ps = expf(0.25f * (student[base + k] - s.x)) * s.y;
        const float pt = expf(0.25f * (teacher[base + k] - t.x)) * t.y;
        grad[base + k] = w * (ps - pt);
    }
}

int main() {
    auto hStudent = read_vector<float>("data/student.bin", COUNT);
    auto hTeacher = read_vector<float>("data/teacher.bin", COUNT);
    std::vector<float> hWeight = read_vector<float>("data/weight.bin", ROWS);
    std::vector<float> hGrad(COUNT);

    DeviceArray<float> dev_student(COUNT);
    DeviceArray<float> dev_teacher(COUNT);
    DeviceArray<float> dev_weight(ROWS);
    DeviceArray<float> dev_grad(COUNT);
    cudaMemcpy(dev_student.ptr, hStudent.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_teacher.ptr, hTeacher.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_weight.ptr, hWeight.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);

    distill_grad_warp<<<(ROWS + 3) / 4, 128>>>(dev_student.ptr, dev_teacher.ptr, dev_weight.ptr, dev_grad.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    cudaMemcpy(hGrad.data(), dev_grad.ptr, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream grad_out("data/grad.bin", std::ios::binary);
    grad_out.write(reinterpret_cast<const char*>(hGrad.data()), hGrad.size() * sizeof(float));
    return 0;
}
