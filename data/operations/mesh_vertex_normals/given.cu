constexpr int NV = 1000;
constexpr int NF = 2000;

__global__ void add_face_normals(const float* vertices, const int* faces, float* normals, int nf) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= nf) return;
    const float* a = vertices + 3 * faces[3 * f];
    const float* b = vertices + 3 * faces[3 * f + 1];
    const float* c = vertices + 3 * faces[3 * f + 2];
    float ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2];
    float vx = c[0] - a[0], vy = c[1] - a[1], vz = c[2] - a[2];
    float nx = uy * vz - uz * vy;
    float ny = uz * vx - ux * vz;
    float nz = ux * vy - uy * vx;
    for (int k = 0; k < 3; ++k) {
        float* sum = normals + 3 * faces[3 * f + k];
        atomicAdd(sum, nx);
        atomicAdd(sum + 1, ny);
        atomicAdd(sum + 2, nz);
    }
}

__global__ void normalize_all(float* normals, int nv) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nv) return;
    float* n = normals + 3 * v;
    float len = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (len < 1e-6f) {
        n[0] = 0.0f;
        n[1] = 0.0f;
        n[2] = 1.0f;
    } else {
        for (int k = 0; k < 3; ++k) n[k] /= len;
    }
}

int main() {
    int vertices_size = NV * 3;
    int faces_size = NF * 3;
    std::vector<float> h_vertices(vertices_size);
    read_binary("data/vertices.bin", h_vertices.data(), vertices_size);
    float* d_vertices;
    cudaMalloc(&d_vertices, vertices_size * sizeof(float));
    cudaMemcpy(d_vertices, h_vertices.data(), vertices_size * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<int> h_faces(faces_size);
    read_binary("data/faces.bin", reinterpret_cast<float*>(h_faces.data()), faces_size);
    int* d_faces;
    cudaMalloc(&d_faces, faces_size * sizeof(int));
    cudaMemcpy(d_faces, h_faces.data(), faces_size * sizeof(int), cudaMemcpyHostToDevice);

    std::vector<float> h_normals(vertices_size);
    float* d_normals;
    cudaMalloc(&d_normals, vertices_size * sizeof(float));
    cudaMemset(d_normals, 0, vertices_size * sizeof(float));

    const int threads = 512;
    add_face_normals<<<(NF + threads - 1) / threads, threads>>>(d_vertices, d_faces, d_normals, NF);
    normalize_all<<<(NV + threads - 1) / threads, threads>>>(d_normals, NV);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "CUDA error" << std::endl;
        return 1;
    }

    cudaMemcpy(h_normals.data(), d_normals, vertices_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/normals.bin", h_normals.data(), vertices_size);

    cudaFree(d_vertices);
    cudaFree(d_faces);
    cudaFree(d_normals);
    return 0;
}
