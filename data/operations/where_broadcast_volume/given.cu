constexpr int kPlanes = 9;
constexpr int kHeight = 50;
constexpr int kWidth = 70;

__global__ void select_volume(const unsigned char* mask, const float* left, const float* right, float* selected,
                              int height, int width, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int w = i % width;
    int h = i / width % height;
    int p = i / (width * height);
    if (mask[p * width + w] != 0) selected[i] = left[p * height + h];
    else selected[i] = right[h * width + w];
}

int main() {
    const size_t mask_total = kPlanes * kWidth;
    const int left_size = kPlanes * kHeight;
    const int right_total = kHeight * kWidth;
    const int selected_size = kPlanes * kHeight * kWidth;
    const size_t mask_floats = (mask_total + 3) / 4;
    std::vector<unsigned char> h_mask(4 * mask_floats);
    read_binary("data/mask.bin", reinterpret_cast<float*>(h_mask.data()), mask_floats);
    std::vector<float> h_left(left_size);
    read_binary("data/left.bin", h_left.data(), left_size);
    std::vector<float> h_right(right_total);
    read_binary("data/right.bin", h_right.data(), right_total);

    unsigned char* d_mask;
    float* d_left;
    float* d_right;
    float* d_selected;
    cudaMalloc(&d_mask, mask_total * sizeof(unsigned char));
    cudaMemcpy(d_mask, h_mask.data(), mask_total * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMalloc(&d_left, left_size * sizeof(float));
    cudaMemcpy(d_left, h_left.data(), left_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_right, right_total * sizeof(float));
    cudaMemcpy(d_right, h_right.data(), right_total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_selected, selected_size * sizeof(float));

    const int threads = 256;
    const int blocks = (selected_size + threads - 1) / threads;
    select_volume<<<blocks, threads>>>(d_mask, d_left, d_right, d_selected, kHeight, kWidth, selected_size);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "error" << std::endl;
        return 1;
    }

    std::vector<float> h_selected(selected_size);
    cudaMemcpy(h_selected.data(), d_selected, selected_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/selected.bin", h_selected.data(), selected_size);

    cudaFree(d_mask);
    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_selected);
    return 0;
}
