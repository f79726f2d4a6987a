#define HEIGHT 96
#define WIDTH 130

__global__ void flow_derivatives(const float* u, const float* v, float* divergence, float* vorticity,
                                 int height, int width) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    int left = row * width + (col + width - 1) % width;
    int right = row * width + (col + 1) % width;
    int above = (row + height - 1) % height * width + col;
    int below = (row + 1) % height * width + col;
    float du_dx = 0.5f * (u[right] - u[left]);
    float du_dy = 0.5f * (u[below] - u[above]);
    float dv_dx = 0.5f * (v[right] - v[left]);
    float dv_dy = 0.5f * (v[below] - v[above]);
    int here = row * width + col;
    divergence[here] = du_dx + dv_dy;
    vorticity[here] = dv_dx - du_dy;
}

int main() {
    size_t n = (size_t)HEIGHT * WIDTH;

    std::vector<float> h_u(n);
    std::vector<float> h_v(n);
    read_binary("data/u.bin", h_u.data(), n);
    read_binary("data/v.bin", h_v.data(), n);

    float* d_u;
    float* d_v;
    cudaMalloc(&d_u, n * sizeof(float));
    cudaMalloc(&d_v, n * sizeof(float));
    cudaMemcpy(d_u, h_u.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    float* d_divergence;
    float* d_vorticity;
    cudaMalloc(&d_divergence, n * sizeof(float));
    cudaMalloc(&d_vorticity, n * sizeof(float));

    dim3 threads(32, 8);
    dim3 blocks((WIDTH + 31) / 32, (HEIGHT + 7) / 8);
    flow_derivatives<<<blocks, threads>>>(d_u, d_v, d_divergence, d_vorticity, HEIGHT, WIDTH);

    std::vector<float> h_divergence(n);
    cudaMemcpy(h_divergence.data(), d_divergence, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/divergence.bin", h_divergence.data(), n);
    std::vector<float> h_vorticity(n);
    cudaMemcpy(h_vorticity.data(), d_vorticity, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/vorticity.bin", h_vorticity.data(), n);

    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_divergence);
    cudaFree(d_vorticity);
    return 0;
}
