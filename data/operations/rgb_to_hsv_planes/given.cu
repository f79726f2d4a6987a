const int kHeight = 80;
const int kWidth = 100;

__global__ void rgb_to_hsv(const float* rgb, float* hue, float* saturation, float* value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    float hi = fmaxf(r, fmaxf(g, b));
    float lo = fminf(r, fminf(g, b));
    float d = hi - lo;
    float h = 0.0f;
    if (d > 0.0f) {
        if (hi == r) {
            h = 60.0f * (g - b) / d;
            if (h < 0.0f) h += 360.0f;
        } else if (hi == g) {
            h = 60.0f * (b - r) / d + 120.0f;
        } else {
            h = 60.0f * (r - g) / d + 240.0f;
        }
    }
    hue[i] = h;
    saturation[i] = hi > 0.0f ? d / hi : 0.0f;
    value[i] = hi;
}

int main() {
    size_t n_rgb = (size_t)kHeight * kWidth * 3;
    size_t n_hue = (size_t)kHeight * kWidth;

    float* h_rgb = new float[n_rgb];
    float* h_hue = new float[n_hue];
    float* h_saturation = new float[n_hue];
    float* h_value = new float[n_hue];

    read_binary("data/rgb.bin", h_rgb, n_rgb);

    float* d_rgb = nullptr;
    float* d_hue = nullptr;
    float* d_saturation = nullptr;
    float* d_value = nullptr;
    cudaMalloc(&d_rgb, sizeof(float) * n_rgb);
    cudaMalloc(&d_hue, sizeof(float) * n_hue);
    cudaMalloc(&d_saturation, sizeof(float) * n_hue);
    cudaMalloc(&d_value, sizeof(float) * n_hue);
    cudaMemcpy(d_rgb, h_rgb, sizeof(float) * n_rgb, cudaMemcpyHostToDevice);

    dim3 block(512);
    dim3 grid((n_hue + 512 - 1) / 512);
    rgb_to_hsv<<<grid, block>>>(d_rgb, d_hue, d_saturation, d_value, n_hue);
    cudaDeviceSynchronize();

    cudaMemcpy(h_hue, d_hue, sizeof(float) * n_hue, cudaMemcpyDeviceToHost);
    write_binary("data/hue.bin", h_hue, n_hue);
    cudaMemcpy(h_saturation, d_saturation, sizeof(float) * n_hue, cudaMemcpyDeviceToHost);
    write_binary("data/saturation.bin", h_saturation, n_hue);
    cudaMemcpy(h_value, d_value, sizeof(float) * n_hue, cudaMemcpyDeviceToHost);
    write_binary("data/value.bin", h_value, n_hue);

    cudaFree(d_rgb);
    cudaFree(d_hue);
    cudaFree(d_saturation);
    cudaFree(d_value);
    delete[] h_rgb;
    delete[] h_hue;
    delete[] h_saturation;
    delete[] h_value;
    return 0;
}
