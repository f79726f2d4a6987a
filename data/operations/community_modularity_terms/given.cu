constexpr int kNodes = 500;
constexpr int kEdges = 5000;
constexpr int kCommunities = 11;

__global__ void sum_edges(const int* edge, const float* weight, const int* community, float* inside, float* ends,
                          float* total_weight, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    float w = weight[e];
    int a = community[edge[2 * e]];
    int b = community[edge[2 * e + 1]];
    if (a == b) atomicAdd(&inside[a], w);
    atomicAdd(&ends[a], w);
    atomicAdd(&ends[b], w);
    atomicAdd(total_weight, w);
}

__global__ void modularity_terms(const float* inside, const float* ends, const float* total_weight, float* term,
                                 int communities) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= communities) return;
    float w = total_weight[0];
    float share = ends[c] / (2.0f * w);
    term[c] = inside[c] / w - share * share;
}

int main() {
    const size_t size = kEdges * 2;
    const size_t size_bytes = kCommunities * sizeof(float);
    int* h_edge = new int[size];
    read_binary("data/edge.bin", reinterpret_cast<float*>(h_edge), size);
    int* d_edge = nullptr;
    cudaMalloc(&d_edge, size * sizeof(int));
    cudaMemcpy(d_edge, h_edge, size * sizeof(int), cudaMemcpyHostToDevice);

    float* h_weight = new float[kEdges];
    read_binary("data/weight.bin", h_weight, kEdges);
    float* d_weight = nullptr;
    cudaMalloc(&d_weight, kEdges * sizeof(float));
    cudaMemcpy(d_weight, h_weight, kEdges * sizeof(float), cudaMemcpyHostToDevice);

    int* h_community = new int[kNodes];
    read_binary("data/community.bin", reinterpret_cast<float*>(h_community), kNodes);
    int* d_community = nullptr;
    cudaMalloc(&d_community, kNodes * sizeof(int));
    cudaMemcpy(d_community, h_community, kNodes * sizeof(int), cudaMemcpyHostToDevice);

    float* h_inside = new float[kCommunities];
    float* d_inside = nullptr;
    cudaMalloc(&d_inside, size_bytes);
    float* h_term = new float[kCommunities];
    float* d_term = nullptr;
    cudaMalloc(&d_term, size_bytes);
    float* d_ends = nullptr;
    cudaMalloc(&d_ends, size_bytes);
    float* d_total_weight = nullptr;
    cudaMalloc(&d_total_weight, sizeof(float));

    cudaMemset(d_inside, 0, kCommunities * sizeof(float));
    cudaMemset(d_ends, 0, kCommunities * sizeof(float));
    cudaMemset(d_total_weight, 0, sizeof(float));
    int block = 256;
    int grid = (kEdges + block - 1) / block;
    sum_edges<<<grid, block>>>(d_edge, d_weight, d_community, d_inside, d_ends, d_total_weight, kEdges);
    grid = (kCommunities + block - 1) / block;
    modularity_terms<<<grid, block>>>(d_inside, d_ends, d_total_weight, d_term, kCommunities);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error" << "\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_inside, d_inside, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/inside.bin", h_inside, kCommunities);
    cudaMemcpy(h_term, d_term, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/term.bin", h_term, kCommunities);

    cudaFree(d_edge);
    cudaFree(d_weight);
    cudaFree(d_community);
    cudaFree(d_inside);
    cudaFree(d_term);
    cudaFree(d_ends);
    cudaFree(d_total_weight);
    delete[] h_edge;
    delete[] h_weight;
    delete[] h_community;
    delete[] h_inside;
    delete[] h_term;
    return 0;
}
