// gpu_inputs.cpp as CUPTI calls it, with host memory in place of the GPU's. With -DDRIVER: the driver's part, as libcuda.so.1.
#ifdef DRIVER
#include <cstddef>
#include <cstring>

extern "C" {
int cuMemsetD8_v2(size_t at, unsigned char value, size_t size) { return memset((void*)at, value, size), 0; }
int cuMemsetD8Async(size_t at, unsigned char value, size_t size, void*) { return memset((void*)at, value, size), 0; }
int cuCtxSynchronize() { return 0; }
// Of memory from here on it knows nothing: a context that went took it along.
size_t gone = -1;
int cuPointerGetAttribute(unsigned* kind, int, size_t at) { return at >= gone ? 1 : (*kind = 1, 0); }
int cuStreamIsCapturing(void*, int* status) { return *status = 0, 0; }
}
#else
#include "gpu_inputs.cpp"

#include <cstdio>

using Bytes = std::vector<uint8_t>;

static void call(const char* name, void* parameters, CUpti_ApiCallbackSite site = CUPTI_API_EXIT) {
  static CUresult success = CUDA_SUCCESS;
  CUpti_CallbackData data{};
  data.functionName = name, data.functionParams = parameters, data.functionReturnValue = &success, data.callbackSite = site;
  on_call(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, 0, &data);
}

static Bytes load(const char* path) {
  Bytes bytes;
  FILE* file = fopen(path, "rb");
  for (int byte; (byte = fgetc(file)) != EOF;) bytes.push_back(byte);
  fclose(file);
  return bytes;
}

static void say(const char* name, bool right) {
  printf("%s %d", name, right);
  for (size_t count : {counted.inputs, counted.outputs, counted.others, counted.copied, counted.shared}) printf(" %zu", count);
  printf("\n");
  counted = {};
}

static Bytes up(const Bytes& source, const char* name = "cuMemcpyHtoD_v2") {
  Bytes memory = source;
  cuMemcpyHtoDAsync_v2_params copy{(CUdeviceptr)memory.data(), source.data(), source.size(), nullptr};
  call(name, &copy);
  return memory;
}

int main(int, char** paths) {
  const Bytes x = load(paths[1]), y = load(paths[2]), zeros(x.size(), 0);
  const std::string told = "wmissing:x\n" + std::string(y.begin(), y.begin() + 200 * kBlock);
  read_plan(paths[3], told);  // paths[3]: the folder of x
  say("whole", up(x) == zeros);
  say("whole, in a stream", up(x, "cuMemcpyHtoDAsync_v2_ptsz") == zeros);
  Bytes part(100000, 7), expected = part;
  std::copy(x.begin() + 101, x.begin() + 50101, part.begin() + 3);
  std::fill(expected.begin() + 3, expected.begin() + 50003, 0);
  say("part, shifted", up(part) == expected);
  say("result", up(y) == y);
  say("result, again", up(y) == y);
  Bytes changed = x;
  for (auto& byte : changed) byte ^= 0xff;
  say("changed", up(changed) == changed);
  say("zeros", up(zeros) == zeros);

  const size_t width = 1000, pitch = 1024, rows = 100;
  Bytes memory(pitch * rows, 9), wanted = memory;
  for (size_t row = 0; row < rows; ++row) {
    std::copy_n(x.begin() + row * width, width, memory.begin() + row * pitch);
    std::fill_n(wanted.begin() + row * pitch, width, 0);
  }
  CUDA_MEMCPY2D plan{};
  plan.srcMemoryType = CU_MEMORYTYPE_HOST, plan.srcHost = x.data(), plan.srcPitch = width;
  plan.dstMemoryType = CU_MEMORYTYPE_DEVICE, plan.dstDevice = (CUdeviceptr)memory.data(), plan.dstPitch = pitch;
  plan.WidthInBytes = width, plan.Height = rows;
  const CUDA_MEMCPY2D* pointer = &plan;
  call("cuMemcpy2DUnaligned_v2", &pointer);
  say("rows", memory == wanted);

  Bytes managed = x, results(x.size(), 0);
  CUdeviceptr made[] = {(CUdeviceptr)managed.data(), (CUdeviceptr)results.data()};
  for (auto& at : made) {
    cuMemAllocManaged_params allocation{&at, x.size(), 1};
    call("cuMemAllocManaged", &allocation);
  }
  cuLaunchKernel_params launch{};
  call("cuLaunchKernel", &launch, CUPTI_API_ENTER);
  const bool hidden_now = managed == zeros;
  std::fill_n(results.begin(), 1000, 3);  // the kernel
  call("cuLaunchKernel", &launch);
  say("managed", hidden_now && managed == x && results[999] == 3);
  call("cuLaunchKernel", &launch, CUPTI_API_ENTER);
  std::fill(managed.begin(), managed.end(), 5);  // a kernel that works in place
  call("cuLaunchKernel", &launch);
  say("in place", managed == Bytes(x.size(), 5));
  read_plan(paths[3], told);
  Bytes result = y;
  CUdeviceptr at = (CUdeviceptr)result.data();
  cuMemAllocManaged_params allocation{&at, y.size(), 1};
  call("cuMemAllocManaged", &allocation);
  for (int launches = 0; launches < 2; ++launches) call("cuLaunchKernel", &launch, CUPTI_API_ENTER), call("cuLaunchKernel", &launch);
  say("managed, later", result == y);
  *static_cast<size_t*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "gone")) = 4096;
  shared = {{(uint8_t*)4096, {y.size(), false}}};
  call("cuLaunchKernel", &launch, CUPTI_API_ENTER), call("cuLaunchKernel", &launch);
  say("gone", shared.empty());

  input_blocks.clear();
  const bool withheld = read_plan(paths[3], "-x\n");
  say("given", !withheld && up(x) == x);
}
#endif
