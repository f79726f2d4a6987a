#define N 20000
#define CLASSES 7

__global__ void confusion_kernel(const int* truth, const int* pred, int* matrix, int n, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int t = truth[i];
        int p = pred[i];
        if (t >= 0) atomicAdd(&matrix[t * classes + p], 1);
    }
}

int main() {
    size_t size = (size_t)CLASSES * CLASSES;

    std::vector<int> h_truth(N);
    read_binary("data/truth.bin", reinterpret_cast<float*>(h_truth.data()), N);
    std::vector<int> h_pred(N);
    read_binary("data/pred.bin", reinterpret_cast<float*>(h_pred.data()), N);
    std::vector<int> h_matrix(size);

    int *d_truth, *d_pred, *d_matrix;
    cudaMalloc(&d_truth, N * sizeof(int));
    cudaMemcpy(d_truth, h_truth.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_pred, N * sizeof(int));
    cudaMemcpy(d_pred, h_pred.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_matrix, size * sizeof(int));

    cudaMemset(d_matrix, 0, size * sizeof(int));
    int block_size = 256;
    int grid_size = (N + block_size - 1) / block_size;
    confusion_kernel<<<grid_size, block_size>>>(d_truth, d_pred, d_matrix, N, CLASSES);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_matrix.data(), d_matrix, size * sizeof(int), cudaMemcpyDeviceToHost);

    write_binary("data/matrix.bin", reinterpret_cast<float*>(h_matrix.data()), size);

    cudaFree(d_truth);
    cudaFree(d_pred);
    cudaFree(d_matrix);
    return 0;
}
