const int VOLUMES = 8;
const int VOXELS = 1500;
const int BLOCK = 256;

__global__ void dice_gradient(const float* prob, const unsigned char* mask, float* grad, int voxels) {
    __shared__ float overlap[BLOCK];
    __shared__ float total[BLOCK];
    int tid = threadIdx.x;
    size_t start = (size_t)blockIdx.x * voxels;
    float a = 0.0f, bc = 0.0f;
    for (int i = tid; i < voxels; i += BLOCK) {
        float p = prob[start + i];
        float g = (float)mask[start + i];
        a += p * g;
        bc += p * p + g;
    }
    overlap[tid] = a;
    total[tid] = bc;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (tid < s) {
            overlap[tid] += overlap[tid + s];
            total[tid] += total[tid + s];
        }
        __syncthreads();
    }
    float num = 2.0f * overlap[0] + 1.0f;
    float den = total[0] + 1.0f;
    for (int i = tid; i < voxels; i += BLOCK) {
        float p = prob[start + i];
        float g = (float)mask[start + i];
        grad[start + i] = (2.0f * p * num - 2.0f * g * den) / (den * den);
    }
}

int main() {
    const size_t size = (size_t)VOLUMES * VOXELS;
    size_t size_bytes = size * sizeof(float);

    float* d_prob = nullptr;
    cudaMalloc(&d_prob, size_bytes);
    unsigned char* d_mask = nullptr;
    cudaMalloc(&d_mask, size * sizeof(unsigned char));
    float* d_grad = nullptr;
    cudaMalloc(&d_grad, size_bytes);

    float* h_prob = new float[size];
    read_binary("data/prob.bin", h_prob, size);
    cudaMemcpy(d_prob, h_prob, size_bytes, cudaMemcpyHostToDevice);
    unsigned char* h_mask = new unsigned char[(size + 3) / 4 * 4];
    read_binary("data/mask.bin", reinterpret_cast<float*>(h_mask), (size + 3) / 4);
    cudaMemcpy(d_mask, h_mask, size * sizeof(unsigned char), cudaMemcpyHostToDevice);

    dice_gradient<<<VOLUMES, BLOCK>>>(d_prob, d_mask, d_grad, VOXELS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    float* h_grad = new float[size];
    cudaMemcpy(h_grad, d_grad, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/grad.bin", h_grad, size);

    delete[] h_prob;
    delete[] h_mask;
    delete[] h_grad;
    cudaFree(d_prob);
    cudaFree(d_mask);
    cudaFree(d_grad);
    return 0;
}
