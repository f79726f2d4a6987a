const int N = 1000;

__global__ void fly(const float* speed, const float* elevation, const float* drag,
                    float* distance, float* height, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float dt = 0.02f;
    float vx = speed[i] * cosf(elevation[i]);
    float vy = speed[i] * sinf(elevation[i]);
    float x = 0.0f, y = 0.0f, highest = 0.0f;
    for (int step = 0; step < 500; ++step) {
        float s = sqrtf(vx * vx + vy * vy);
        float x_next = x + dt * vx;
        float y_next = y + dt * vy;
        if (y_next < 0.0f) {
            x += (x_next - x) * y / (y - y_next);
            break;
        }
        x = x_next;
        y = y_next;
        highest = fmaxf(highest, y);
        float ax = -drag[i] * s * vx;
        float ay = -9.81f - drag[i] * s * vy;
        vx += dt * ax;
        vy += dt * ay;
    }
    distance[i] = x;
    height[i] = highest;
}

int main() {
    float* h_speed = new float[N];
    read_binary("data/speed.bin", h_speed, N);
    float* h_elevation = new float[N];
    read_binary("data/elevation.bin", h_elevation, N);
    float* h_drag = new float[N];
    read_binary("data/drag.bin", h_drag, N);
    float* h_distance = new float[N];
    float* h_height = new float[N];

    float* d_speed = nullptr;
    float* d_elevation = nullptr;
    float* d_drag = nullptr;
    float* d_distance = nullptr;
    float* d_height = nullptr;
    cudaMalloc(&d_speed, sizeof(float) * N);
    cudaMemcpy(d_speed, h_speed, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMalloc(&d_elevation, sizeof(float) * N);
    cudaMemcpy(d_elevation, h_elevation, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMalloc(&d_drag, sizeof(float) * N);
    cudaMemcpy(d_drag, h_drag, sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMalloc(&d_distance, sizeof(float) * N);
    cudaMalloc(&d_height, sizeof(float) * N);

    dim3 block(128);
    dim3 grid((N + block.x - 1) / block.x);
    fly<<<grid, block>>>(d_speed, d_elevation, d_drag, d_distance, d_height, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_distance, d_distance, sizeof(float) * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_height, d_height, sizeof(float) * N, cudaMemcpyDeviceToHost);
    write_binary("data/distance.bin", h_distance, N);
    write_binary("data/height.bin", h_height, N);

    cudaFree(d_speed);
    cudaFree(d_elevation);
    cudaFree(d_drag);
    cudaFree(d_distance);
    cudaFree(d_height);
    delete[] h_speed;
    delete[] h_elevation;
    delete[] h_drag;
    delete[] h_distance;
    delete[] h_height;
    return 0;
}
