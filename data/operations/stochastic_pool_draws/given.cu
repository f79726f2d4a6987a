const int PLANES = 4;
const int HEIGHT = 70;
const int WIDTH = 96;
const int OUT_H = HEIGHT / 2;
const int OUT_W = WIDTH / 2;

__global__ void stochastic_pool(const float* x, const float* u, float* y, int* pick, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = i % OUT_W;
    int r = i / OUT_W % OUT_H;
    int p = i / (OUT_W * OUT_H);
    const float* corner = x + ((size_t)p * HEIGHT + 2 * r) * WIDTH + 2 * c;
    float v[4] = {corner[0], corner[1], corner[WIDTH], corner[WIDTH + 1]};
    float limit = u[i] * (v[0] + v[1] + v[2] + v[3]);
    float sum = 0.0f;
    int chosen = 0;
    for (int k = 0; k < 4; ++k) {
        sum += v[k];
        if (sum > limit) {
            chosen = k;
            break;
        }
    }
    y[i] = v[chosen];
    pick[i] = chosen;
}

int main() {
    const size_t x_size = PLANES * HEIGHT * WIDTH;
    const int count = PLANES * OUT_H * OUT_W;
    const size_t size_bytes = count * sizeof(float);

    float* h_x = new float[x_size];
    float* h_u = new float[count];
    float* h_y = new float[count];
    int* h_pick = new int[count];

    read_binary("data/x.bin", h_x, x_size);
    read_binary("data/u.bin", h_u, count);

    float* d_x = nullptr;
    float* d_u = nullptr;
    float* d_y = nullptr;
    int* d_pick = nullptr;
    cudaMalloc(&d_x, x_size * sizeof(float));
    cudaMalloc(&d_u, size_bytes);
    cudaMalloc(&d_y, size_bytes);
    cudaMalloc(&d_pick, count * sizeof(int));

    cudaMemcpy(d_x, h_x, x_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, h_u, size_bytes, cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    stochastic_pool<<<blocks, threads>>>(d_x, d_u, d_y, d_pick, count);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_y, d_y, size_bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_pick, d_pick, count * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, count);
    write_binary("data/pick.bin", reinterpret_cast<const float*>(h_pick), count);

    cudaFree(d_x);
    cudaFree(d_u);
    cudaFree(d_y);
    cudaFree(d_pick);
    delete[] h_x;
    delete[] h_u;
    delete[] h_y;
    delete[] h_pick;
    return 0;
}
