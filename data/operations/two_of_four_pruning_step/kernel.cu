#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void import_data(const std::string& path, float* dst, size_t n) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(dst), n * sizeof(float))) {
        std::cerr << "error reading " << path << std::endl;
        exit(1);
    }
}

void export_data(const std::string& path, const float* dst, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), n * sizeof(float));
}

void export_data(const std::string& path, const unsigned char* dst, size_t n) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), n * sizeof(unsigned char));
    if (!out) std::cerr << "error writing " << path << std::endl;
}
//@given

const int GROUPS = 4000;
const int NUM_ELEMENTS = GROUPS * 4;

// A weight is kept if fewer than two others come before it; the six comparisons are shared.
__global__ void prune_step4(const float4* __restrict__ weight, const float4* __restrict__ grad,
                            float4* __restrict__ weight_out, unsigned char* __restrict__ kept) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= GROUPS) return;
    float4 w = weight[i];
    const float4 g = grad[i];
    const float a = fabsf(w.x), b = fabsf(w.y), c = fabsf(w.z), d = fabsf(w.w);
    const int ab = a >= b, ac = a >= c, ad = a >= d, bc = b >= c, bd = b >= d, cd = c >= d;
    const bool keep_a = ab + ac + ad >= 2;
    const bool keep_b = !ab + bc + bd >= 2;
    const bool keep_c = !ac + !bc + cd >= 2;
    const bool keep_d = !ad + !bd + !cd >= 2;
    w.x -= 0.05f * (keep_a ? g.x : fmaf(0.2f, w.x, g.x));
    w.y -= 0.05f * (keep_b ? g.y : fmaf(0.2f, w.y, g.y));
    w.z -= 0.05f * (keep_c ? g.z : fmaf(0.2f, w.z, g.z));
    w.w -= 0.05f * (keep_d ? g.w : fmaf(0.2f, w.w, g.w));
    weight_out[i] = w;
    kept[i] = (unsigned char)(keep_a + 2 * keep_b + 4 * keep_c + 8 * keep_d);
}

int main() {
    float* h_weight = new float[NUM_ELEMENTS];
    import_data("data/weight.bin", h_weight, NUM_ELEMENTS);
    float* h_grad = new float[NUM_ELEMENTS];
    import_data("data/grad.bin", h_grad, NUM_ELEMENTS);
    float* h_weight_out = new float[NUM_ELEMENTS];
    unsigned char* h_kept = new unsigned char[GROUPS];

    float* d_weight;
    float* d_grad;
    float* d_weight_out;
    unsigned char* d_kept;
    cudaMalloc(&d_weight, NUM_ELEMENTS * sizeof(float));
    cudaMalloc(&d_grad, NUM_ELEMENTS * sizeof(float));
    cudaMalloc(&d_weight_out, NUM_ELEMENTS * sizeof(float));
    cudaMalloc(&d_kept, GROUPS * sizeof(unsigned char));
    cudaMemcpy(d_weight, h_weight, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_grad, h_grad, NUM_ELEMENTS * sizeof(float), cudaMemcpyHostToDevice);

    prune_step4<<<(GROUPS + 255) / 256, 256>>>((const float4*)d_weight, (const float4*)d_grad,
            (float4*)d_weight_out, d_kept);
    cudaDeviceSynchronize();

    cudaMemcpy(h_weight_out, d_weight_out, NUM_ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kept, d_kept, GROUPS * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    export_data("data/weight_out.bin", h_weight_out, NUM_ELEMENTS);
    export_data("data/kept.bin", h_kept, GROUPS);

    cudaFree(d_weight);
    cudaFree(d_grad);
    cudaFree(d_weight_out);
    cudaFree(d_kept);
    delete[] h_weight;
    delete[] h_grad;
    delete[] h_weight_out;
    delete[] h_kept;
    return 0;
}
