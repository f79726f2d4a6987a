#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr int TILE_X = 32, TILE_Y = 16;  // points a block writes
constexpr int ROWS = 8;                  // threads along y
constexpr int MAX_SIDE = 8192, MAX_STEPS = 500;

// Advances the plate by STEPS time steps; the halo is as deep as the number of steps and shrinks by one in each.
template <int STEPS>
__global__ void heat(const float* __restrict__ in, float* __restrict__ out, int height, int width, float ratio) {
    constexpr int SPAN_X = TILE_X + 2 * STEPS, SPAN_Y = TILE_Y + 2 * STEPS;
    __shared__ float tile[2][SPAN_Y][SPAN_X];
    const int x0 = blockIdx.x * TILE_X - STEPS, y0 = blockIdx.y * TILE_Y - STEPS;
    const int thread = threadIdx.y * TILE_X + threadIdx.x;

    for (int e = thread; e < SPAN_X * SPAN_Y; e += TILE_X * ROWS) {
        const int x = min(max(x0 + e % SPAN_X, 0), width - 1);
        const int y = min(max(y0 + e / SPAN_X, 0), height - 1);
        tile[0][e / SPAN_X][e % SPAN_X] = in[y * width + x];
    }
    __syncthreads();

    for (int step = 1; step <= STEPS; ++step) {
        const auto& from = tile[(step - 1) % 2];
        auto& to = tile[step % 2];
        const int columns = SPAN_X - 2 * step, rows = SPAN_Y - 2 * step;
        for (int e = thread; e < columns * rows; e += TILE_X * ROWS) {
            const int tx = step + e % columns, ty = step + e / columns;
            const int x = x0 + tx, y = y0 + ty;
            if (x < 0 || x >= width || y < 0 || y >= height) continue;
            // Beyond an insulated edge stands the edge point itself.
            const float left = from[ty][tx - (x > 0)], right = from[ty][tx + (x < width - 1)];
            const float up = from[ty - (y > 0)][tx], down = from[ty + (y < height - 1)][tx];
            const float centre = from[ty][tx];
            const float next = centre + ratio * (left + right + up + down - 4.0f * centre);
            if (step == STEPS) {
                out[y * width + x] = next;
            } else {
                to[ty][tx] = next;
            }
        }
        __syncthreads();
    }
}

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t error_ = (call);                                                      \
        if (error_ != cudaSuccess) {                                                      \
            fprintf(stderr, "CUDA, line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

template <typename T>
static std::vector<T> readArray(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    const bool exact = file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!exact) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    return values;
}

template <typename T>
static void writeArray(const char* path, const std::vector<T>& values) {
    FILE* file = fopen(path, "wb");
    const bool written = file && fwrite(values.data(), sizeof(T), values.size(), file) == values.size();
    if (!file || fclose(file) != 0 || !written) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = readArray<int>("data/sizes.bin", 3);
    const int height = sizes[0], width = sizes[1], steps = sizes[2];
    if (height < 1 || height > MAX_SIDE || width < 1 || width > MAX_SIDE || steps < 1 || steps > MAX_STEPS) {
        fprintf(stderr, "data/sizes.bin: %d x %d points, %d steps: out of range\n", height, width, steps);
        return 1;
    }
    std::vector<float> plate = readArray<float>("data/temperature.bin", static_cast<size_t>(height) * width);
    const float ratio = readArray<float>("data/ratio.bin", 1)[0];
    const size_t bytes = plate.size() * sizeof(float);

    float *now, *next;
    CUDA_CHECK(cudaMalloc(&now, bytes));
    CUDA_CHECK(cudaMalloc(&next, bytes));
    CUDA_CHECK(cudaMemcpy(now, plate.data(), bytes, cudaMemcpyHostToDevice));

    const dim3 block(TILE_X, ROWS);
    const dim3 grid((width + TILE_X - 1) / TILE_X, (height + TILE_Y - 1) / TILE_Y);
    for (int pair = 0; pair < steps / 2; ++pair) {
        heat<2><<<grid, block>>>(now, next, height, width, ratio);
        CUDA_CHECK(cudaGetLastError());
        std::swap(now, next);
    }
    if (steps % 2 != 0) {
        heat<1><<<grid, block>>>(now, next, height, width, ratio);
        CUDA_CHECK(cudaGetLastError());
        std::swap(now, next);
    }
    CUDA_CHECK(cudaMemcpy(plate.data(), now, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(now));
    CUDA_CHECK(cudaFree(next));
    writeArray("data/cooled.bin", plate);
    return 0;
}
