constexpr int kN = 6000;

__global__ void bcd_add(const uint32_t* a, const uint32_t* b, uint32_t* sum, uint8_t* carry, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t result = 0, c = 0;
    for (int shift = 0; shift < 32; shift += 4) {
        uint32_t digit = ((a[i] >> shift) & 15u) + ((b[i] >> shift) & 15u) + c;
        c = digit >= 10 ? 1 : 0;
        if (c) digit -= 10;
        result |= digit << shift;
    }
    sum[i] = result;
    carry[i] = (uint8_t)c;
}

int main() {
    uint32_t* h_a = new uint32_t[kN];
    read_binary("data/a.bin", reinterpret_cast<float*>(h_a), kN);
    uint32_t* h_b = new uint32_t[kN];
    read_binary("data/b.bin", reinterpret_cast<float*>(h_b), kN);

    uint32_t* d_a;
    uint32_t* d_b;
    uint32_t* d_sum;
    uint8_t* d_carry;
    cudaMalloc(&d_a, kN * sizeof(uint32_t));
    cudaMemcpy(d_a, h_a, kN * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMalloc(&d_b, kN * sizeof(uint32_t));
    cudaMemcpy(d_b, h_b, kN * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMalloc(&d_sum, kN * sizeof(uint32_t));
    cudaMalloc(&d_carry, kN * sizeof(uint8_t));

    dim3 block(256);
    dim3 grid((kN + block.x - 1) / block.x);
    bcd_add<<<grid, block>>>(d_a, d_b, d_sum, d_carry, kN);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    uint32_t* h_sum = new uint32_t[kN];
    cudaMemcpy(h_sum, d_sum, kN * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    write_binary("data/sum.bin", reinterpret_cast<const float*>(h_sum), kN);
    uint8_t* h_carry = new uint8_t[kN];
    cudaMemcpy(h_carry, d_carry, kN * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream out("data/carry.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_carry), kN);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_sum);
    cudaFree(d_carry);
    delete[] h_a;
    delete[] h_b;
    delete[] h_sum;
    delete[] h_carry;
    return 0;
}
