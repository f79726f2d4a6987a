const int N = 6000;

__global__ void to_ecef(const float* lat, const float* lon, const float* height, float* ecef, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float degree = 0.017453292f;
        const float e2 = 0.00669438f;
        float phi = lat[i] * degree;
        float lambda = lon[i] * degree;
        float s = sinf(phi);
        float c = cosf(phi);
        float radius = 6378137.0f / sqrtf(1.0f - e2 * s * s);
        float h = height[i];
        ecef[3 * i] = (radius + h) * c * cosf(lambda);
        ecef[3 * i + 1] = (radius + h) * c * sinf(lambda);
        ecef[3 * i + 2] = (radius * (1.0f - e2) + h) * s;
    }
}

int main() {
    size_t total = N * 3;

    float* h_lat = new float[N];
    float* h_lon = new float[N];
    float* h_height = new float[N];
    float* h_ecef = new float[total];

    read_binary("data/lat.bin", h_lat, N);
    read_binary("data/lon.bin", h_lon, N);
    read_binary("data/height.bin", h_height, N);

    float* d_lat;
    float* d_lon;
    float* d_height;
    float* d_ecef;
    cudaMalloc(&d_lat, N * sizeof(float));
    cudaMalloc(&d_lon, N * sizeof(float));
    cudaMalloc(&d_height, N * sizeof(float));
    cudaMalloc(&d_ecef, total * sizeof(float));

    cudaMemcpy(d_lat, h_lat, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lon, h_lon, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_height, h_height, N * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((N + block.x - 1) / block.x);
    to_ecef<<<grid, block>>>(d_lat, d_lon, d_height, d_ecef, N);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_ecef, d_ecef, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/ecef.bin", h_ecef, total);

    cudaFree(d_lat);
    cudaFree(d_lon);
    cudaFree(d_height);
    cudaFree(d_ecef);
    delete[] h_lat;
    delete[] h_lon;
    delete[] h_height;
    delete[] h_ecef;
    return 0;
}
