// Misbehaviour on the device, all in one binary: data/attack.txt names the one to run. "good" is what must still work after it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                \
    if (cudaError_t error = (call)) {                                              \
        fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));             \
        exit(1);                                                                   \
    }

__global__ void triple(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 3 * in[i];
}
__global__ void never_ends(volatile int* flag) {
    while (*flag == 0) {
    }
}
__global__ void writes_anywhere(int* nowhere) { nowhere[threadIdx.x] = 1; }
__global__ void traps() { __trap(); }
__global__ void prints() {
    for (int i = 0; i < 4096; i++) printf("flood of text from thread %d that nobody wants to read\n", threadIdx.x);
}
static const int N = 8;

static int good() {
    float in[N], out[N];
    std::ifstream file("data/input.bin", std::ios::binary);
    file.read(reinterpret_cast<char*>(in), sizeof in);
    float *device_in, *device_out;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    triple<<<1, N>>>(device_in, device_out, N);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    std::ofstream("data/out.bin", std::ios::binary).write(reinterpret_cast<char*>(out), sizeof out);
    return 0;
}
// 6 GiB in pieces: what is allowed is less, and who holds it for 20 s has won.
static int hold(std::function<cudaError_t(void**, size_t)> allocate, bool on_host) {
    const size_t piece = 256 << 20;
    void* block;
    for (size_t held = 0; held < (size_t(6) << 30); held += piece) {
        CHECK(allocate(&block, piece));
        if (on_host) memset(block, 1, piece);
        else CHECK(cudaMemset(block, 1, piece));
    }
    CHECK(cudaDeviceSynchronize());
    sleep(20);
    return good();
}
static int* flag_on_device() {
    int* flag;
    CHECK(cudaMalloc(&flag, sizeof *flag));
    CHECK(cudaMemset(flag, 0, sizeof *flag));
    return flag;
}

static std::map<std::string, std::function<int()>> attacks = {
    {"good", good},
    {"device_endless_loop", [] { never_ends<<<132, 1024>>>(flag_on_device()); CHECK(cudaDeviceSynchronize()); return 0; }},
    {"device_leaves_kernel_running", [] { int* flag = flag_on_device(); good(); never_ends<<<132, 1024>>>(flag); _exit(0); return 0; }},
    {"device_kernel_in_daemon", [] {
        if (fork() == 0) { setsid(); if (fork() == 0) { never_ends<<<1, 1>>>(flag_on_device()); cudaDeviceSynchronize(); } _exit(0); }
        sleep(2); return good(); }},
    {"device_memory_hog", [] { void* block; size_t held = 0; while (held < (size_t(6) << 30) && !cudaMalloc(&block, 256 << 20)) {
        CHECK(cudaMemset(block, 1, 256 << 20)); held += 256 << 20; } CHECK(cudaDeviceSynchronize()); sleep(20); return good(); }},
    {"device_memory_async", [] { return hold([](void** block, size_t size) { return cudaMallocAsync(block, size, 0); }, false); }},
    {"device_memory_managed", [] { return hold([](void** block, size_t size) { return cudaMallocManaged(block, size); }, false); }},
    {"host_memory_managed", [] { return hold([](void** block, size_t size) { return cudaMallocManaged(block, size); }, true); }},
    {"host_memory_pinned", [] { return hold([](void** block, size_t size) { return cudaMallocHost(block, size); }, true); }},
    {"host_memory_pinned_untouched", [] { return hold([](void** block, size_t size) { return cudaHostAlloc(block, size, cudaHostAllocMapped); }, false); }},
    {"device_illegal_address", [] { writes_anywhere<<<1, 32>>>(reinterpret_cast<int*>(0x10)); CHECK(cudaDeviceSynchronize()); return good(); }},
    {"device_illegal_unchecked", [] { writes_anywhere<<<1, 32>>>(reinterpret_cast<int*>(0x10)); cudaDeviceSynchronize(); return 0; }},
    {"device_trap", [] { traps<<<1, 1>>>(); CHECK(cudaDeviceSynchronize()); return good(); }},
    {"device_printf_flood", [] { for (int i = 0; i < 1000000; i++) { prints<<<8, 256>>>(); CHECK(cudaDeviceSynchronize()); } return good(); }},
    {"device_printf_then_right", [] { prints<<<1, 32>>>(); CHECK(cudaDeviceSynchronize()); return good(); }},
    {"device_fork_after_init", [] { CHECK(cudaFree(nullptr)); pid_t child = fork(); if (child == 0) { never_ends<<<1, 1>>>(flag_on_device());
        cudaDeviceSynchronize(); pause(); } return good(); }},
    {"device_takes_other_gpus", [] { setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7", 1); int count = 0; CHECK(cudaGetDeviceCount(&count));
        if (count != 1) return 5; return good(); }},
    {"device_no_launch", [] { void* block; CHECK(cudaMalloc(&block, 32)); return 0; }},
};

int main() {
    std::ifstream request("data/attack.txt");
    std::string name;
    std::getline(request, name);
    auto found = attacks.find(name);
    return found == attacks.end() ? 99 : found->second();
}
