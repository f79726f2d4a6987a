#define NODES 300
#define SLOTS 12
#define HEADS 4

__device__ float leaky(float s) {
    return s > 0.0f ? s : 0.2f * s;
}

__global__ void edge_softmax(const int* table, const float* receive, const float* send, float* attention) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NODES * HEADS) return;
    int node = i / HEADS;
    int head = i % HEADS;
    const int* neighbor = table + node * SLOTS;
    float* out = attention + node * SLOTS * HEADS + head;
    float top = -FLT_MAX;
    for (int k = 0; k < SLOTS; ++k) {
        if (neighbor[k] < 0) continue;
        top = fmaxf(top, leaky(receive[i] + send[neighbor[k] * HEADS + head]));
    }
    float sum = 0.0f;
    for (int k = 0; k < SLOTS; ++k) {
        float e = 0.0f;
        if (neighbor[k] >= 0) e = expf(leaky(receive[i] + send[neighbor[k] * HEADS + head]) - top);
        out[k * HEADS] = e;
        sum += e;
    }
    if (sum == 0.0f) return;
    for (int k = 0; k < SLOTS; ++k) out[k * HEADS] /= sum;
}

int main() {
    const size_t table_total = NODES * SLOTS;
    const size_t total = NODES * HEADS;
    const size_t bytes = total * sizeof(float);

    int* h_table = new int[table_total];
    float* h_receive = new float[total];
    float* h_send = new float[total];
    float* h_attention = new float[NODES * SLOTS * HEADS];
    read_binary("data/table.bin", reinterpret_cast<float*>(h_table), table_total);
    read_binary("data/receive.bin", h_receive, total);
    read_binary("data/send.bin", h_send, total);

    int* d_table;
    cudaMalloc(&d_table, table_total * sizeof(int));
    cudaMemcpy(d_table, h_table, table_total * sizeof(int), cudaMemcpyHostToDevice);
    float* d_receive;
    cudaMalloc(&d_receive, bytes);
    cudaMemcpy(d_receive, h_receive, bytes, cudaMemcpyHostToDevice);
    float* d_send;
    cudaMalloc(&d_send, bytes);
    cudaMemcpy(d_send, h_send, bytes, cudaMemcpyHostToDevice);
    float* d_attention;
    cudaMalloc(&d_attention, NODES * SLOTS * HEADS * sizeof(float));

    const int threads = 128;
    edge_softmax<<<(NODES * HEADS + threads - 1) / threads, threads>>>(d_table, d_receive, d_send, d_attention);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_attention, d_attention, NODES * SLOTS * HEADS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/attention.bin", h_attention, NODES * SLOTS * HEADS);

    cudaFree(d_table);
    cudaFree(d_receive);
    cudaFree(d_send);
    cudaFree(d_attention);
    delete[] h_table;
    delete[] h_receive;
    delete[] h_send;
    delete[] h_attention;
    return 0;
}
