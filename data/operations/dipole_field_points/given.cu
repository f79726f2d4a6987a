constexpr int POINTS = 500;
constexpr int DIPOLES = 60;

__global__ void dipole_field(const float* point, const float* place, const float* moment, float* field,
                            int points, int dipoles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points) return;
    float x = point[3 * i], y = point[3 * i + 1], z = point[3 * i + 2];
    float bx = 0.0f, by = 0.0f, bz = 0.0f;
    for (int j = 0; j < dipoles; ++j) {
        float dx = x - place[3 * j], dy = y - place[3 * j + 1], dz = z - place[3 * j + 2];
        float mx = moment[3 * j], my = moment[3 * j + 1], mz = moment[3 * j + 2];
        float r2 = dx * dx + dy * dy + dz * dz + 0.04f;
        float r = sqrtf(r2);
        float r3 = r2 * r;
        float k = 3.0f * (mx * dx + my * dy + mz * dz) / (r3 * r2);
        bx += k * dx - mx / r3;
        by += k * dy - my / r3;
        bz += k * dz - mz / r3;
    }
    field[3 * i] = bx;
    field[3 * i + 1] = by;
    field[3 * i + 2] = bz;
}

int main() {
    const size_t numel = POINTS * 3;
    const int place_count = DIPOLES * 3;
    float* h_point = new float[numel];
    float* h_place = new float[place_count];
    float* h_moment = new float[place_count];
    float* h_field = new float[numel];
    read_binary("data/point.bin", h_point, numel);
    read_binary("data/place.bin", h_place, place_count);
    read_binary("data/moment.bin", h_moment, place_count);

    float* d_point;
    float* d_place;
    float* d_moment;
    float* d_field;
    cudaMalloc(&d_point, numel * sizeof(float));
    cudaMalloc(&d_place, place_count * sizeof(float));
    cudaMalloc(&d_moment, place_count * sizeof(float));
    cudaMalloc(&d_field, numel * sizeof(float));
    cudaMemcpy(d_point, h_point, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_place, h_place, place_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_moment, h_moment, place_count * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 128;
    dipole_field<<<(POINTS + threads - 1) / threads, threads>>>(d_point, d_place, d_moment, d_field, POINTS,
            DIPOLES);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_field, d_field, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/field.bin", h_field, numel);

    cudaFree(d_point);
    cudaFree(d_place);
    cudaFree(d_moment);
    cudaFree(d_field);
    delete[] h_point;
    delete[] h_place;
    delete[] h_moment;
    delete[] h_field;
    return 0;
}
