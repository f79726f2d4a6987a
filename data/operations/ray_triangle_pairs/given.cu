const int N = 2500;

__device__ void cross_product(const float* a, const float* b, float* result) {
    result[0] = a[1] * b[2] - a[2] * b[1];
    result[1] = a[2] * b[0] - a[0] * b[2];
    result[2] = a[0] * b[1] - a[1] * b[0];
}

__device__ float dot_product(const float* a, const float* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

__global__ void intersect_pairs(const float* origins, const float* directions, const float* triangles,
                                float* t, float* uv, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* d = directions + 3 * i;
    const float* corner = triangles + 9 * i;
    float e1[3], e2[3], s[3], q[3], r[3];
    for (int k = 0; k < 3; ++k) {
        e1[k] = corner[3 + k] - corner[k];
        e2[k] = corner[6 + k] - corner[k];
        s[k] = origins[3 * i + k] - corner[k];
    }
    cross_product(d, e2, q);
    cross_product(s, e1, r);
    t[i] = -1.0f;
    uv[2 * i] = 0.0f;
    uv[2 * i + 1] = 0.0f;
    float det = dot_product(e1, q);
    if (det == 0.0f) return;
    float u = dot_product(s, q) / det;
    float v = dot_product(d, r) / det;
    float along = dot_product(e2, r) / det;
    if (u >= 0.0f && v >= 0.0f && u + v <= 1.0f && along > 0.0f) {
        t[i] = along;
        uv[2 * i] = u;
        uv[2 * i + 1] = v;
    }
}

int main() {
    const size_t origins_size = (size_t)N * 3;
    const size_t triangles_size = (size_t)N * 9;
    const size_t uv_size = (size_t)N * 2;

    float* d_origins;
    cudaMalloc(&d_origins, origins_size * sizeof(float));
    float* d_directions;
    cudaMalloc(&d_directions, origins_size * sizeof(float));
    float* d_triangles;
    cudaMalloc(&d_triangles, triangles_size * sizeof(float));
    float* d_t;
    cudaMalloc(&d_t, N * sizeof(float));
    float* d_uv;
    cudaMalloc(&d_uv, uv_size * sizeof(float));

    float* h_origins = new float[origins_size];
    read_binary("data/origins.bin", h_origins, origins_size);
    cudaMemcpy(d_origins, h_origins, origins_size * sizeof(float), cudaMemcpyHostToDevice);
    float* h_directions = new float[origins_size];
    read_binary("data/directions.bin", h_directions, origins_size);
    cudaMemcpy(d_directions, h_directions, origins_size * sizeof(float), cudaMemcpyHostToDevice);
    float* h_triangles = new float[triangles_size];
    read_binary("data/triangles.bin", h_triangles, triangles_size);
    cudaMemcpy(d_triangles, h_triangles, triangles_size * sizeof(float), cudaMemcpyHostToDevice);

    const int threadsPerBlock = 128;
    const int blocksPerGrid = (N + threadsPerBlock - 1) / threadsPerBlock;
    intersect_pairs<<<blocksPerGrid, threadsPerBlock>>>(d_origins, d_directions, d_triangles, d_t, d_uv, N);
    cudaDeviceSynchronize();

    float* h_t = new float[N];
    float* h_uv = new float[uv_size];
    cudaMemcpy(h_t, d_t, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/t.bin", h_t, N);
    cudaMemcpy(h_uv, d_uv, uv_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/uv.bin", h_uv, uv_size);

    cudaFree(d_origins);
    cudaFree(d_directions);
    cudaFree(d_triangles);
    cudaFree(d_t);
    cudaFree(d_uv);
    delete[] h_origins;
    delete[] h_directions;
    delete[] h_triangles;
    delete[] h_t;
    delete[] h_uv;
    return 0;
}
