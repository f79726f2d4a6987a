constexpr int N = 5000;

__global__ void lens_areas(const float* a, const float* b, float* area, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float dx = a[3 * i] - b[3 * i];
    float dy = a[3 * i + 1] - b[3 * i + 1];
    float d = sqrtf(dx * dx + dy * dy);
    float big = fmaxf(a[3 * i + 2], b[3 * i + 2]);
    float small = fminf(a[3 * i + 2], b[3 * i + 2]);
    if (d >= big + small) {
        area[i] = 0.0f;
    } else if (d <= big - small) {
        area[i] = 3.14159265f * small * small;
    } else {
        float u = (d * d + small * small - big * big) / (2.0f * d * small);
        float v = (d * d + big * big - small * small) / (2.0f * d * big);
        u = fminf(fmaxf(u, -1.0f), 1.0f);
        v = fminf(fmaxf(v, -1.0f), 1.0f);
        float k = (-d + small + big) * (d + small - big) * (d - small + big) * (d + small + big);
        area[i] = small * small * acosf(u) + big * big * acosf(v) - 0.5f * sqrtf(fmaxf(k, 0.0f));
    }
}

int main() {
    const int size = N * 3;

    float* h_a = new float[size];
    read_binary("data/a.bin", h_a, size);
    float* h_b = new float[size];
    read_binary("data/b.bin", h_b, size);
    float* h_area = new float[N];

    float* d_a = nullptr;
    float* d_b = nullptr;
    float* d_area = nullptr;
    cudaMalloc(&d_a, size * sizeof(float));
    cudaMalloc(&d_b, size * sizeof(float));
    cudaMalloc(&d_area, N * sizeof(float));
    cudaMemcpy(d_a, h_a, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, size * sizeof(float), cudaMemcpyHostToDevice);

    const int block_size = 256;
    const int grid_size = (N + block_size - 1) / block_size;
    lens_areas<<<grid_size, block_size>>>(d_a, d_b, d_area, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "circle kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_area, d_area, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/area.bin", h_area, N);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_area);
    delete[] h_a;
    delete[] h_b;
    delete[] h_area;
    return 0;
}
