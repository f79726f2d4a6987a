#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int HEIGHT = 90;
static const int WIDTH = 120;

__device__ int3 lift_pixel(int r, int g, int b) {
    int3 v;
    v.x = r - b;
    int t = b + (v.x >> 1);
    v.y = g - t;
    v.z = t + (v.y >> 1);
    return v;
}

// Four pixels are three 32-bit words; the last pixels that make no full group are done one by one.
__global__ void ycocg_quads(const unsigned char* rgb, unsigned char* luma, int* co, int* cg, int n) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 4 * q;
    if (first >= n) return;
    if (first + 4 <= n) {
        const unsigned int* words = reinterpret_cast<const unsigned int*>(rgb) + 3 * q;
        unsigned int a = words[0], b = words[1], c = words[2];
        int3 p0 = lift_pixel(a & 255, a >> 8 & 255, a >> 16 & 255);
        int3 p1 = lift_pixel(a >> 24, b & 255, b >> 8 & 255);
        int3 p2 = lift_pixel(b >> 16 & 255, b >> 24, c & 255);
        int3 p3 = lift_pixel(c >> 8 & 255, c >> 16 & 255, c >> 24);
        reinterpret_cast<int4*>(co)[q] = make_int4(p0.x, p1.x, p2.x, p3.x);
        reinterpret_cast<int4*>(cg)[q] = make_int4(p0.y, p1.y, p2.y, p3.y);
        reinterpret_cast<unsigned int*>(luma)[q] = p0.z | p1.z << 8 | p2.z << 16 | (unsigned int)p3.z << 24;
        return;
    }
    for (int i = first; i < n; ++i) {
        int3 p = lift_pixel(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
        co[i] = p.x;
        cg[i] = p.y;
        luma[i] = p.z;
    }
}

void run(const unsigned char* d_rgb, unsigned char* d_luma, int* d_co, int* d_cg) {
    const int pixels = HEIGHT * WIDTH;
    const int quads = (pixels + 3) / 4;
    ycocg_quads<<<(quads + 127) / 128, 128>>>(d_rgb, d_luma, d_co, d_cg, pixels);
}

int main() {
    const int rgbElems = HEIGHT * WIDTH * 3;
    const int lumaElems = HEIGHT * WIDTH;
    std::vector<unsigned char> h_rgb(rgbElems);
    std::vector<unsigned char> h_luma(lumaElems);
    std::vector<int> h_co(lumaElems);
    std::vector<int> h_cg(lumaElems);
    std::ifstream rgb_stream("data/rgb.bin", std::ios::binary);
    if (!rgb_stream.read(reinterpret_cast<char*>(h_rgb.data()), rgbElems * sizeof(unsigned char))) {
        std::cerr << "error reading rgb" << std::endl;
        return 1;
    }

    unsigned char* d_rgb;
    unsigned char* d_luma;
    int* d_co;
    int* d_cg;
    cudaMalloc(&d_rgb, rgbElems * sizeof(unsigned char));
    cudaMalloc(&d_luma, lumaElems * sizeof(unsigned char));
    cudaMalloc(&d_co, lumaElems * sizeof(int));
    cudaMalloc(&d_cg, lumaElems * sizeof(int));
    cudaMemcpy(d_rgb, h_rgb.data(), rgbElems * sizeof(unsigned char), cudaMemcpyHostToDevice);

    run(d_rgb, d_luma, d_co, d_cg);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_luma.data(), d_luma, lumaElems * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_co.data(), d_co, lumaElems * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_cg.data(), d_cg, lumaElems * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream luma_out("data/luma.bin", std::ios::binary);
    luma_out.write(reinterpret_cast<const char*>(h_luma.data()), lumaElems * sizeof(unsigned char));
    std::ofstream co_out("data/co.bin", std::ios::binary);
    co_out.write(reinterpret_cast<const char*>(h_co.data()), lumaElems * sizeof(int));
    std::ofstream cg_out("data/cg.bin", std::ios::binary);
    cg_out.write(reinterpret_cast<const char*>(h_cg.data()), lumaElems * sizeof(int));
    cudaFree(d_rgb);
    cudaFree(d_luma);
    cudaFree(d_co);
    cudaFree(d_cg);
    return 0;
}
