#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

void load_array(const char* path, void* data, size_t size) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void save_array(const char* path, const void* data, size_t size) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define OPTIONS 60
#define STEPS 60
#define BLOCK 128

__global__ void tree(const float* spot, const float* strike, const float* volatility, const float* barrier,
                     float* price) {
    __shared__ float value[BLOCK];
    int o = blockIdx.x;
    int j = threadIdx.x - STEPS;
    float s = volatility[o];
    float dt = 0.5f / STEPS;
    float pu = 1.0f / 6.0f + (0.03f - 0.5f * s * s) * sqrtf(dt / (12.0f * s * s));
    float pd = 1.0f / 3.0f - pu;
    float discount = expf(-0.03f * dt);
    float node = spot[o] * expf(j * s * sqrtf(3.0f * dt));
    bool alive = node < barrier[o];
    value[threadIdx.x] = alive ? fmaxf(node - strike[o], 0.0f) : 0.0f;
    __syncthreads();
    for (int n = STEPS - 1; n >= 0; n--) {
        bool active = abs(j) <= n;
        float v = 0.0f;
        if (active && alive) {
            int t = threadIdx.x;
            v = discount * (pu * value[t + 1] + 2.0f / 3.0f * value[t] + pd * value[t - 1]);
        }
        __syncthreads();
        if (active) value[threadIdx.x] = v;
        __syncthreads();
    }
    if (threadIdx.x == STEPS) price[o] = value[STEPS];
}

int main() {
    float* spot = new float[OPTIONS];
    float* strike = new float[OPTIONS];
    float* volatility = new float[OPTIONS];
    float* barrier = new float[OPTIONS];
    float* price = new float[OPTIONS];
    load_array("data/spot.bin", spot, OPTIONS * sizeof(float));
    load_array("data/strike.bin", strike, OPTIONS * sizeof(float));
    load_array("data/volatility.bin", volatility, OPTIONS * sizeof(float));
    load_array("data/barrier.bin", barrier, OPTIONS * sizeof(float));

    float* dev_spot = nullptr;
    cudaMalloc(&dev_spot, OPTIONS * sizeof(float));
    cudaMemcpy(dev_spot, spot, OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_strike = nullptr;
    cudaMalloc(&dev_strike, OPTIONS * sizeof(float));
    cudaMemcpy(dev_strike, strike, OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_volatility = nullptr;
    cudaMalloc(&dev_volatility, OPTIONS * sizeof(float));
    cudaMemcpy(dev_volatility, volatility, OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_barrier = nullptr;
    cudaMalloc(&dev_barrier, OPTIONS * sizeof(float));
    cudaMemcpy(dev_barrier, barrier, OPTIONS * sizeof(float), cudaMemcpyHostToDevice);
    float* dev_price = nullptr;
    cudaMalloc(&dev_price, OPTIONS * sizeof(float));

    tree<<<OPTIONS, BLOCK>>>(dev_spot, dev_strike, dev_volatility, dev_barrier, dev_price);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
        return 1;
    }
    cudaMemcpy(price, dev_price, OPTIONS * sizeof(float), cudaMemcpyDeviceToHost);

    save_array("data/price.bin", price, OPTIONS * sizeof(float));
    cudaFree(dev_spot);
    cudaFree(dev_strike);
    cudaFree(dev_volatility);
    cudaFree(dev_barrier);
    cudaFree(dev_price);
    delete[] spot;
    delete[] strike;
    delete[] volatility;
    delete[] barrier;
    delete[] price;
    return 0;
}
