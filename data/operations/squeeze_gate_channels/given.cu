#define BATCH 4
#define CHANNELS 6
#define PLANE 900

__global__ void squeeze_gate(const float* x, const float* weight, const float* shift, float* y,
                             float* gate, int channels, int plane) {
    __shared__ float sums[256];
    const int c = blockIdx.x % channels;
    const float* in = x + (size_t)blockIdx.x * plane;
    float* out = y + (size_t)blockIdx.x * plane;
    float sum = 0.0f;
    for (int p = threadIdx.x; p < plane; p += blockDim.x) sum += in[p];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    float g = 1.0f / (1.0f + expf(-(weight[c] * sums[0] / plane + shift[c])));
    if (threadIdx.x == 0) gate[blockIdx.x] = g;
    for (int p = threadIdx.x; p < plane; p += blockDim.x) out[p] = in[p] * g;
}

int main() {
    int x_elems = BATCH * CHANNELS * PLANE;
    int gate_elems = BATCH * CHANNELS;
    float* h_x = new float[x_elems];
    read_binary("data/x.bin", h_x, x_elems);
    float* h_weight = new float[CHANNELS];
    read_binary("data/weight.bin", h_weight, CHANNELS);
    float* h_shift = new float[CHANNELS];
    read_binary("data/shift.bin", h_shift, CHANNELS);
    float* h_y = new float[x_elems];
    float* h_gate = new float[gate_elems];

    float* d_x;
    cudaMalloc(&d_x, sizeof(float) * x_elems);
    float* d_weight;
    cudaMalloc(&d_weight, sizeof(float) * CHANNELS);
    float* d_shift;
    cudaMalloc(&d_shift, sizeof(float) * CHANNELS);
    float* d_y;
    cudaMalloc(&d_y, sizeof(float) * x_elems);
    float* d_gate;
    cudaMalloc(&d_gate, sizeof(float) * gate_elems);
    cudaMemcpy(d_x, h_x, sizeof(float) * x_elems, cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);
    cudaMemcpy(d_shift, h_shift, sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);

    dim3 grid(gate_elems);
    dim3 block(256);
    squeeze_gate<<<grid, block>>>(d_x, d_weight, d_shift, d_y, d_gate, CHANNELS, PLANE);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, sizeof(float) * x_elems, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_gate, d_gate, sizeof(float) * gate_elems, cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, x_elems);
    write_binary("data/gate.bin", h_gate, gate_elems);

    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_shift);
    cudaFree(d_y);
    cudaFree(d_gate);
    delete[] h_x;
    delete[] h_weight;
    delete[] h_shift;
    delete[] h_y;
    delete[] h_gate;
    return 0;
}
