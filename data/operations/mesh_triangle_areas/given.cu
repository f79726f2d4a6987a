constexpr int kNv = 1000;
constexpr int kNf = 2000;

__global__ void triangle_areas(const float* vertices, const int* faces, float* area, float* centroid, int count) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= count) return;
  const float* a = vertices + 3 * faces[3 * f];
  const float* b = vertices + 3 * faces[3 * f + 1];
  const float* c = vertices + 3 * faces[3 * f + 2];
  float u[3], v[3];
  for (int k = 0; k < 3; ++k) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
    centroid[3 * f + k] = (a[k] + b[k] + c[k]) / 3.0f;
  }
  float x = u[1] * v[2] - u[2] * v[1];
  float y = u[2] * v[0] - u[0] * v[2];
  float z = u[0] * v[1] - u[1] * v[0];
  area[f] = 0.5f * sqrtf(x * x + y * y + z * z);
}

int main() {
  const int count = kNf * 3;
  float* h_vertices = new float[kNv * 3];
  read_binary("data/vertices.bin", h_vertices, kNv * 3);
  int* h_faces = new int[count];
  read_binary("data/faces.bin", reinterpret_cast<float*>(h_faces), count);
  float* h_area = new float[kNf];
  float* h_centroid = new float[count];

  float* d_vertices;
  int* d_faces;
  float* d_area;
  float* d_centroid;
  cudaMalloc(&d_vertices, kNv * 3 * sizeof(float));
  cudaMalloc(&d_faces, count * sizeof(int));
  cudaMalloc(&d_area, kNf * sizeof(float));
  cudaMalloc(&d_centroid, count * sizeof(float));
  cudaMemcpy(d_vertices, h_vertices, kNv * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_faces, h_faces, count * sizeof(int), cudaMemcpyHostToDevice);

  int block = 256;
  int grid = (kNf + block - 1) / block;
  triangle_areas<<<grid, block>>>(d_vertices, d_faces, d_area, d_centroid, kNf);
  cudaDeviceSynchronize();

  cudaMemcpy(h_area, d_area, kNf * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/area.bin", h_area, kNf);
  cudaMemcpy(h_centroid, d_centroid, count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/centroid.bin", h_centroid, count);

  cudaFree(d_vertices);
  cudaFree(d_faces);
  cudaFree(d_area);
  cudaFree(d_centroid);
  delete[] h_vertices;
  delete[] h_faces;
  delete[] h_area;
  delete[] h_centroid;
  return 0;
}
