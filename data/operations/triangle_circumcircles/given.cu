const int N = 2000;

__global__ void circumcircle(const float* triangles, float* circle, uint8_t* obtuse, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* p = triangles + 6 * (size_t)i;
    float ax = p[0], ay = p[1];
    float bx = p[2] - ax, by = p[3] - ay;
    float cx = p[4] - ax, cy = p[5] - ay;
    float bb = bx * bx + by * by;
    float cc = cx * cx + cy * cy;
    float aa = (bx - cx) * (bx - cx) + (by - cy) * (by - cy);
    float d = 2.0f * (bx * cy - by * cx);
    float ux = (cy * bb - by * cc) / d;
    float uy = (bx * cc - cx * bb) / d;
    circle[3 * i] = ax + ux;
    circle[3 * i + 1] = ay + uy;
    circle[3 * i + 2] = sqrtf(ux * ux + uy * uy);
    float longest = fmaxf(aa, fmaxf(bb, cc));
    obtuse[i] = longest > (aa + bb + cc) - longest ? 1 : 0;
}

int main() {
    const size_t triangles_count = N * 3 * 2;
    const int circle_total = N * 3;

    std::vector<float> h_triangles(triangles_count);
    read_binary("data/triangles.bin", h_triangles.data(), triangles_count);

    float* d_triangles;
    float* d_circle;
    uint8_t* d_obtuse;
    cudaMalloc(&d_triangles, triangles_count * sizeof(float));
    cudaMemcpy(d_triangles, h_triangles.data(), triangles_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_circle, circle_total * sizeof(float));
    cudaMalloc(&d_obtuse, N * sizeof(uint8_t));

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    circumcircle<<<blocks, threads>>>(d_triangles, d_circle, d_obtuse, N);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "launch failed\n";
        return 1;
    }
    cudaDeviceSynchronize();

    std::vector<float> h_circle(circle_total);
    cudaMemcpy(h_circle.data(), d_circle, circle_total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/circle.bin", h_circle.data(), circle_total);
    std::vector<uint8_t> h_obtuse(N);
    cudaMemcpy(h_obtuse.data(), d_obtuse, N * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream out("data/obtuse.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(h_obtuse.data()), N);

    cudaFree(d_triangles);
    cudaFree(d_circle);
    cudaFree(d_obtuse);
    return 0;
}
