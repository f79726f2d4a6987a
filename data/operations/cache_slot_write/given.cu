const int BATCH = 2;
const int HEADS = 3;
const int SLOTS = 50;
const int DIM = 32;
const int TOKENS = 20;

__global__ void write_slots(const float* fresh, const int* slot, float* updated, int batch, int heads,
                            int slots, int dim, int tokens) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * tokens * heads * dim) return;
    int d = i % dim;
    int h = i / dim % heads;
    int t = i / (dim * heads) % tokens;
    int b = i / (dim * heads * tokens);
    int s = slot[b * tokens + t];
    if (s >= 0) updated[((b * heads + h) * slots + s) * dim + d] = fresh[i];
}

int main() {
    const int items = BATCH * HEADS * SLOTS * DIM;
    const int fresh_count = BATCH * TOKENS * HEADS * DIM;
    const int slot_size = BATCH * TOKENS;
    float* h_cache = new float[items];
    read_binary("data/cache.bin", h_cache, items);
    float* h_fresh = new float[fresh_count];
    read_binary("data/fresh.bin", h_fresh, fresh_count);
    int* h_slot = new int[slot_size];
    read_binary("data/slot.bin", reinterpret_cast<float*>(h_slot), slot_size);

    float* d_cache = nullptr;
    float* d_fresh = nullptr;
    int* d_slot = nullptr;
    float* d_updated = nullptr;
    cudaMalloc(&d_cache, items * sizeof(float));
    cudaMemcpy(d_cache, h_cache, items * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_fresh, fresh_count * sizeof(float));
    cudaMemcpy(d_fresh, h_fresh, fresh_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_slot, slot_size * sizeof(int));
    cudaMemcpy(d_slot, h_slot, slot_size * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_updated, items * sizeof(float));

    cudaMemcpy(d_updated, d_cache, items * sizeof(float), cudaMemcpyDeviceToDevice);
    int threads = 256;
    int blocks = (fresh_count + threads - 1) / threads;
    write_slots<<<blocks, threads>>>(d_fresh, d_slot, d_updated, BATCH, HEADS, SLOTS, DIM, TOKENS);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "device error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    float* h_updated = new float[items];
    cudaMemcpy(h_updated, d_updated, items * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/updated.bin", h_updated, items);

    cudaFree(d_cache);
    cudaFree(d_fresh);
    cudaFree(d_slot);
    cudaFree(d_updated);
    delete[] h_cache;
    delete[] h_fresh;
    delete[] h_slot;
    delete[] h_updated;
    return 0;
}
