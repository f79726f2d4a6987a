#define N 3000
#define M 17

__global__ void polyline_distance(const float* points, const float* vertices, float* distance, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float px = points[2 * i];
    float py = points[2 * i + 1];
    float best = FLT_MAX;
    for (int j = 0; j + 1 < m; ++j) {
        float ax = vertices[2 * j];
        float ay = vertices[2 * j + 1];
        float ex = vertices[2 * j + 2] - ax;
        float ey = vertices[2 * j + 3] - ay;
        float squared = ex * ex + ey * ey;
        float t = 0.0f;
        if (squared > 0.0f) {
            t = ((px - ax) * ex + (py - ay) * ey) / squared;
            t = fminf(fmaxf(t, 0.0f), 1.0f);
        }
        float dx = px - (ax + t * ex);
        float dy = py - (ay + t * ey);
        best = fminf(best, sqrtf(dx * dx + dy * dy));
    }
    distance[i] = best;
}

int main() {
    const int n_points = N * 2;
    const int n_vertices = M * 2;

    float* h_points = new float[n_points];
    float* h_vertices = new float[n_vertices];
    read_binary("data/points.bin", h_points, n_points);
    read_binary("data/vertices.bin", h_vertices, n_vertices);

    float* d_points;
    float* d_vertices;
    cudaMalloc((void**)&d_points, n_points * sizeof(float));
    cudaMalloc((void**)&d_vertices, n_vertices * sizeof(float));
    cudaMemcpy(d_points, h_points, n_points * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_vertices, h_vertices, n_vertices * sizeof(float), cudaMemcpyHostToDevice);

    float* d_distance;
    cudaMalloc((void**)&d_distance, N * sizeof(float));

    const int block = 256;
    const int grid = (N + block - 1) / block;
    polyline_distance<<<grid, block>>>(d_points, d_vertices, d_distance, N, M);

    float* h_distance = new float[N];
    cudaMemcpy(h_distance, d_distance, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/distance.bin", h_distance, N);

    delete[] h_points;
    delete[] h_vertices;
    delete[] h_distance;
    cudaFree(d_points);
    cudaFree(d_vertices);
    cudaFree(d_distance);
    return 0;
}
