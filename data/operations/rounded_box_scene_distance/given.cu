const int N = 2000;
const int M = 8;

__device__ float rounded_box(const float* p, const float* shape) {
    float radius = shape[6];
    float sum = 0.0f;
    float largest = -FLT_MAX;
    for (int k = 0; k < 3; ++k) {
        float q = fabsf(p[k] - shape[k]) - shape[3 + k] + radius;
        float outside = fmaxf(q, 0.0f);
        sum += outside * outside;
        largest = fmaxf(largest, q);
    }
    return sqrtf(sum) + fminf(largest, 0.0f) - radius;
}

__global__ void scene_distance(const float* points, const float* shapes, float* distance, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float nearest = FLT_MAX;
    for (int j = 0; j < m; ++j) {
        nearest = fminf(nearest, rounded_box(points + 3 * i, shapes + 7 * j));
    }
    distance[i] = nearest;
}

int main() {
    const int shapes_size = M * 7;

    float* h_points = new float[N * 3];
    float* h_shapes = new float[shapes_size];
    read_binary("data/points.bin", h_points, N * 3);
    read_binary("data/shapes.bin", h_shapes, shapes_size);

    float* d_points = nullptr;
    float* d_shapes = nullptr;
    float* d_distance = nullptr;
    cudaMalloc(&d_points, N * 3 * sizeof(float));
    cudaMalloc(&d_shapes, shapes_size * sizeof(float));
    cudaMalloc(&d_distance, N * sizeof(float));
    cudaMemcpy(d_points, h_points, N * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_shapes, h_shapes, shapes_size * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (N + threads - 1) / threads;
    scene_distance<<<blocks, threads>>>(d_points, d_shapes, d_distance, N, M);
    cudaDeviceSynchronize();

    float* h_distance = new float[N];
    cudaMemcpy(h_distance, d_distance, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/distance.bin", h_distance, N);

    cudaFree(d_points);
    cudaFree(d_shapes);
    cudaFree(d_distance);
    delete[] h_points;
    delete[] h_shapes;
    delete[] h_distance;
    return 0;
}
