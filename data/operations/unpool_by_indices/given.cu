static const int kPlanes = 6;
static const int kRows = 40;
static const int kCols = 50;

__global__ void scatter(const float* values, const int* indices, float* image, int planes, int rows,
                        int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * rows * cols) return;
    int plane = i / (rows * cols);
    image[(size_t)plane * 4 * rows * cols + indices[i]] = values[i];
}

int main() {
    const size_t values_count = (size_t)kPlanes * kRows * kCols;
    const size_t image_count = static_cast<size_t>(kPlanes) * kRows * 2 * kCols * 2;
    const size_t values_bytes = values_count * sizeof(float);
    const size_t indices_bytes = values_count * sizeof(int);
    const size_t image_bytes = image_count * sizeof(float);
    float* h_values = new float[values_count];
    read_binary("data/values.bin", h_values, values_count);
    int* h_indices = new int[values_count];
    read_binary("data/indices.bin", reinterpret_cast<float*>(h_indices), values_count);
    float* h_image = new float[image_count];

    float* d_values;
    cudaMalloc(&d_values, values_bytes);
    int* d_indices;
    cudaMalloc(&d_indices, indices_bytes);
    float* d_image;
    cudaMalloc(&d_image, image_bytes);

    cudaMemcpy(d_values, h_values, values_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_indices, h_indices, indices_bytes, cudaMemcpyHostToDevice);
    cudaMemset(d_image, 0, image_bytes);

    dim3 block(128);
    dim3 grid((values_count + 128 - 1) / 128);
    scatter<<<grid, block>>>(d_values, d_indices, d_image, kPlanes, kRows, kCols);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_image, d_image, image_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/image.bin", h_image, image_count);

    delete[] h_values;
    delete[] h_indices;
    delete[] h_image;
    cudaFree(d_values);
    cudaFree(d_indices);
    cudaFree(d_image);
    return 0;
}
