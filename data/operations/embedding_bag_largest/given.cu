const int VOCAB = 300;
const int DIM = 64;
const int BAGS = 200;
const int TOTAL_ITEMS = 1500;

__global__ void bag_maximum(const float* table, const int* items, const int* offsets, float* bag, int dim) {
    int k = blockIdx.x;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float best = -FLT_MAX;
        bool found = false;
        for (int e = offsets[k]; e < offsets[k + 1]; ++e) {
            int item = items[e];
            if (item >= 0) {
                best = fmaxf(best, table[item * dim + d]);
                found = true;
            }
        }
        bag[k * dim + d] = found ? best : 0.0f;
    }
}

int main() {
    size_t table_size = (size_t)VOCAB * DIM;
    size_t offsets_size = (size_t)BAGS + 1;
    size_t bag_size = (size_t)BAGS * DIM;

    float* h_table = new float[table_size];
    read_binary("data/table.bin", h_table, table_size);
    float* d_table = nullptr;
    cudaMalloc(&d_table, table_size * sizeof(float));
    cudaMemcpy(d_table, h_table, table_size * sizeof(float), cudaMemcpyHostToDevice);

    int* h_items = new int[TOTAL_ITEMS];
    read_binary("data/items.bin", reinterpret_cast<float*>(h_items), TOTAL_ITEMS);
    int* d_items = nullptr;
    cudaMalloc(&d_items, TOTAL_ITEMS * sizeof(int));
    cudaMemcpy(d_items, h_items, TOTAL_ITEMS * sizeof(int), cudaMemcpyHostToDevice);

    int* h_offsets = new int[offsets_size];
    read_binary("data/offsets.bin", reinterpret_cast<float*>(h_offsets), offsets_size);
    int* d_offsets = nullptr;
    cudaMalloc(&d_offsets, offsets_size * sizeof(int));
    cudaMemcpy(d_offsets, h_offsets, offsets_size * sizeof(int), cudaMemcpyHostToDevice);

    float* h_bag = new float[bag_size];
    float* d_bag = nullptr;
    cudaMalloc(&d_bag, bag_size * sizeof(float));

    bag_maximum<<<BAGS, 128>>>(d_table, d_items, d_offsets, d_bag, DIM);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    cudaMemcpy(h_bag, d_bag, bag_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/bag.bin", h_bag, bag_size);

    cudaFree(d_table);
    cudaFree(d_items);
    cudaFree(d_offsets);
    cudaFree(d_bag);
    delete[] h_table;
    delete[] h_items;
    delete[] h_offsets;
    delete[] h_bag;
    return 0;
}
