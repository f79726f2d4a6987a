#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define SATELLITES 2000

#define CUDA_CHECK(call) \
    do { \
        cudaError_t err = (call); \
        if (err != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(1); \
        } \
    } while (0)

static void get_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void put_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

// Two axes of the orbital plane are built once: one to the node, the other a quarter turn ahead.
__global__ void orbit_axes(const float2* __restrict__ elements, float* __restrict__ position,
                           float* __restrict__ velocity) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= SATELLITES) return;
    float2 size = elements[3 * s], tilt = elements[3 * s + 1], turn = elements[3 * s + 2];
    float e = size.y;
    float si, ci, sn, cn, sw, cw, su, cu;
    sincosf(tilt.x, &si, &ci);
    sincosf(tilt.y, &sn, &cn);
    sincosf(turn.x, &sw, &cw);
    sincosf(turn.x + turn.y, &su, &cu);
    float p = size.x * (1.0f - e * e);
    float r = p / (1.0f + e * cosf(turn.y));
    float k = sqrtf(398600.44f / p);
    float ahead[3] = {-sn * ci, cn * ci, si};
    float node[3] = {cn, sn, 0.0f};
    float back = -(su + e * sw), forth = cu + e * cw;
    for (int c = 0; c < 3; ++c) {
        position[3 * s + c] = r * (node[c] * cu + ahead[c] * su);
        velocity[3 * s + c] = k * (node[c] * back + ahead[c] * forth);
    }
}

int main() {
    float* elements = (float*)malloc(SATELLITES * 6 * sizeof(float));
    float* position = (float*)malloc(SATELLITES * 3 * sizeof(float));
    float* velocity = (float*)malloc(SATELLITES * 3 * sizeof(float));
    get_file("data/elements.bin", elements, SATELLITES * 6 * sizeof(float));

    float *d_elements, *d_position, *d_velocity;
    CUDA_CHECK(cudaMalloc(&d_elements, SATELLITES * 6 * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_elements, elements, SATELLITES * 6 * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMalloc(&d_position, SATELLITES * 3 * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_velocity, SATELLITES * 3 * sizeof(float)));

    orbit_axes<<<(SATELLITES + 127) / 128, 128>>>((const float2*)d_elements, d_position, d_velocity);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(position, d_position, SATELLITES * 3 * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(velocity, d_velocity, SATELLITES * 3 * sizeof(float), cudaMemcpyDeviceToHost));

    put_file("data/position.bin", position, SATELLITES * 3 * sizeof(float));
    put_file("data/velocity.bin", velocity, SATELLITES * 3 * sizeof(float));

    cudaFree(d_elements);
    cudaFree(d_position);
    cudaFree(d_velocity);
    free(elements);
    free(position);
    free(velocity);
    return 0;
}
