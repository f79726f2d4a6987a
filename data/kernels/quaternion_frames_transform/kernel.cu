#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxFrames = 4096, kMaxPoints = 65536;
constexpr int kThreads = 256, kPointsPerThread = 4;

__device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__global__ void toWorld(const float* __restrict__ cloud, const float* __restrict__ poses, float* __restrict__ world,
                        int points) {
    __shared__ float pose[7];
    const int frame = blockIdx.y;
    if (threadIdx.x < 7) pose[threadIdx.x] = poses[frame * 7 + threadIdx.x];
    __syncthreads();

    float w = pose[0];
    float3 u = make_float3(pose[1], pose[2], pose[3]);
    const float scale = rsqrtf(w * w + u.x * u.x + u.y * u.y + u.z * u.z);
    w *= scale;
    u = make_float3(u.x * scale, u.y * scale, u.z * scale);

    const int first = blockIdx.x * kThreads * kPointsPerThread + threadIdx.x;
    for (int k = 0; k < kPointsPerThread; ++k) {
        const int i = first + k * kThreads;
        if (i >= points) break;
        const size_t at = (static_cast<size_t>(frame) * points + i) * 3;
        const float3 v = make_float3(cloud[at], cloud[at + 1], cloud[at + 2]);
        const float3 c = cross(u, v);
        const float3 d = cross(u, c);
        world[at] = v.x + 2.0f * (w * c.x + d.x) + pose[4];
        world[at + 1] = v.y + 2.0f * (w * c.y + d.y) + pose[5];
        world[at + 2] = v.z + 2.0f * (w * c.z + d.z) + pose[6];
    }
}

void require(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

class DeviceFloats {
public:
    explicit DeviceFloats(size_t count) : bytes_(count * sizeof(float)) {
        require(cudaMalloc(&data_, bytes_), "malloc");
    }
    ~DeviceFloats() { cudaFree(data_); }
    DeviceFloats(const DeviceFloats&) = delete;
    float* get() const { return data_; }
    void upload(const std::vector<float>& from) {
        require(cudaMemcpy(data_, from.data(), bytes_, cudaMemcpyHostToDevice), "upload");
    }
    void download(std::vector<float>& to) const {
        require(cudaMemcpy(to.data(), data_, bytes_, cudaMemcpyDeviceToHost), "download");
    }

private:
    float* data_ = nullptr;
    size_t bytes_;
};

template <typename T>
std::vector<T> readFile(const char* path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path);
    std::vector<T> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path);
    return values;
}

int main() try {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int frames = sizes[0], points = sizes[1];
    if (frames < 1 || frames > kMaxFrames || points < 1 || points > kMaxPoints) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    auto cloud = readFile<float>("data/cloud.bin", static_cast<size_t>(frames) * points * 3);
    const auto poses = readFile<float>("data/poses.bin", static_cast<size_t>(frames) * 7);

    DeviceFloats dCloud(cloud.size()), dPoses(poses.size()), dWorld(cloud.size());
    dCloud.upload(cloud);
    dPoses.upload(poses);
    const int perBlock = kThreads * kPointsPerThread;
    const dim3 grid((points + perBlock - 1) / perBlock, frames);
    toWorld<<<grid, kThreads>>>(dCloud.get(), dPoses.get(), dWorld.get(), points);
    require(cudaGetLastError(), "launch");
    dWorld.download(cloud);

    std::ofstream out("data/world.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(cloud.data()), cloud.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/world.bin: cannot be written");
    return 0;
} catch (const std::exception& error) {
    fprintf(stderr, "error: %s\n", error.what());
    return 1;
}
