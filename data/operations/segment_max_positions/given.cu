constexpr int N = 15000;
constexpr int SEGMENTS = 200;

__global__ void segment_max(const float* values, const int* offsets, float* top, int* position,
                            int segments) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    int begin = offsets[s];
    int end = offsets[s + 1];
    if (begin == end) {
        top[s] = 0.0f;
        position[s] = -1;
        return;
    }
    float best = values[begin];
    int at = begin;
    for (int i = begin + 1; i < end; ++i) {
        if (values[i] > best) {
            best = values[i];
            at = i;
        }
    }
    top[s] = best;
    position[s] = at - begin;
}

int main() {
    const size_t numel = SEGMENTS + 1;
    std::vector<float> h_values(N);
    read_binary("data/values.bin", h_values.data(), N);
    std::vector<int> h_offsets(numel);
    read_binary("data/offsets.bin", reinterpret_cast<float*>(h_offsets.data()), numel);

    float* d_values;
    cudaMalloc(&d_values, sizeof(float) * N);
    int* d_offsets;
    cudaMalloc(&d_offsets, sizeof(int) * numel);
    float* d_top;
    cudaMalloc(&d_top, sizeof(float) * SEGMENTS);
    int* d_position;
    cudaMalloc(&d_position, sizeof(int) * SEGMENTS);

    cudaMemcpy(d_values, h_values.data(), sizeof(float) * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, h_offsets.data(), sizeof(int) * numel, cudaMemcpyHostToDevice);

    dim3 block(256);
    dim3 grid((SEGMENTS + block.x - 1) / block.x);
    segment_max<<<grid, block>>>(d_values, d_offsets, d_top, d_position, SEGMENTS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "error in the kernel: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    std::vector<float> h_top(SEGMENTS);
    std::vector<int> h_position(SEGMENTS);
    cudaMemcpy(h_top.data(), d_top, sizeof(float) * SEGMENTS, cudaMemcpyDeviceToHost);
    write_binary("data/top.bin", h_top.data(), SEGMENTS);
    cudaMemcpy(h_position.data(), d_position, sizeof(int) * SEGMENTS, cudaMemcpyDeviceToHost);
    write_binary("data/position.bin", reinterpret_cast<const float*>(h_position.data()), SEGMENTS);

    cudaFree(d_values);
    cudaFree(d_offsets);
    cudaFree(d_top);
    cudaFree(d_position);
    return 0;
}
