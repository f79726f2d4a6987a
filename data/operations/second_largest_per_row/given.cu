const int ROWS = 64;
const int COLS = 257;
const int BLOCK = 128;

// Column of the largest value of the row, with one column left out.
__device__ int largest_column(const float* row, int cols, int excluded, float* value, int* column) {
    int tid = threadIdx.x;
    __syncthreads();
    value[tid] = -FLT_MAX;
    column[tid] = 0;
    for (int c = tid; c < cols; c += BLOCK) {
        if (c != excluded && row[c] > value[tid]) {
            value[tid] = row[c];
            column[tid] = c;
        }
    }
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (tid < stride && value[tid + stride] > value[tid]) {
            value[tid] = value[tid + stride];
            column[tid] = column[tid + stride];
        }
        __syncthreads();
    }
    return column[0];
}

__global__ void second_largest(const float* scores, float* second, int* where, int cols) {
    __shared__ float value[BLOCK];
    __shared__ int column[BLOCK];
    const float* row = scores + (size_t)blockIdx.x * cols;
    int first = largest_column(row, cols, -1, value, column);
    int next = largest_column(row, cols, first, value, column);
    if (threadIdx.x == 0) {
        second[blockIdx.x] = row[next];
        where[blockIdx.x] = next;
    }
}

int main() {
    const int numel = ROWS * COLS;

    float* h_scores = new float[numel];
    read_binary("data/scores.bin", h_scores, numel);
    float* d_scores;
    cudaMalloc((void**)&d_scores, numel * sizeof(float));
    cudaMemcpy(d_scores, h_scores, numel * sizeof(float), cudaMemcpyHostToDevice);

    float* h_second = new float[ROWS];
    float* d_second;
    cudaMalloc((void**)&d_second, ROWS * sizeof(float));
    int* h_where = new int[ROWS];
    int* d_where;
    cudaMalloc((void**)&d_where, ROWS * sizeof(int));

    dim3 grid(ROWS);
    dim3 block(BLOCK);
    second_largest<<<grid, block>>>(d_scores, d_second, d_where, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_second, d_second, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/second.bin", h_second, ROWS);
    cudaMemcpy(h_where, d_where, ROWS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/where.bin", reinterpret_cast<float*>(h_where), ROWS);

    cudaFree(d_scores);
    cudaFree(d_second);
    cudaFree(d_where);
    delete[] h_scores;
    delete[] h_second;
    delete[] h_where;
    return 0;
}
