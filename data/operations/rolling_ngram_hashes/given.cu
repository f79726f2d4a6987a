const int ROWS = 50;
const int LENGTH = 200;
const int GRAMS = LENGTH - 2;

__global__ void hash_trigrams(const int* tokens, unsigned int* hash, unsigned int* smallest, int rows,
                              int length, int grams) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * grams) return;
    int r = i / grams;
    const int* t = tokens + r * length + i % grams;
    unsigned int h = (unsigned int)t[0] * 1000003u;
    h = (h ^ (unsigned int)t[1]) * 1000003u;
    h ^= (unsigned int)t[2];
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    hash[i] = h;
    atomicMin(&smallest[r], h);
}

int main() {
    const int hash_count = ROWS * GRAMS;

    int* h_tokens = new int[ROWS * LENGTH];
    unsigned int* h_hash = new unsigned int[hash_count];
    unsigned int* h_smallest = new unsigned int[ROWS];
    read_binary("data/tokens.bin", reinterpret_cast<float*>(h_tokens), ROWS * LENGTH);

    int *d_tokens;
    unsigned int *d_hash, *d_smallest;
    cudaMalloc(&d_tokens, ROWS * LENGTH * sizeof(int));
    cudaMalloc(&d_hash, hash_count * sizeof(unsigned int));
    cudaMalloc(&d_smallest, ROWS * sizeof(unsigned int));
    cudaMemcpy(d_tokens, h_tokens, ROWS * LENGTH * sizeof(int), cudaMemcpyHostToDevice);

    cudaMemset(d_smallest, 0xff, ROWS * sizeof(unsigned int));
    const int block = 256;
    const int grid = (hash_count + block - 1) / block;
    hash_trigrams<<<grid, block>>>(d_tokens, d_hash, d_smallest, ROWS, LENGTH, GRAMS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_hash, d_hash, hash_count * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/hash.bin", reinterpret_cast<const float*>(h_hash), hash_count);
    cudaMemcpy(h_smallest, d_smallest, ROWS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/smallest.bin", reinterpret_cast<const float*>(h_smallest), ROWS);

    cudaFree(d_tokens);
    delete[] h_tokens;
    cudaFree(d_hash);
    delete[] h_hash;
    cudaFree(d_smallest);
    delete[] h_smallest;
    return 0;
}
