#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kStates = 64;

__global__ void viterbi(const int* start, const int* transition, const int* emission, const uint8_t* observed,
                        int steps, int states, int symbols, uint8_t* back, int* score, uint8_t* path) {
    __shared__ int moves[kStates * kStates];
    __shared__ int rows[2][kStates];
    const int s = threadIdx.x;
    const size_t first = static_cast<size_t>(blockIdx.x) * steps;
    const uint8_t* seen = observed + first;
    for (int i = s; i < states * states; i += kStates) moves[i] = transition[i];
    if (s < states) rows[0][s] = start[s] + emission[s * symbols + seen[0]];
    __syncthreads();

    for (int t = 1; t < steps; ++t) {
        const int* before = rows[(t - 1) % 2];
        if (s < states) {
            int best = before[0] + moves[s], from = 0;
            for (int r = 1; r < states; ++r) {
                const int reached = before[r] + moves[r * states + s];
                if (reached > best) {
                    best = reached;
                    from = r;
                }
            }
            rows[t % 2][s] = best + emission[s * symbols + seen[t]];
            back[(first + t) * states + s] = static_cast<uint8_t>(from);
        }
        __syncthreads();  // also makes the back pointers visible to thread 0
    }
    if (s > 0) return;
    const int* last = rows[(steps - 1) % 2];
    int state = 0;
    for (int r = 1; r < states; ++r) {
        if (last[r] > last[state]) state = r;
    }
    score[blockIdx.x] = last[state];
    for (int t = steps - 1; t >= 0; --t) {
        path[first + t] = static_cast<uint8_t>(state);
        if (t > 0) state = back[(first + t) * states + state];
    }
}

static void require(bool condition, const std::string& message) {
    if (!condition) throw std::runtime_error(message);
}

static void ok(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(host.data()), static_cast<std::streamsize>(count * sizeof(T)));
    require(file && file.peek() == std::ifstream::traits_type::eof(), path + ": missing or of another length");
    return host;
}

// Device memory that frees itself.
template <typename T>
class Buffer {
public:
    explicit Buffer(size_t count) : count_(count) { ok(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
        ok(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }
    T* get() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }
    void save(const std::string& path) const {
        std::vector<T> host(count_);
        ok(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(host.data()), static_cast<std::streamsize>(bytes()));
        file.close();
        require(!file.fail(), path + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 4);
    const int sequences = sizes[0], steps = sizes[1], states = sizes[2], symbols = sizes[3];
    require(sequences >= 1 && sequences <= 65535 && steps >= 1 && steps <= 4096, "data/sizes.bin: sequences or steps");
    require(states >= 1 && states <= kStates && symbols >= 1 && symbols <= 256, "data/sizes.bin: states or symbols");
    const size_t places = static_cast<size_t>(sequences) * steps;
    const std::vector<uint8_t> seen = load<uint8_t>("data/observed.bin", places);
    for (uint8_t symbol : seen) require(symbol < symbols, "data/observed.bin: there is no such symbol");

    const Buffer<uint8_t> observed(seen), back(places * states), path(places);
    const Buffer<int> start(load<int>("data/start.bin", states));
    const Buffer<int> transition(load<int>("data/transition.bin", states * states));
    const Buffer<int> emission(load<int>("data/emission.bin", states * symbols)), score(sequences);
    viterbi<<<sequences, kStates>>>(start.get(), transition.get(), emission.get(), observed.get(), steps, states,
                                    symbols, back.get(), score.get(), path.get());
    ok(cudaGetLastError());
    score.save("data/score.bin");
    path.save("data/path.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
