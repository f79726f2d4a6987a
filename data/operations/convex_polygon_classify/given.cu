#define COUNT 10
#define SIDES 8
#define N 1500

__global__ void classify_points(const float* polygons, const float* points, int* where, int sides, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y;
    if (i >= n) return;
    const float* corner = polygons + (size_t)k * sides * 2;
    size_t at = (size_t)k * n + i;
    float px = points[2 * at];
    float py = points[2 * at + 1];
    int answer = 1;
    for (int j = 0; j < sides; ++j) {
        int next = (j + 1) % sides;
        float ax = corner[2 * j], ay = corner[2 * j + 1];
        float bx = corner[2 * next], by = corner[2 * next + 1];
        float cross = (bx - ax) * (py - ay) - (by - ay) * (px - ax);
        if (cross < 0.0f) {
            answer = -1;
            break;
        }
        if (cross == 0.0f) answer = 0;
    }
    where[at] = answer;
}

int main() {
    const size_t points_total = COUNT * N * 2;
    const int where_count = COUNT * N;

    float* h_polygons = new float[COUNT * SIDES * 2];
    float* h_points = new float[points_total];
    int* h_where = new int[where_count];

    read_binary("data/polygons.bin", h_polygons, COUNT * SIDES * 2);
    read_binary("data/points.bin", h_points, points_total);

    float* d_polygons;
    float* d_points;
    int* d_where;
    cudaMalloc(&d_polygons, COUNT * SIDES * 2 * sizeof(float));
    cudaMalloc(&d_points, points_total * sizeof(float));
    cudaMalloc(&d_where, where_count * sizeof(int));
    cudaMemcpy(d_polygons, h_polygons, COUNT * SIDES * 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_points, h_points, points_total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(128);
    dim3 grid((N + 127) / 128, COUNT);
    classify_points<<<grid, block>>>(d_polygons, d_points, d_where, SIDES, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_where, d_where, where_count * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/where.bin", reinterpret_cast<const float*>(h_where), where_count);

    cudaFree(d_polygons);
    cudaFree(d_points);
    cudaFree(d_where);
    delete[] h_polygons;
    delete[] h_points;
    delete[] h_where;
    return 0;
}
