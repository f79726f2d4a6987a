const int COUNT = 15000;
const int EDGE_COUNT = 40;

__global__ void bucketize(const float* x, const float* edges, int* bucket, float* fraction, int count,
                          int edge_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float v = x[i];
    int lo = 0, hi = edge_count;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (edges[mid] <= v) lo = mid + 1;
        else hi = mid;
    }
    bucket[i] = lo;
    if (lo == 0) fraction[i] = 0.0f;
    else if (lo == edge_count) fraction[i] = 1.0f;
    else fraction[i] = (v - edges[lo - 1]) / (edges[lo] - edges[lo - 1]);
}

int main() {
    float* h_x = new float[COUNT];
    read_binary("data/x.bin", h_x, COUNT);
    float* h_edges = new float[EDGE_COUNT];
    read_binary("data/edges.bin", h_edges, EDGE_COUNT);
    int* h_bucket = new int[COUNT];
    float* h_fraction = new float[COUNT];

    float *d_x, *d_edges, *d_fraction;
    int *d_bucket;
    cudaMalloc(&d_x, sizeof(float) * COUNT);
    cudaMalloc(&d_edges, sizeof(float) * EDGE_COUNT);
    cudaMalloc(&d_bucket, sizeof(int) * COUNT);
    cudaMalloc(&d_fraction, sizeof(float) * COUNT);
    cudaMemcpy(d_x, h_x, sizeof(float) * COUNT, cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, h_edges, sizeof(float) * EDGE_COUNT, cudaMemcpyHostToDevice);

    const int block = 512;
    bucketize<<<(COUNT + block - 1) / block, block>>>(d_x, d_edges, d_bucket, d_fraction, COUNT, EDGE_COUNT);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "error\n";
        return 1;
    }
    cudaDeviceSynchronize();

    cudaMemcpy(h_bucket, d_bucket, sizeof(int) * COUNT, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_fraction, d_fraction, sizeof(float) * COUNT, cudaMemcpyDeviceToHost);
    write_binary("data/bucket.bin", reinterpret_cast<const float*>(h_bucket), COUNT);
    write_binary("data/fraction.bin", h_fraction, COUNT);

    cudaFree(d_x);
    delete[] h_x;
    cudaFree(d_edges);
    delete[] h_edges;
    cudaFree(d_bucket);
    delete[] h_bucket;
    cudaFree(d_fraction);
    delete[] h_fraction;
    return 0;
}
