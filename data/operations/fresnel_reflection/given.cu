constexpr int N = 6000;

__global__ void fresnel(const float* angle, const float* index_in, const float* index_out,
                        float* reflect_s, float* reflect_p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float n1 = index_in[i];
    float n2 = index_out[i];
    float c1 = cosf(angle[i]);
    float s2 = n1 / n2 * sinf(angle[i]);
    if (s2 >= 1.0f) {
        reflect_s[i] = 1.0f;
        reflect_p[i] = 1.0f;
        return;
    }
    float c2 = sqrtf(1.0f - s2 * s2);
    float rs = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2);
    float rp = (n1 * c2 - n2 * c1) / (n1 * c2 + n2 * c1);
    reflect_s[i] = rs * rs;
    reflect_p[i] = rp * rp;
}

int main() {
    const size_t bytes = N * sizeof(float);
    float* h_angle = new float[N];
    read_binary("data/angle.bin", h_angle, N);
    float* d_angle;
    cudaMalloc(&d_angle, bytes);
    cudaMemcpy(d_angle, h_angle, bytes, cudaMemcpyHostToDevice);

    float* h_index_in = new float[N];
    read_binary("data/index_in.bin", h_index_in, N);
    float* d_index_in;
    cudaMalloc(&d_index_in, bytes);
    cudaMemcpy(d_index_in, h_index_in, bytes, cudaMemcpyHostToDevice);

    float* h_index_out = new float[N];
    read_binary("data/index_out.bin", h_index_out, N);
    float* d_index_out;
    cudaMalloc(&d_index_out, bytes);
    cudaMemcpy(d_index_out, h_index_out, bytes, cudaMemcpyHostToDevice);

    float* h_reflect_s = new float[N];
    float* d_reflect_s;
    cudaMalloc(&d_reflect_s, bytes);
    float* h_reflect_p = new float[N];
    float* d_reflect_p;
    cudaMalloc(&d_reflect_p, bytes);

    int block_size = 512;
    int grid_size = (N + block_size - 1) / block_size;
    fresnel<<<grid_size, block_size>>>(d_angle, d_index_in, d_index_out, d_reflect_s, d_reflect_p, N);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_reflect_s, d_reflect_s, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/reflect_s.bin", h_reflect_s, N);
    cudaMemcpy(h_reflect_p, d_reflect_p, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/reflect_p.bin", h_reflect_p, N);

    delete[] h_angle;
    delete[] h_index_in;
    delete[] h_index_out;
    delete[] h_reflect_s;
    delete[] h_reflect_p;
    cudaFree(d_angle);
    cudaFree(d_index_in);
    cudaFree(d_index_out);
    cudaFree(d_reflect_s);
    cudaFree(d_reflect_p);
    return 0;
}
