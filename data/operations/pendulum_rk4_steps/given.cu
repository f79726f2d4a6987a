#define PENDULUMS 3000
#define STEPS 100

__device__ float acceleration(float q, float w, float l) {
    return -9.81f / l * sinf(q) - 0.15f * w;
}

__global__ void swing(const float* angle, const float* speed, const float* length, float* new_angle,
                      float* new_speed, int pendulums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pendulums) return;
    const float h = 0.01f;
    float q = angle[i], w = speed[i], l = length[i];
    for (int s = 0; s < STEPS; ++s) {
        float q1 = w;
        float w1 = acceleration(q, w, l);
        float q2 = w + 0.5f * h * w1;
        float w2 = acceleration(q + 0.5f * h * q1, q2, l);
        float q3 = w + 0.5f * h * w2;
        float w3 = acceleration(q + 0.5f * h * q2, q3, l);
        float q4 = w + h * w3;
        float w4 = acceleration(q + h * q3, q4, l);
        q += h / 6.0f * (q1 + 2.0f * q2 + 2.0f * q3 + q4);
        w += h / 6.0f * (w1 + 2.0f * w2 + 2.0f * w3 + w4);
    }
    new_angle[i] = q;
    new_speed[i] = w;
}

int main() {
    const size_t size_bytes = PENDULUMS * sizeof(float);

    float* h_angle = new float[PENDULUMS];
    read_binary("data/angle.bin", h_angle, PENDULUMS);
    float* d_angle;
    cudaMalloc(&d_angle, size_bytes);
    cudaMemcpy(d_angle, h_angle, size_bytes, cudaMemcpyHostToDevice);

    float* h_speed = new float[PENDULUMS];
    read_binary("data/speed.bin", h_speed, PENDULUMS);
    float* d_speed;
    cudaMalloc(&d_speed, size_bytes);
    cudaMemcpy(d_speed, h_speed, size_bytes, cudaMemcpyHostToDevice);

    float* h_length = new float[PENDULUMS];
    read_binary("data/length.bin", h_length, PENDULUMS);
    float* d_length;
    cudaMalloc(&d_length, size_bytes);
    cudaMemcpy(d_length, h_length, size_bytes, cudaMemcpyHostToDevice);

    float* h_new_angle = new float[PENDULUMS];
    float* d_new_angle;
    cudaMalloc(&d_new_angle, size_bytes);
    float* h_new_speed = new float[PENDULUMS];
    float* d_new_speed;
    cudaMalloc(&d_new_speed, size_bytes);

    int threadsPerBlock = 128;
    int blocksPerGrid = (PENDULUMS + threadsPerBlock - 1) / threadsPerBlock;
    swing<<<blocksPerGrid, threadsPerBlock>>>(d_angle, d_speed, d_length, d_new_angle, d_new_speed, PENDULUMS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_new_angle, d_new_angle, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/new_angle.bin", h_new_angle, PENDULUMS);
    cudaMemcpy(h_new_speed, d_new_speed, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/new_speed.bin", h_new_speed, PENDULUMS);

    cudaFree(d_angle);
    cudaFree(d_speed);
    cudaFree(d_length);
    cudaFree(d_new_angle);
    cudaFree(d_new_speed);
    delete[] h_angle;
    delete[] h_speed;
    delete[] h_length;
    delete[] h_new_angle;
    delete[] h_new_speed;
    return 0;
}
