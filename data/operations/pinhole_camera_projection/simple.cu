#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* data, size_t bytes) {
    FILE* f = fopen(path.c_str(), "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void save(const std::string& path, const void* data, size_t bytes) {
    FILE* f = fopen(path.c_str(), "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

static inline int div_up(int a, int b) { return (a + b - 1) / b; }

const int N = 5000;

__global__ void project(const float* points, const float* camera, const float* pose,
                        float* pixels, unsigned char* visible) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float px = points[3 * i], py = points[3 * i + 1], pz = points[3 * i + 2];
    float X = pose[0] * px + pose[1] * py + pose[2] * pz + pose[3];
    float Y = pose[4] * px + pose[5] * py + pose[6] * pz + pose[7];
    float Z = pose[8] * px + pose[9] * py + pose[10] * pz + pose[11];
    float u = -1.0f, v = -1.0f;
    bool seen = false;
    if (Z > 0.1f) {
        float x = X / Z;
        float y = Y / Z;
        float r2 = x * x + y * y;
        float g = 1.0f + camera[4] * r2 + camera[5] * r2 * r2;
        u = camera[0] * x * g + camera[2];
        v = camera[1] * y * g + camera[3];
        seen = u >= 0.0f && u < 640.0f && v >= 0.0f && v < 480.0f;
    }
    pixels[2 * i] = u;
    pixels[2 * i + 1] = v;
    visible[i] = seen ? 1 : 0;
}

int main() {
    float* h_points = new float[N * 3];
    float* h_camera = new float[6];
    float* h_pose = new float[3 * 4];
    float* h_pixels = new float[N * 2];
    unsigned char* h_visible = new unsigned char[N];
    load("data/points.bin", h_points, N * 3 * sizeof(float));
    load("data/camera.bin", h_camera, 6 * sizeof(float));
    load("data/pose.bin", h_pose, 3 * 4 * sizeof(float));

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
    cudaMemcpy(d_points, h_points, N * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_camera, h_camera, 6 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_pose, h_pose, 3 * 4 * sizeof(float), cudaMemcpyHostToDevice);

    int block = 256;
    project<<<div_up(N, block), block>>>(d_points, d_camera, d_pose, d_pixels, d_visible);

    cudaMemcpy(h_pixels, d_pixels, N * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_visible, d_visible, N * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    save("data/pixels.bin", h_pixels, N * 2 * sizeof(float));
    save("data/visible.bin", h_visible, N * sizeof(unsigned char));

    cudaFree(d_points);
    cudaFree(d_camera);
    cudaFree(d_pose);
    cudaFree(d_pixels);
    cudaFree(d_visible);
    delete[] h_points;
    delete[] h_camera;
    delete[] h_pose;
    delete[] h_pixels;
    delete[] h_visible;
    return 0;
}
