#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 5000;

__constant__ float c_camera[6];
__constant__ float c_pose[12];

__device__ float row(int r, float x, float y, float z) {
    return fmaf(c_pose[4 * r], x, fmaf(c_pose[4 * r + 1], y, fmaf(c_pose[4 * r + 2], z, c_pose[4 * r + 3])));
}

__global__ void project_points(const float* __restrict__ points, float2* __restrict__ pixels,
                               unsigned char* __restrict__ visible) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        float px = points[3 * i], py = points[3 * i + 1], pz = points[3 * i + 2];
        float depth = row(2, px, py, pz);
        float2 uv = make_float2(-1.0f, -1.0f);
        unsigned char seen = 0;
        if (depth > 0.1f) {
            float inv = 1.0f / depth;
            float x = row(0, px, py, pz) * inv;
            float y = row(1, px, py, pz) * inv;
            float r2 = x * x + y * y;
            float g = fmaf(fmaf(c_camera[5], r2, c_camera[4]), r2, 1.0f);
            uv.x = fmaf(c_camera[0] * x, g, c_camera[2]);
            uv.y = fmaf(c_camera[1] * y, g, c_camera[3]);
            seen = uv.x >= 0.0f && uv.x < 640.0f && uv.y >= 0.0f && uv.y < 480.0f;
        }
        pixels[i] = uv;
        visible[i] = seen;
    }
}

int main() {
    std::vector<float> h_points(N * 3);
    std::vector<float> h_camera(6);
    std::vector<float> h_pose(3 * 4);
    std::vector<float> h_pixels(N * 2);
    std::vector<unsigned char> h_visible(N);

    std::ifstream in_points("data/points.bin", std::ios::binary);
    in_points.read(reinterpret_cast<char*>(h_points.data()), h_points.size() * sizeof(float));
    if (!in_points) {
        std::cerr << "failed to read data/points.bin" << std::endl;
        return 1;
    }
    std::ifstream in_camera("data/camera.bin", std::ios::binary);
    in_camera.read(reinterpret_cast<char*>(h_camera.data()), h_camera.size() * sizeof(float));
    if (!in_camera) {
        std::cerr << "failed to read data/camera.bin" << std::endl;
        return 1;
    }
    std::ifstream in_pose("data/pose.bin", std::ios::binary);
    in_pose.read(reinterpret_cast<char*>(h_pose.data()), h_pose.size() * sizeof(float));
    if (!in_pose) {
        std::cerr << "failed to read data/pose.bin" << std::endl;
        return 1;
    }

    float* d_points;
    float* d_camera;
    float* d_pose;
    float* d_pixels;
    unsigned char* d_visible;
    cudaMalloc(&d_points, N * 3 * sizeof(float));
    cudaMalloc(&d_camera, 6 * sizeof(float));
    cudaMalloc(&d_pose, 3 * 4 * sizeof(float));
    cudaMalloc(&d_pixels, N * 2 * sizeof(float));
    cudaMalloc(&d_visible, N * sizeof(unsigned char));
    cudaMemcpy(d_points, h_points.data(), N * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_camera, h_camera.data(), 6 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pose, h_pose.data(), 3 * 4 * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemcpyToSymbol(c_camera, d_camera, sizeof(c_camera), 0, cudaMemcpyDeviceToDevice);
    cudaMemcpyToSymbol(c_pose, d_pose, sizeof(c_pose), 0, cudaMemcpyDeviceToDevice);
    int blocks = (N + 255) / 256 < 2048 ? (N + 256 - 1) / 256 : 2048;
    project_points<<<blocks, 256>>>(d_points, (float2*)d_pixels, d_visible);

    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_pixels.data(), d_pixels, N * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_visible.data(), d_visible, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out_pixels("data/pixels.bin", std::ios::binary);
    out_pixels.write(reinterpret_cast<const char*>(h_pixels.data()), N * 2 * sizeof(float));
    std::ofstream out_visible("data/visible.bin", std::ios::binary);
    out_visible.write(reinterpret_cast<const char*>(h_visible.data()), N * sizeof(unsigned char));

    cudaFree(d_points);
    cudaFree(d_camera);
    cudaFree(d_pose);
    cudaFree(d_pixels);
    cudaFree(d_visible);
    return 0;
}
