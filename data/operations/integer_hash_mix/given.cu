const int N = 12000;

__device__ unsigned int mix(unsigned int key) {
    unsigned int h = key + 0x9e3779b9u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}

__global__ void hash_kernel(const unsigned int* key, const unsigned int* buckets,
                            unsigned int* hash, int* bucket, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int h = mix(key[i]);
    hash[i] = h;
    bucket[i] = (int)__umulhi(h, buckets[0]);
}

int main() {
    std::vector<unsigned int> h_key(N);
    std::vector<unsigned int> h_buckets(1);
    std::vector<unsigned int> h_hash(N);
    std::vector<int> h_bucket(N);
    read_binary("data/key.bin", reinterpret_cast<float*>(h_key.data()), N);
    read_binary("data/buckets.bin", reinterpret_cast<float*>(h_buckets.data()), 1);

    unsigned int *d_key, *d_buckets, *d_hash;
    int *d_bucket;
    cudaMalloc(&d_key, N * sizeof(unsigned int));
    cudaMalloc(&d_buckets, sizeof(unsigned int));
    cudaMalloc(&d_hash, N * sizeof(unsigned int));
    cudaMalloc(&d_bucket, N * sizeof(int));
    cudaMemcpy(d_key, h_key.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_buckets, h_buckets.data(), sizeof(unsigned int), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (N + threads - 1) / threads;
    hash_kernel<<<blocks, threads>>>(d_key, d_buckets, d_hash, d_bucket, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_hash.data(), d_hash, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/hash.bin", reinterpret_cast<const float*>(h_hash.data()), N);
    cudaMemcpy(h_bucket.data(), d_bucket, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/bucket.bin", reinterpret_cast<const float*>(h_bucket.data()), N);

    cudaFree(d_bucket);
    cudaFree(d_hash);
    cudaFree(d_buckets);
    cudaFree(d_key);
    return 0;
}
