const int PLANES = 20;
const int PIXELS = 600;
const int STYLE_PIXELS = 450;
const int BLOCK = 256;

__device__ float block_sum(float value, float* shared) {
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) shared[t] += shared[t + s];
        __syncthreads();
    }
    float total = shared[0];
    __syncthreads();
    return total;
}

__device__ float row_mean(const float* row, int length, float* shared) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < length; i += BLOCK) sum += row[i];
    return block_sum(sum, shared) / length;
}

__device__ float row_deviation(const float* row, int length, float mean, float* shared) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < length; i += BLOCK) sum += (row[i] - mean) * (row[i] - mean);
    return sqrtf(block_sum(sum, shared) / length + 1e-5f);
}

__global__ void transfer_style(const float* content, const float* style, float* mixed,
                               int pixels, int style_pixels) {
    __shared__ float shared[BLOCK];
    const float* c = content + (size_t)blockIdx.x * pixels;
    const float* s = style + (size_t)blockIdx.x * style_pixels;
    float mc = row_mean(c, pixels, shared);
    float sc = row_deviation(c, pixels, mc, shared);
    float ms = row_mean(s, style_pixels, shared);
    float ss = row_deviation(s, style_pixels, ms, shared);
    for (int i = threadIdx.x; i < pixels; i += BLOCK) {
        mixed[(size_t)blockIdx.x * pixels + i] = ss * (c[i] - mc) / sc + ms;
    }
}

int main() {
    const int size = PLANES * PIXELS;
    const size_t style_size = PLANES * STYLE_PIXELS;
    const size_t bytes = size * sizeof(float);
    float* h_content = new float[size];
    float* h_style = new float[style_size];
    read_binary("data/content.bin", h_content, size);
    read_binary("data/style.bin", h_style, style_size);
    float* d_content = nullptr;
    float* d_style = nullptr;
    float* d_mixed = nullptr;
    cudaMalloc(&d_content, bytes);
    cudaMalloc(&d_style, style_size * sizeof(float));
    cudaMalloc(&d_mixed, bytes);
    cudaMemcpy(d_content, h_content, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_style, h_style, style_size * sizeof(float), cudaMemcpyHostToDevice);

    transfer_style<<<PLANES, BLOCK>>>(d_content, d_style, d_mixed, PIXELS, STYLE_PIXELS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "error" << std::endl;
        return 1;
    }

    float* h_mixed = new float[size];
    cudaMemcpy(h_mixed, d_mixed, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/mixed.bin", h_mixed, size);

    delete[] h_content;
    delete[] h_style;
    delete[] h_mixed;
    cudaFree(d_content);
    cudaFree(d_style);
    cudaFree(d_mixed);
    return 0;
}
