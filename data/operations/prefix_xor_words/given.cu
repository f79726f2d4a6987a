const int N = 20000;
const int BLOCK = 256;
const int PARTS = (N + BLOCK - 1) / BLOCK;

__global__ void scan_parts(const unsigned int* words, unsigned int* prefix, unsigned int* totals) {
    __shared__ unsigned int s[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    s[t] = i < N ? words[i] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        unsigned int earlier = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] ^= earlier;
        __syncthreads();
    }
    if (i < N) prefix[i] = s[t];
    if (t == BLOCK - 1) totals[blockIdx.x] = s[t];
}

// A single block replaces each total by the xor of all totals before it.
__global__ void scan_totals(unsigned int* totals) {
    __shared__ unsigned int s[BLOCK];
    int t = threadIdx.x;
    unsigned int carry = 0;
    for (int start = 0; start < PARTS; start += BLOCK) {
        int i = start + t;
        unsigned int own = i < PARTS ? totals[i] : 0;
        s[t] = own;
        __syncthreads();
        for (int d = 1; d < BLOCK; d *= 2) {
            unsigned int earlier = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] ^= earlier;
            __syncthreads();
        }
        if (i < PARTS) totals[i] = carry ^ s[t] ^ own;
        carry ^= s[BLOCK - 1];
        __syncthreads();
    }
}

__global__ void combine(unsigned int* prefix, const unsigned int* totals) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) prefix[i] ^= totals[blockIdx.x];
}

int main() {
    unsigned int* h_words = new unsigned int[N];
    read_binary("data/words.bin", reinterpret_cast<float*>(h_words), N);
    unsigned int* h_prefix = new unsigned int[N];

    unsigned int* d_words = nullptr;
    unsigned int* d_prefix = nullptr;
    unsigned int* d_totals = nullptr;
    cudaMalloc(&d_words, N * sizeof(unsigned int));
    cudaMalloc(&d_prefix, N * sizeof(unsigned int));
    cudaMalloc(&d_totals, PARTS * sizeof(unsigned int));
    cudaMemcpy(d_words, h_words, N * sizeof(unsigned int), cudaMemcpyHostToDevice);

    scan_parts<<<PARTS, BLOCK>>>(d_words, d_prefix, d_totals);
    scan_totals<<<1, BLOCK>>>(d_totals);
    combine<<<PARTS, BLOCK>>>(d_prefix, d_totals);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_prefix, d_prefix, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/prefix.bin", reinterpret_cast<const float*>(h_prefix), N);

    cudaFree(d_words);
    delete[] h_words;
    cudaFree(d_prefix);
    delete[] h_prefix;
    cudaFree(d_totals);
    return 0;
}
