#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define USERS 70
#define CLICKS 300

__global__ void number_sessions(const int* time, const int* user_gap, int* session, int* sessions) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= USERS) return;
    size_t base = (size_t)u * CLICKS;
    int limit = user_gap[u];
    int current = 0;
    session[base] = 0;
    for (int i = 1; i < CLICKS; ++i) {
        if (time[base + i] - time[base + i - 1] > limit) ++current;
        session[base + i] = current;
    }
    sessions[u] = current + 1;
}

int main() {
    const int total = USERS * CLICKS;
    std::vector<int> h_time(total);
    std::vector<int> h_user_gap(USERS);
    std::vector<int> h_session(total);
    std::vector<int> h_sessions(USERS);

    std::ifstream time_in("data/time.bin", std::ios::binary);
    time_in.read((char*)h_time.data(), total * sizeof(int));
    if (!time_in) {
        std::cerr << "Could not read data/time.bin" << std::endl;
        return 1;
    }
    std::ifstream user_gap_file("data/user_gap.bin", std::ios::binary);
    user_gap_file.read((char*)h_user_gap.data(), USERS * sizeof(int));
    if (!user_gap_file) {
        std::cerr << "Could not read data/user_gap.bin" << std::endl;
        return 1;
    }

    int *d_time, *d_user_gap, *d_session, *d_sessions;
    cudaMalloc(&d_time, total * sizeof(int));
    cudaMalloc(&d_user_gap, USERS * sizeof(int));
    cudaMalloc(&d_session, total * sizeof(int));
    cudaMalloc(&d_sessions, USERS * sizeof(int));
    cudaMemcpy(d_time, h_time.data(), total * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_user_gap, h_user_gap.data(), USERS * sizeof(int), cudaMemcpyHostToDevice);

    number_sessions<<<(USERS + 64 - 1) / 64, 64>>>(d_time, d_user_gap, d_session, d_sessions);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_session.data(), d_session, total * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_sessions.data(), d_sessions, USERS * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream session_out("data/session.bin", std::ios::binary);
    session_out.write((char*)h_session.data(), total * sizeof(int));
    std::ofstream sessions_out("data/sessions.bin", std::ios::binary);
    sessions_out.write((char*)h_sessions.data(), USERS * sizeof(int));
    sessions_out.close();

    cudaFree(d_time);
    cudaFree(d_user_gap);
    cudaFree(d_session);
    cudaFree(d_sessions);
    return 0;
}
