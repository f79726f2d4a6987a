constexpr int kN = 10000;

__global__ void select_value(const int* code, const float* a, const float* b, const float* c,
                             float* picked, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    float y = b[i];
    float z = c[i];
    float result;
    if (code[i] == 0) result = x;
    else if (code[i] == 1) result = y;
    else if (code[i] == 2) result = z;
    else if (code[i] == 3) result = fmaxf(fminf(x, y), fminf(fmaxf(x, y), z));
    else if (code[i] == 4) result = (x + y + z) / 3.0f;
    else result = copysignf(x, y);
    picked[i] = result;
}

int main() {
    int* h_code = new int[kN];
    float* h_a = new float[kN];
    float* h_b = new float[kN];
    float* h_c = new float[kN];
    float* h_picked = new float[kN];

    read_binary("data/code.bin", reinterpret_cast<float*>(h_code), kN);
    read_binary("data/a.bin", h_a, kN);
    read_binary("data/b.bin", h_b, kN);
    read_binary("data/c.bin", h_c, kN);

    int *d_code;
    float *d_a, *d_b, *d_c, *d_picked;
    cudaMalloc(&d_code, kN * sizeof(int));
    cudaMalloc(&d_a, kN * sizeof(float));
    cudaMalloc(&d_b, kN * sizeof(float));
    cudaMalloc(&d_c, kN * sizeof(float));
    cudaMalloc(&d_picked, kN * sizeof(float));
    cudaMemcpy(d_code, h_code, kN * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a, h_a, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_c, h_c, kN * sizeof(float), cudaMemcpyHostToDevice);

    const int block_size = 256;
    const int num_blocks = (kN + block_size - 1) / block_size;
    select_value<<<num_blocks, block_size>>>(d_code, d_a, d_b, d_c, d_picked, kN);
    cudaDeviceSynchronize();

    cudaMemcpy(h_picked, d_picked, kN * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/picked.bin", h_picked, kN);

    cudaFree(d_code);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    cudaFree(d_picked);
    delete[] h_code;
    delete[] h_a;
    delete[] h_b;
    delete[] h_c;
    delete[] h_picked;
    return 0;
}
