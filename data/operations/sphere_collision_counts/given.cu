constexpr int N = 400;

__global__ void count_contacts(const float* spheres, int* contacts, float* deepest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int found = 0;
    float depth_max = 0.0f;
    for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        float dx = spheres[4 * i] - spheres[4 * j];
        float dy = spheres[4 * i + 1] - spheres[4 * j + 1];
        float dz = spheres[4 * i + 2] - spheres[4 * j + 2];
        float distance = sqrtf(dx * dx + dy * dy + dz * dz);
        float depth = spheres[4 * i + 3] + spheres[4 * j + 3] - distance;
        if (depth > 0.0f) {
            ++found;
            depth_max = fmaxf(depth_max, depth);
        }
    }
    contacts[i] = found;
    deepest[i] = depth_max;
}

int main() {
    const size_t count = (size_t)N * 4;

    float* h_spheres = new float[count];
    read_binary("data/spheres.bin", h_spheres, count);

    float* d_spheres;
    cudaMalloc(&d_spheres, count * sizeof(float));
    cudaMemcpy(d_spheres, h_spheres, count * sizeof(float), cudaMemcpyHostToDevice);

    int* d_contacts;
    float* d_deepest;
    cudaMalloc(&d_contacts, N * sizeof(int));
    cudaMalloc(&d_deepest, N * sizeof(float));

    int threadsPerBlock = 128;
    int blocksPerGrid = (N + threadsPerBlock - 1) / threadsPerBlock;
    count_contacts<<<blocksPerGrid, threadsPerBlock>>>(d_spheres, d_contacts, d_deepest, N);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    int* h_contacts = new int[N];
    float* h_deepest = new float[N];
    cudaMemcpy(h_contacts, d_contacts, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/contacts.bin", reinterpret_cast<float*>(h_contacts), N);
    cudaMemcpy(h_deepest, d_deepest, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/deepest.bin", h_deepest, N);

    cudaFree(d_spheres);
    cudaFree(d_contacts);
    cudaFree(d_deepest);
    delete[] h_spheres;
    delete[] h_contacts;
    delete[] h_deepest;
    return 0;
}
