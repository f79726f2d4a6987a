constexpr int PARTITIONS = 7;
constexpr int NODES = 600;
constexpr int EDGES = 4000;

__global__ void cut_weights(const int* edge, const int* weight, const unsigned char* side, int* cut,
                            int edges, int nodes) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y;
    if (e >= edges) return;
    const unsigned char* s = side + (size_t)p * nodes;
    if (s[edge[2 * e]] != s[edge[2 * e + 1]]) atomicAdd(&cut[p], weight[e]);
}

int main() {
    const size_t side_floats = (PARTITIONS * NODES + 3) / 4;

    std::vector<int> h_edge(EDGES * 2);
    std::vector<int> h_weight(EDGES);
    std::vector<unsigned char> h_side(4 * side_floats);
    std::vector<int> h_cut(PARTITIONS);
    read_binary("data/edge.bin", reinterpret_cast<float*>(h_edge.data()), EDGES * 2);
    read_binary("data/weight.bin", reinterpret_cast<float*>(h_weight.data()), EDGES);
    read_binary("data/side.bin", reinterpret_cast<float*>(h_side.data()), side_floats);

    int* d_edge;
    cudaMalloc(&d_edge, sizeof(int) * EDGES * 2);
    cudaMemcpy(d_edge, h_edge.data(), sizeof(int) * EDGES * 2, cudaMemcpyHostToDevice);
    int* d_weight;
    cudaMalloc(&d_weight, sizeof(int) * EDGES);
    cudaMemcpy(d_weight, h_weight.data(), sizeof(int) * EDGES, cudaMemcpyHostToDevice);
    unsigned char* d_side;
    cudaMalloc(&d_side, sizeof(unsigned char) * PARTITIONS * NODES);
    cudaMemcpy(d_side, h_side.data(), sizeof(unsigned char) * PARTITIONS * NODES, cudaMemcpyHostToDevice);
    int* d_cut;
    cudaMalloc(&d_cut, sizeof(int) * PARTITIONS);

    cudaMemset(d_cut, 0, PARTITIONS * sizeof(int));
    dim3 block(256);
    dim3 grid((EDGES + block.x - 1) / block.x, PARTITIONS);
    cut_weights<<<grid, block>>>(d_edge, d_weight, d_side, d_cut, EDGES, NODES);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "device error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_cut.data(), d_cut, sizeof(int) * PARTITIONS, cudaMemcpyDeviceToHost);
    write_binary("data/cut.bin", reinterpret_cast<const float*>(h_cut.data()), PARTITIONS);

    cudaFree(d_edge);
    cudaFree(d_weight);
    cudaFree(d_side);
    cudaFree(d_cut);
    return 0;
}
