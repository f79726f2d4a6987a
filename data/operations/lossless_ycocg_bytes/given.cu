const int HEIGHT = 90;
const int WIDTH = 120;

// The shift by one rounds towards minus infinity.
__global__ void rgb_to_ycocg(const unsigned char* rgb, unsigned char* luma, int* co, int* cg, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    int r = rgb[3 * i];
    int g = rgb[3 * i + 1];
    int b = rgb[3 * i + 2];
    int orange = r - b;
    int t = b + (orange >> 1);
    int green = g - t;
    luma[i] = (unsigned char)(t + (green >> 1));
    co[i] = orange;
    cg[i] = green;
}

int main() {
    const int n_rgb = HEIGHT * WIDTH * 3;
    const int n_luma = HEIGHT * WIDTH;

    unsigned char* h_rgb = new unsigned char[(n_rgb + 3) / 4 * 4];
    read_binary("data/rgb.bin", reinterpret_cast<float*>(h_rgb), (n_rgb + 3) / 4);
    unsigned char* d_rgb;
    cudaMalloc(&d_rgb, n_rgb * sizeof(unsigned char));
    cudaMemcpy(d_rgb, h_rgb, n_rgb * sizeof(unsigned char), cudaMemcpyHostToDevice);

    unsigned char* h_luma = new unsigned char[n_luma];
    unsigned char* d_luma;
    cudaMalloc(&d_luma, n_luma * sizeof(unsigned char));
    int* h_co = new int[n_luma];
    int* d_co;
    cudaMalloc(&d_co, n_luma * sizeof(int));
    int* h_cg = new int[n_luma];
    int* d_cg;
    cudaMalloc(&d_cg, n_luma * sizeof(int));

    const int block = 256;
    const int grid = (n_luma + block - 1) / block;
    rgb_to_ycocg<<<grid, block>>>(d_rgb, d_luma, d_co, d_cg, n_luma);

    cudaMemcpy(h_luma, d_luma, n_luma * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_co, d_co, n_luma * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_cg, d_cg, n_luma * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out("data/luma.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_luma), n_luma);
    out.close();
    write_binary("data/co.bin", reinterpret_cast<float*>(h_co), n_luma);
    write_binary("data/cg.bin", reinterpret_cast<float*>(h_cg), n_luma);

    cudaFree(d_rgb);
    cudaFree(d_luma);
    cudaFree(d_co);
    cudaFree(d_cg);
    delete[] h_rgb;
    delete[] h_luma;
    delete[] h_co;
    delete[] h_cg;
    return 0;
}
