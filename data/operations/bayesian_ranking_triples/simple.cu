#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int USERS = 100;
const int ITEMS = 200;
const int DIM = 16;
const int TRIPLES = 3000;
const int COUNT = USERS * DIM;

__global__ void bpr_loss(const float* user_vec, const float* item_vec, const int* triple, float* loss, int triples) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= triples) return;
    const float* a = user_vec + triple[3 * t] * DIM;
    const float* p = item_vec + triple[3 * t + 1] * DIM;
    const float* q = item_vec + triple[3 * t + 2] * DIM;
    float d = 0.0f, n = 0.0f;
    for (int k = 0; k < DIM; k++) {
        d += a[k] * (p[k] - q[k]);
        n += a[k] * a[k] + p[k] * p[k] + q[k] * q[k];
    }
    loss[t] = fmaxf(-d, 0.0f) + log1pf(expf(-fabsf(d))) + 0.005f * n;
}

void launch_kernel(const float* d_user_vec, const float* d_item_vec, const int* d_triple,
                   float* d_loss) {
    bpr_loss<<<(TRIPLES + 127) / 128, 128>>>(d_user_vec, d_item_vec, d_triple, d_loss, TRIPLES);
}

int main() {
    std::vector<float> h_user_vec(COUNT);
    std::vector<float> h_item_vec(ITEMS * DIM);
    std::vector<int> hTriple(TRIPLES * 3);
    std::vector<float> hLoss(TRIPLES);
    std::ifstream user_vec_in("data/user_vec.bin", std::ios::binary);
    user_vec_in.read(reinterpret_cast<char*>(h_user_vec.data()), COUNT * sizeof(float));
    std::ifstream item_vec_in("data/item_vec.bin", std::ios::binary);
    item_vec_in.read(reinterpret_cast<char*>(h_item_vec.data()), ITEMS * DIM * sizeof(float));
    std::ifstream triple_in("data/triple.bin", std::ios::binary);
    triple_in.read(reinterpret_cast<char*>(hTriple.data()), TRIPLES * 3 * sizeof(int));
    if (!user_vec_in || !item_vec_in || !triple_in) {
        std::cerr << "missing or short input file" << std::endl;
        return 1;
    }

    float *d_user_vec, *d_item_vec, *d_loss;
    int* d_triple;
    cudaMalloc(&d_user_vec, COUNT * sizeof(float));
    cudaMalloc(&d_item_vec, ITEMS * DIM * sizeof(float));
    cudaMalloc(&d_triple, TRIPLES * 3 * sizeof(int));
    cudaMalloc(&d_loss, TRIPLES * sizeof(float));
    cudaMemcpy(d_user_vec, h_user_vec.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_item_vec, h_item_vec.data(), ITEMS * DIM * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_triple, hTriple.data(), TRIPLES * 3 * sizeof(int), cudaMemcpyHostToDevice);

    launch_kernel(d_user_vec, d_item_vec, d_triple, d_loss);
    cudaDeviceSynchronize();

    cudaMemcpy(hLoss.data(), d_loss, TRIPLES * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream loss_out("data/loss.bin", std::ios::binary);
    loss_out.write(reinterpret_cast<const char*>(hLoss.data()), TRIPLES * sizeof(float));
    cudaFree(d_user_vec);
    cudaFree(d_item_vec);
    cudaFree(d_triple);
    cudaFree(d_loss);
    return 0;
}
