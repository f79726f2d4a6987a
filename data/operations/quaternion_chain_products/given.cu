#define CHAINS 200
#define LENGTH 32

__global__ void multiply_chains(const float* links, float* product, int chains, int length) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chains) return;
    float w = 1.0f, x = 0.0f, y = 0.0f, z = 0.0f;
    for (int k = 0; k < length; ++k) {
        const float* q = links + (c * length + k) * 4;
        float w2 = q[0], x2 = q[1], y2 = q[2], z2 = q[3];
        float nw = w * w2 - x * x2 - y * y2 - z * z2;
        float nx = w * x2 + w2 * x + y * z2 - z * y2;
        float ny = w * y2 + w2 * y + z * x2 - x * z2;
        float nz = w * z2 + w2 * z + x * y2 - y * x2;
        w = nw;
        x = nx;
        y = ny;
        z = nz;
    }
    float norm = sqrtf(w * w + x * x + y * y + z * z);
    product[4 * c] = w / norm;
    product[4 * c + 1] = x / norm;
    product[4 * c + 2] = y / norm;
    product[4 * c + 3] = z / norm;
}

int main() {
    const int links_count = CHAINS * LENGTH * 4;
    const int product_count = CHAINS * 4;

    float* h_links = new float[links_count];
    read_binary("data/links.bin", h_links, links_count);
    float* d_links = nullptr;
    cudaMalloc(&d_links, links_count * sizeof(float));
    cudaMemcpy(d_links, h_links, links_count * sizeof(float), cudaMemcpyHostToDevice);

    float* h_product = new float[product_count];
    float* d_product = nullptr;
    cudaMalloc(&d_product, product_count * sizeof(float));

    const int block_size = 128;
    const int grid_size = (CHAINS + block_size - 1) / block_size;
    multiply_chains<<<grid_size, block_size>>>(d_links, d_product, CHAINS, LENGTH);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_product, d_product, product_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/product.bin", h_product, product_count);

    cudaFree(d_links);
    cudaFree(d_product);

    delete[] h_links;
    delete[] h_product;
    return 0;
}
