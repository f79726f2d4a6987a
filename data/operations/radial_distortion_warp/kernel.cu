#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int HEIGHT = 90;
static const int WIDTH = 120;

// A block renders one row; what depends on the row alone is computed once a thread.
__global__ void distort_row(const float* __restrict__ frame, const float* __restrict__ lens,
        float* __restrict__ out) {
    const float cx = lens[0], cy = lens[1], k1 = lens[2], k2 = lens[3];
    const float inv2 = 1.0f / ((float)WIDTH * (float)WIDTH);
    const int y = blockIdx.x;
    const float dy = y - cy;
    for (int x = threadIdx.x; x < WIDTH; x += blockDim.x) {
        float dx = x - cx;
        float q = (dx * dx + dy * dy) * inv2;
        float s = fmaf(q, fmaf(q, k2, k1), 1.0f);
        float sx = fminf(fmaxf(fmaf(dx, s, cx), 0.0f), (float)(WIDTH - 1));
        float sy = fminf(fmaxf(fmaf(dy, s, cy), 0.0f), (float)(HEIGHT - 1));
        int x0 = min((int)sx, WIDTH - 2), y0 = min((int)sy, HEIGHT - 2);
        float fx = sx - x0, fy = sy - y0;
        const float* p = frame + (size_t)y0 * WIDTH + x0;
        float top = p[0] + fx * (p[1] - p[0]);
        float low = p[WIDTH] + fx * (p[WIDTH + 1] - p[WIDTH]);
        out[(size_t)y * WIDTH + x] = top + fy * (low - top);
    }
}

void solve(const float* d_frame, const float* d_lens, float* d_warped) {
    distort_row<<<HEIGHT, 256>>>(d_frame, d_lens, d_warped);
}

int main() {
    const size_t elements = HEIGHT * WIDTH;
    std::vector<float> h_frame(elements);
    std::vector<float> h_lens(4);
    std::vector<float> h_warped(elements);
    std::ifstream frame_stream("data/frame.bin", std::ios::binary);
    if (!frame_stream.read(reinterpret_cast<char*>(h_frame.data()), elements * sizeof(float))) {
        std::cerr << "error reading frame" << std::endl;
        return 1;
    }
    std::ifstream lens_stream("data/lens.bin", std::ios::binary);
    if (!lens_stream.read(reinterpret_cast<char*>(h_lens.data()), 4 * sizeof(float))) {
        std::cerr << "error reading lens" << std::endl;
        return 1;
    }

    float* d_frame;
    float* d_lens;
    float* d_warped;
    cudaMalloc(&d_frame, elements * sizeof(float));
    cudaMalloc(&d_lens, 4 * sizeof(float));
    cudaMalloc(&d_warped, elements * sizeof(float));
    cudaMemcpy(d_frame, h_frame.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lens, h_lens.data(), 4 * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_frame, d_lens, d_warped);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_warped.data(), d_warped, elements * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream warped_out("data/warped.bin", std::ios::binary);
    warped_out.write(reinterpret_cast<const char*>(h_warped.data()), elements * sizeof(float));
    cudaFree(d_frame);
    cudaFree(d_lens);
    cudaFree(d_warped);
    return 0;
}
