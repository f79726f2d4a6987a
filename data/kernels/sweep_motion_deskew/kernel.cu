#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxPoses = 2048;

__device__ float4 slerp(float4 p, float4 q, float u) {
    float dot = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    const float sign = dot < 0.0f ? -1.0f : 1.0f;
    dot = fabsf(dot);
    float a = 1.0f - u, b = u;
    if (dot < 0.9999f) {
        const float angle = acosf(dot), scale = 1.0f / sinf(angle);
        a = sinf((1.0f - u) * angle) * scale;
        b = sinf(u * angle) * scale;
    }
    b *= sign;
    const float4 r = make_float4(a * p.x + b * q.x, a * p.y + b * q.y, a * p.z + b * q.z, a * p.w + b * q.w);
    const float norm = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    return make_float4(r.x * norm, r.y * norm, r.z * norm, r.w * norm);
}

__global__ void deskew(const float* __restrict__ cloud, const int* __restrict__ stamps,
                       const int* __restrict__ poseStamps, const float4* __restrict__ rotations,
                       const float* __restrict__ shifts, float* __restrict__ world, int* outside, int points,
                       int poses) {
    __shared__ int times[kMaxPoses];
    for (int k = threadIdx.x; k < poses; k += kThreads) times[k] = poseStamps[k];
    __syncthreads();
    const int i = blockIdx.x * kThreads + threadIdx.x;
    bool clamped = false;
    if (i < points) {
        int t = stamps[i];
        clamped = t < times[0] || t > times[poses - 1];
        t = min(max(t, times[0]), times[poses - 1]);
        int low = 0, high = poses - 1;  // times[low] <= t, and t < times[high] or high is the last
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (times[middle] <= t) {
                low = middle;
            } else {
                high = middle;
            }
        }
        const float u = static_cast<float>(t - times[low]) / static_cast<float>(times[high] - times[low]);
        const float4 q = slerp(rotations[low], rotations[high], u);  // (w, x, y, z) in (x, y, z, w)
        const float x = cloud[3 * i], y = cloud[3 * i + 1], z = cloud[3 * i + 2];
        const float cx = 2.0f * (q.z * z - q.w * y), cy = 2.0f * (q.w * x - q.y * z), cz = 2.0f * (q.y * y - q.z * x);
        const float* s = shifts + 3 * low;
        world[3 * i] = x + q.x * cx + (q.z * cz - q.w * cy) + s[0] + u * (s[3] - s[0]);
        world[3 * i + 1] = y + q.x * cy + (q.w * cx - q.y * cz) + s[1] + u * (s[4] - s[1]);
        world[3 * i + 2] = z + q.x * cz + (q.y * cy - q.z * cx) + s[2] + u * (s[5] - s[2]);
    }
    const int count = __syncthreads_count(clamped);
    if (threadIdx.x == 0 && count > 0) atomicAdd(outside, count);
}

static void fail(const char* what, const char* why) {
    std::fprintf(stderr, "%s: %s\n", what, why);
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail("CUDA", cudaGetErrorString(status));
}

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path, "rb"));
    if (!file) fail(path, "cannot be opened");
    std::vector<T> values(count);
    if (std::fread(values.data(), sizeof(T), count, file.get()) != count) fail(path, "is too short");
    if (std::fgetc(file.get()) != EOF) fail(path, "is too long");
    return values;
}

template <typename T>
static void writeFile(const char* path, const std::vector<T>& values) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file) fail(path, "cannot be opened");
    const size_t written = std::fwrite(values.data(), sizeof(T), values.size(), file);
    if (std::fclose(file) != 0 || written != values.size()) fail(path, "cannot be written");
}

template <typename T>
static T* copyToDevice(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int points = sizes[0], poses = sizes[1];
    if (points < 1 || points > 1300000 || poses < 2 || poses > kMaxPoses) fail("data/sizes.bin", "out of range");
    auto cloud = readFile<float>("data/cloud.bin", 3 * static_cast<size_t>(points));
    const auto poseStamps = readFile<int>("data/pose_stamps.bin", poses);
    for (int k = 1; k < poses; ++k) {
        if (poseStamps[k - 1] >= poseStamps[k]) fail("data/pose_stamps.bin", "not ascending");
    }
    float* dCloud = copyToDevice(cloud);
    int* dStamps = copyToDevice(readFile<int>("data/stamps.bin", points));
    int* dPoseStamps = copyToDevice(poseStamps);
    float4* dRotations = copyToDevice(readFile<float4>("data/rotations.bin", poses));
    float* dShifts = copyToDevice(readFile<float>("data/shifts.bin", 3 * static_cast<size_t>(poses)));
    std::vector<int> outside(1, 0);
    int* dOutside = copyToDevice(outside);
    float* dWorld = nullptr;
    check(cudaMalloc(&dWorld, cloud.size() * sizeof(float)));

    deskew<<<(points + kThreads - 1) / kThreads, kThreads>>>(dCloud, dStamps, dPoseStamps, dRotations, dShifts, dWorld,
                                                             dOutside, points, poses);
    check(cudaGetLastError());
    check(cudaMemcpy(cloud.data(), dWorld, cloud.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaMemcpy(outside.data(), dOutside, sizeof(int), cudaMemcpyDeviceToHost));
    for (float* buffer : {dCloud, dShifts, dWorld}) check(cudaFree(buffer));
    for (int* buffer : {dStamps, dPoseStamps, dOutside}) check(cudaFree(buffer));
    check(cudaFree(dRotations));
    writeFile("data/world.bin", cloud);
    writeFile("data/outside.bin", outside);
    return 0;
}
