#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

void read_bytes(const char* path, void* ptr, size_t num_bytes) {
    FILE* f = fopen(path, "rb");
    if (f == NULL || fread(ptr, 1, num_bytes, f) != num_bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_bytes(const char* path, const void* ptr, size_t num_bytes) {
    FILE* f = fopen(path, "wb");
    if (f == NULL || fwrite(ptr, 1, num_bytes, f) != num_bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

static const int N = 12000;
static const int TENSORS = 5;

static int div_up(int a, int b) { return (a + b - 1) / b; }

__global__ void yogi(const float* param, const float* grad, const float* m, const float* v, const int* start,
                     const float* rate, float* param_out, float* v_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    int k = TENSORS - 1;
    while (start[k] > i) k--;
    float g2 = grad[i] * grad[i];
    float vi = v[i];
    if (vi > g2) vi -= 0.001f * g2;
    else if (vi < g2) vi += 0.001f * g2;
    float mi = 0.9f * m[i] + 0.1f * grad[i];
    v_out[i] = vi;
    param_out[i] = param[i] - rate[k] * mi / (sqrtf(vi) + 0.001f);
}

int main() {
    const size_t param_bytes = N * sizeof(float);
    const size_t bytes_start = TENSORS * sizeof(int);
    const size_t rate_bytes = TENSORS * sizeof(float);
    std::vector<float> h_param(N);
    std::vector<float> h_grad(N);
    std::vector<float> h_m(N);
    std::vector<float> h_v(N);
    std::vector<int> h_start(TENSORS);
    std::vector<float> h_rate(TENSORS);
    std::vector<float> h_param_out(N);
    std::vector<float> h_v_out(N);
    read_bytes("data/param.bin", h_param.data(), param_bytes);
    read_bytes("data/grad.bin", h_grad.data(), param_bytes);
    read_bytes("data/m.bin", h_m.data(), param_bytes);
    read_bytes("data/v.bin", h_v.data(), param_bytes);
    read_bytes("data/start.bin", h_start.data(), bytes_start);
    read_bytes("data/rate.bin", h_rate.data(), rate_bytes);

    float *d_param, *d_grad, *d_m, *d_v, *d_rate, *d_param_out, *d_v_out;
    int* d_start;
    cudaMalloc(&d_param, param_bytes);
    cudaMalloc(&d_grad, param_bytes);
    cudaMalloc(&d_m, param_bytes);
    cudaMalloc(&d_v, param_bytes);
    cudaMalloc(&d_start, bytes_start);
    cudaMalloc(&d_rate, rate_bytes);
    cudaMalloc(&d_param_out, param_bytes);
    cudaMalloc(&d_v_out, param_bytes);
    cudaMemcpy(d_param, h_param.data(), param_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad.data(), param_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_m, h_m.data(), param_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v.data(), param_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_start, h_start.data(), bytes_start, cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, h_rate.data(), rate_bytes, cudaMemcpyHostToDevice);

    yogi<<<div_up(N, 256), 256>>>(d_param, d_grad, d_m, d_v, d_start, d_rate, d_param_out, d_v_out);

    cudaMemcpy(h_param_out.data(), d_param_out, param_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_v_out.data(), d_v_out, param_bytes, cudaMemcpyDeviceToHost);
    write_bytes("data/param_out.bin", h_param_out.data(), param_bytes);
    write_bytes("data/v_out.bin", h_v_out.data(), param_bytes);

    cudaFree(d_param);
    cudaFree(d_grad);
    cudaFree(d_m);
    cudaFree(d_v);
    cudaFree(d_start);
    cudaFree(d_rate);
    cudaFree(d_param_out);
    cudaFree(d_v_out);
    return 0;
}
