constexpr int N = 6000;

__global__ void great_circle(const float* start, const float* goal, float* km, float* bearing, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float to_radians = 3.14159265f / 180.0f;
    float p1 = start[2 * i] * to_radians;
    float p2 = goal[2 * i] * to_radians;
    float dp = (goal[2 * i] - start[2 * i]) * to_radians;
    float dl = (goal[2 * i + 1] - start[2 * i + 1]) * to_radians;
    float sp = sinf(0.5f * dp);
    float sl = sinf(0.5f * dl);
    float h = sp * sp + cosf(p1) * cosf(p2) * sl * sl;
    km[i] = 2.0f * 6371.0f * atan2f(sqrtf(h), sqrtf(1.0f - h));
    float y = sinf(dl) * cosf(p2);
    float x = cosf(p1) * sinf(p2) - sinf(p1) * cosf(p2) * cosf(dl);
    float degrees = atan2f(y, x) / to_radians;
    if (degrees < 0.0f) degrees += 360.0f;
    bearing[i] = degrees;
}

int main() {
    const int total = N * 2;
    std::vector<float> h_start(total);
    std::vector<float> h_goal(total);
    read_binary("data/start.bin", h_start.data(), total);
    read_binary("data/goal.bin", h_goal.data(), total);

    float* d_start = nullptr;
    float* d_goal = nullptr;
    float* d_km = nullptr;
    float* d_bearing = nullptr;
    cudaMalloc(&d_start, total * sizeof(float));
    cudaMalloc(&d_goal, total * sizeof(float));
    cudaMalloc(&d_km, sizeof(float) * N);
    cudaMalloc(&d_bearing, sizeof(float) * N);
    cudaMemcpy(d_start, h_start.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_goal, h_goal.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    const int block_size = 128;
    great_circle<<<(N + block_size - 1) / block_size, block_size>>>(d_start, d_goal, d_km, d_bearing, N);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::vector<float> h_km(N);
    cudaMemcpy(h_km.data(), d_km, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/km.bin", h_km.data(), N);
    std::vector<float> h_bearing(N);
    cudaMemcpy(h_bearing.data(), d_bearing, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/bearing.bin", h_bearing.data(), N);

    cudaFree(d_start);
    cudaFree(d_goal);
    cudaFree(d_km);
    cudaFree(d_bearing);
    return 0;
}
