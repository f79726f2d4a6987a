const int SATELLITES = 2000;

__global__ void orbit_state(const float* elements, float* position, float* velocity, int satellites) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= satellites) return;
    const float* el = elements + 6 * s;
    float a = el[0], e = el[1], i = el[2], node = el[3], w = el[4], f = el[5];
    float p = a * (1.0f - e * e);
    float r = p / (1.0f + e * cosf(f));
    float u = w + f;
    float k = sqrtf(398600.44f / p);
    float A = sinf(u) + e * sinf(w);
    float B = cosf(u) + e * cosf(w);
    position[3 * s] = r * (cosf(node) * cosf(u) - sinf(node) * sinf(u) * cosf(i));
    position[3 * s + 1] = r * (sinf(node) * cosf(u) + cosf(node) * sinf(u) * cosf(i));
    position[3 * s + 2] = r * sinf(u) * sinf(i);
    velocity[3 * s] = k * (-cosf(node) * A - sinf(node) * B * cosf(i));
    velocity[3 * s + 1] = k * (-sinf(node) * A + cosf(node) * B * cosf(i));
    velocity[3 * s + 2] = k * B * sinf(i);
}

int main() {
    const size_t length = SATELLITES * 3;
    const size_t bytes = length * sizeof(float);
    float* h_elements = new float[SATELLITES * 6];
    float* h_position = new float[length];
    float* h_velocity = new float[length];
    read_binary("data/elements.bin", h_elements, SATELLITES * 6);

    float* d_elements;
    float* d_position;
    float* d_velocity;
    cudaMalloc(&d_elements, SATELLITES * 6 * sizeof(float));
    cudaMalloc(&d_position, bytes);
    cudaMalloc(&d_velocity, bytes);

    cudaMemcpy(d_elements, h_elements, SATELLITES * 6 * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 128;
    int blocks = (SATELLITES + threads - 1) / threads;
    orbit_state<<<blocks, threads>>>(d_elements, d_position, d_velocity, SATELLITES);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_position, d_position, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/position.bin", h_position, length);
    cudaMemcpy(h_velocity, d_velocity, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/velocity.bin", h_velocity, length);

    cudaFree(d_elements);
    cudaFree(d_position);
    cudaFree(d_velocity);
    delete[] h_elements;
    delete[] h_position;
    delete[] h_velocity;
    return 0;
}
