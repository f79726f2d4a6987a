#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                          \
    do {                                                                                          \
        cudaError_t status = (call);                                                              \
        if (status != cudaSuccess) {                                                              \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

#define NV 1000
#define NF 2000

// Each vertex links the face corners that use it into a list; then one thread a vertex gathers them.
__global__ void link_corners(const int* __restrict__ faces, int* head, int* next) {
    int corner = blockIdx.x * blockDim.x + threadIdx.x;
    if (corner < 3 * NF) next[corner] = atomicExch(&head[faces[corner]], corner);
}

__global__ void gather_normals(const float* __restrict__ vertices, const int* __restrict__ faces,
                               const int* __restrict__ head, const int* __restrict__ next,
                               float* __restrict__ normals) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= NV) return;
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (int corner = head[v]; corner >= 0; corner = next[corner]) {
        int f = corner / 3;
        const float* a = vertices + 3 * faces[3 * f];
        const float* b = vertices + 3 * faces[3 * f + 1];
        const float* c = vertices + 3 * faces[3 * f + 2];
        float ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2];
        float wx = c[0] - a[0], wy = c[1] - a[1], wz = c[2] - a[2];
        x += uy * wz - uz * wy;
        y += uz * wx - ux * wz;
        z += ux * wy - uy * wx;
    }
    float len = sqrtf(x * x + y * y + z * z);
    bool none = len < 1e-6f;
    float inv = none ? 0.0f : 1.0f / len;
    normals[3 * v] = x * inv;
    normals[3 * v + 1] = y * inv;
    normals[3 * v + 2] = none ? 1.0f : z * inv;
}

int main() {
    float* h_vertices = (float*)malloc(NV * 3 * sizeof(float));
    int* h_faces = (int*)malloc(NF * 3 * sizeof(int));
    float* h_normals = (float*)malloc(NV * 3 * sizeof(float));

    FILE* fp = fopen("data/vertices.bin", "rb");
    if (!fp || fread(h_vertices, sizeof(float), NV * 3, fp) != (size_t)(NV * 3)) {
        fprintf(stderr, "cannot read data/vertices.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/faces.bin", "rb");
    if (!fp || fread(h_faces, sizeof(int), NF * 3, fp) != (size_t)(NF * 3)) {
        fprintf(stderr, "cannot read data/faces.bin\n");
        return 1;
    }
    fclose(fp);

    float *dev_vertices, *dev_normals;
    int *dev_faces, *dev_head, *dev_next;
    CUDA_CHECK(cudaMalloc(&dev_vertices, NV * 3 * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dev_faces, NF * 3 * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&dev_normals, NV * 3 * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dev_head, NV * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&dev_next, 3 * NF * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(dev_vertices, h_vertices, NV * 3 * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(dev_faces, h_faces, NF * 3 * sizeof(int), cudaMemcpyHostToDevice));

    cudaMemset(dev_head, 0xff, sizeof(int) * NV);
    link_corners<<<(3 * NF + 256 - 1) / 256, 256>>>(dev_faces, dev_head, dev_next);
    gather_normals<<<(NV + 127) / 128, 128>>>(dev_vertices, dev_faces, dev_head, dev_next, dev_normals);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    CUDA_CHECK(cudaMemcpy(h_normals, dev_normals, NV * 3 * sizeof(float), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/normals.bin", "wb");
    if (!out || fwrite(h_normals, sizeof(float), NV * 3, out) != (size_t)(NV * 3)) {
        fprintf(stderr, "cannot write data/normals.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(dev_vertices);
    cudaFree(dev_faces);
    cudaFree(dev_normals);
    cudaFree(dev_head);
    cudaFree(dev_next);
    free(h_vertices);
    free(h_faces);
    free(h_normals);
    return 0;
}
