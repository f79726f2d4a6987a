const int FILMS = 100;
const int WAVES = 200;

__global__ void film_reflectance(const float* thickness, const float* index_film, const float* wavelength,
                                 float* reflectance, int films, int waves) {
    int wave = blockIdx.x * blockDim.x + threadIdx.x;
    int film = blockIdx.y * blockDim.y + threadIdx.y;
    if (film >= films || wave >= waves) return;
    float n1 = index_film[film];
    float r01 = (1.0f - n1) / (1.0f + n1);
    float r12 = (n1 - 1.52f) / (n1 + 1.52f);
    float phase = 4.0f * 3.14159265f * n1 * thickness[film] / wavelength[wave];
    float cross = 2.0f * r01 * r12 * cosf(phase);
    float a = r01 * r01;
    float b = r12 * r12;
    reflectance[film * waves + wave] = (a + b + cross) / (1.0f + a * b + cross);
}

int main() {
    const size_t numel = (size_t)FILMS * WAVES;

    float* h_thickness = new float[FILMS];
    float* h_index_film = new float[FILMS];
    float* h_wavelength = new float[WAVES];
    float* h_reflectance = new float[numel];

    read_binary("data/thickness.bin", h_thickness, FILMS);
    read_binary("data/index_film.bin", h_index_film, FILMS);
    read_binary("data/wavelength.bin", h_wavelength, WAVES);

    float *d_thickness, *d_index_film, *d_wavelength, *d_reflectance;
    cudaMalloc(&d_thickness, FILMS * sizeof(float));
    cudaMalloc(&d_index_film, FILMS * sizeof(float));
    cudaMalloc(&d_wavelength, WAVES * sizeof(float));
    cudaMalloc(&d_reflectance, numel * sizeof(float));

    cudaMemcpy(d_thickness, h_thickness, FILMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_index_film, h_index_film, FILMS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_wavelength, h_wavelength, WAVES * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((WAVES + block.x - 1) / block.x, (FILMS + block.y - 1) / block.y);
    film_reflectance<<<grid, block>>>(d_thickness, d_index_film, d_wavelength, d_reflectance, FILMS, WAVES);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_reflectance, d_reflectance, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/reflectance.bin", h_reflectance, numel);

    cudaFree(d_thickness);
    cudaFree(d_index_film);
    cudaFree(d_wavelength);
    cudaFree(d_reflectance);
    delete[] h_thickness;
    delete[] h_index_film;
    delete[] h_wavelength;
    delete[] h_reflectance;
    return 0;
}
