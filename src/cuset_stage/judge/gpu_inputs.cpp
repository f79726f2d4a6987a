// Does a program need its inputs on the GPU? Wherever bytes of an input file go to the GPU, the GPU is given zeros in their place: after a
// copy that part of the destination is filled, and in memory that host and GPU share it is zero while kernels run. The host keeps what it
// has. A program whose outputs are still right computed them without the GPU.
//
// Blocks of the right outputs that go up and stand in no input are counted: a finished result was uploaded.
#include "gpu_inputs.h"

#include <cupti.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr size_t kBlock = 32;
// A match is extended to all that is equal around it, so blocks of a file may be far apart. An odd distance: in large data a block is
// looked for at every fourth byte alone, and whatever the shift between data and file, one block in four fits.
constexpr size_t kDistance = kBlock + 1, kMostBlocks = 1 << 20, kLarge = 1 << 16;
constexpr size_t kBudget = 16ull << 30;  // bytes of shared memory that are searched in a run

struct Place {
  const uint8_t* file;
  size_t size, at;
};

struct Range {
  size_t at, size;
};

std::unordered_map<uint64_t, Place> input_blocks, output_blocks;
std::vector<uint64_t> first_words(1 << 18);  // a bit for each block's first 8 bytes, so that most of what is no block is not looked up
std::mutex guard;
struct Shared {
  size_t size;
  bool launched;  // a kernel may have written there
};
std::map<uint8_t*, Shared> shared;  // memory that host and GPU share
thread_local std::vector<std::pair<uint8_t*, std::vector<uint8_t>>> hidden;
thread_local bool inside = false;  // in this file's own calls of the driver
size_t searched = 0;
struct {
  size_t inputs, outputs, others, copied, shared;
} counted = {};

template <typename Function>
Function* driver(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

size_t not_zero(const uint8_t* bytes, size_t size) { return size - std::count(bytes, bytes + size, 0); }

// 0 for what repeats itself every 8 bytes: it says nothing about where it comes from.
uint64_t hash(const uint8_t* block) {
  uint64_t words[4];
  memcpy(words, block, kBlock);
  if (words[0] == words[1] && words[1] == words[2] && words[2] == words[3]) return 0;
  uint64_t mixed = 0x9E3779B97F4A7C15ull;
  for (uint64_t word : words) mixed = (mixed ^ word) * 0xD6E8FEB86659FD93ull, mixed ^= mixed >> 32;
  return mixed | 1;
}

std::pair<uint64_t&, int> bit_of(const uint8_t* block) {
  uint64_t word;
  memcpy(&word, block, sizeof word);
  word *= 0x9E3779B97F4A7C15ull;
  return {first_words[word >> 46], (word >> 40) & 63};
}

void add_block(std::unordered_map<uint64_t, Place>& blocks, Place place) {
  const uint8_t* block = place.file + place.at;
  if (const uint64_t mixed = hash(block)) {
    blocks.emplace(mixed, place);
    const auto [word, bit] = bit_of(block);
    word |= 1ull << bit;
  }
}

void read_inputs(const std::string& folder, std::string rest, bool withheld) {
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const int file = open((folder + "/" + rest.substr(0, colon)).c_str(), O_RDONLY | O_CLOEXEC);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    struct stat status;
    if (file < 0 || fstat(file, &status) || !status.st_size) continue;
    const size_t size = status.st_size, step = std::max(kDistance, size / kMostBlocks | 1);
    auto* bytes = static_cast<uint8_t*>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0));
    close(file);
    if (bytes == MAP_FAILED) continue;
    for (size_t at = 0; withheld && at + kBlock <= size; at += step) add_block(input_blocks, {bytes, size, at});
  }
}

// Whether inputs are withheld. They are mapped in each run, as a program may look at its mappings.
bool read_plan(const std::string& folder, const std::string& plan) {
  static std::string outputs;
  const size_t line = std::min(plan.find('\n'), plan.size());
  const bool withheld = plan.front() == 'w';
  read_inputs(folder, plan.substr(1, line - 1), withheld);
  outputs = plan.substr(std::min(line + 1, plan.size()));
  for (size_t at = 0; at + kBlock <= outputs.size(); at += kBlock)
    add_block(output_blocks, {reinterpret_cast<const uint8_t*>(outputs.data()) + at, kBlock, 0});
  return withheld;
}

// Calls visit(range, whether it is of an input) for each stretch of `data` that stands in a file.
template <typename Visit>
void search(const uint8_t* data, size_t size, Visit visit) {
  const size_t step = size < kLarge ? 1 : 4;
  for (size_t at = 0, done = 0; at + kBlock <= size; at += step) {
    const auto [word, bit] = bit_of(data + at);
    const uint64_t mixed = word >> bit & 1 ? hash(data + at) : 0;
    if (!mixed) continue;
    auto found = input_blocks.find(mixed);
    const bool of_input = found != input_blocks.end();
    if (!of_input && (found = output_blocks.find(mixed)) == output_blocks.end()) continue;
    const Place place = found->second;
    if (memcmp(data + at, place.file + place.at, kBlock)) continue;
    size_t first = at, last = at + kBlock;
    while (first > done && place.at > at - first && data[first - 1] == place.file[place.at - (at - first) - 1]) --first;
    while (last < size && place.at + (last - at) < place.size && data[last] == place.file[place.at + (last - at)]) ++last;
    if (!of_input) output_blocks.erase(found);  // what repeats itself counts once
    visit(Range{first, last - first}, of_input);
    done = last;
    at = last - step;
  }
}

void uploaded(CUdeviceptr target, const uint8_t* source, size_t size, bool in_stream, CUstream stream) {
  static auto* fill = driver<CUresult(CUdeviceptr, unsigned char, size_t)>("cuMemsetD8_v2");
  static auto* fill_in = driver<CUresult(CUdeviceptr, unsigned char, size_t, CUstream)>("cuMemsetD8Async");
  static auto* synchronize = driver<CUresult()>("cuCtxSynchronize");
  bool filled = false;
  counted.copied += size;
  counted.others += not_zero(source, size);
  search(source, size, [&](Range range, bool of_input) {
    (of_input ? counted.inputs : counted.outputs) += range.size;
    counted.others -= not_zero(source + range.at, range.size);
    if (of_input) in_stream ? fill_in(target + range.at, 0, range.size, stream) : fill(target + range.at, 0, range.size);
    filled |= of_input;
  });
  if (filled && !in_stream) synchronize();
}

// Its CUmemorytype; 0 for what the driver does not know.
unsigned kind_of(CUdeviceptr pointer) {
  static auto* ask = driver<CUresult(void*, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");
  unsigned kind = 0;
  return ask(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) == CUDA_SUCCESS ? kind : 0;
}

bool is_on_host(CUdeviceptr pointer) {
  const unsigned kind = kind_of(pointer);
  return !kind || kind == CU_MEMORYTYPE_HOST;
}

void copied(const char* name, const void* parameters) {
  const bool in_stream = strstr(name, "Async");
  if (!strncmp(name, "cuMemcpy2D", 10)) {
    const auto* call = static_cast<const cuMemcpy2DAsync_v2_params*>(parameters);
    const CUDA_MEMCPY2D& plan = *call->pCopy;
    const bool unified = plan.srcMemoryType == CU_MEMORYTYPE_UNIFIED && is_on_host(plan.srcDevice);
    if (plan.dstMemoryType == CU_MEMORYTYPE_HOST || plan.dstMemoryType == CU_MEMORYTYPE_ARRAY) return;
    if (plan.srcMemoryType != CU_MEMORYTYPE_HOST && !unified) return;
    const auto* source = static_cast<const uint8_t*>(unified ? reinterpret_cast<void*>(plan.srcDevice) : plan.srcHost);
    for (size_t row = 0; row < plan.Height; ++row)
      uploaded(plan.dstDevice + (plan.dstY + row) * plan.dstPitch + plan.dstXInBytes,
               source + (plan.srcY + row) * plan.srcPitch + plan.srcXInBytes, plan.WidthInBytes, in_stream,
               in_stream ? call->hStream : nullptr);
    return;
  }
  const bool up = !strncmp(name, "cuMemcpyHtoD", 12);
  const bool any = !strcmp(name, "cuMemcpy") || !strcmp(name, "cuMemcpy_ptds") || !strncmp(name, "cuMemcpyAsync", 13);
  if (!up && !any) return;
  const auto* call = static_cast<const cuMemcpyAsync_params*>(parameters);  // all of these begin alike
  if (any && (!is_on_host(call->src) || is_on_host(call->dst))) return;
  uploaded(call->dst, reinterpret_cast<const uint8_t*>(call->src), call->ByteCount, in_stream, in_stream ? call->hStream : nullptr);
}

void share(void* memory, size_t size) {
  shared[static_cast<uint8_t*>(memory)] = {size, false};
  counted.shared += size;
}

bool is_captured(const char* name, const void* parameters) {
  static auto* ask = driver<CUresult(CUstream, CUstreamCaptureStatus*)>("cuStreamIsCapturing");
  if (!strncmp(name, "cuGraph", 7)) return false;
  const CUstream stream = strncmp(name, "cuLaunchKernelEx", 16)
                              ? static_cast<const cuLaunchKernel_params*>(parameters)->hStream
                              : static_cast<const cuLaunchKernelEx_params*>(parameters)->config->hStream;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return ask(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Inputs in shared memory become zeros until `restore`.
void hide() {
  for (auto next = shared.begin(); next != shared.end();)  // gone with its context (cudaDeviceReset)
    next = kind_of(reinterpret_cast<CUdeviceptr>(next->first)) ? std::next(next) : shared.erase(next);
  for (auto& [memory, one] : shared) {
    const bool first = !std::exchange(one.launched, true);
    if ((searched += one.size) > kBudget) {
      counted.others += first ? one.size : 0;
      continue;
    }
    if (first) counted.others += not_zero(memory, one.size);
    search(memory, one.size, [&, memory = memory](Range range, bool of_input) {
      if (first) counted.others -= not_zero(memory + range.at, range.size);
      if (of_input) hidden.emplace_back(memory + range.at, std::vector(memory + range.at, memory + range.at + range.size));
      if (!of_input && first) counted.outputs += range.size;
    });
  }
  for (auto& [memory, bytes] : hidden) memset(memory, 0, bytes.size());
}

void restore() {
  for (auto& [memory, bytes] : hidden)
    if (std::all_of(memory, memory + bytes.size(), [](uint8_t byte) { return byte == 0; }))  // else a kernel wrote there
      memcpy(memory, bytes.data(), bytes.size());
  hidden.clear();
}

void on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const CUpti_CallbackData* call) {
  static auto* synchronize = driver<CUresult()>("cuCtxSynchronize");
  const char* name = call->functionName;
  const bool before = call->callbackSite == CUPTI_API_ENTER;
  if (inside) return;
  const std::lock_guard lock(guard);
  inside = true;
  const bool done = !before && *static_cast<CUresult*>(call->functionReturnValue) == CUDA_SUCCESS;
  const bool launch = !strncmp(name, "cuLaunchKernel", 14) || !strncmp(name, "cuLaunchCoop", 12) || !strncmp(name, "cuGraphLaunch", 13);
  if (launch && !shared.empty() && !is_captured(name, call->functionParams)) {
    synchronize();
    before ? hide() : restore();
  } else if (done && !strncmp(name, "cuMemcpy", 8)) {
    copied(name, call->functionParams);
  } else if (done && (!strncmp(name, "cuMemAllocManaged", 17) || !strncmp(name, "cuMemHostAlloc", 14) ||
                         !strncmp(name, "cuMemAllocHost", 14))) {
    const auto* made = static_cast<const cuMemHostAlloc_params*>(call->functionParams);  // all of these begin alike
    share(*made->pp, made->bytesize);
  } else if (done && !strncmp(name, "cuMemHostRegister", 17)) {
    const auto* made = static_cast<const cuMemHostRegister_v2_params*>(call->functionParams);
    if (!(made->Flags & CU_MEMHOSTREGISTER_READ_ONLY)) share(made->p, made->bytesize);
  } else if (before && (!strncmp(name, "cuMemFree", 9) || !strncmp(name, "cuMemHostUnregister", 19))) {
    shared.erase(*static_cast<uint8_t* const*>(call->functionParams));
  }
  inside = false;
}

}  // namespace

bool withhold_inputs(const std::string& folder) {
  const auto take = reinterpret_cast<void (*)(std::string*)>(dlsym(RTLD_DEFAULT, "cuset_plan"));
  std::string plan;
  if (!take) return true;  // a module's process
  take(&plan);
  CUpti_SubscriberHandle subscriber;  // in every run: a program that subscribes as well would see a difference
  if (plan.empty() || cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(on_call), nullptr) != CUPTI_SUCCESS) return false;
  return !read_plan(folder, plan) || cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS;
}

std::string what_went_up() {
  std::string text = "U";
  for (size_t count : {counted.inputs, counted.outputs, counted.others, counted.copied, counted.shared}) text += " " + std::to_string(count);
  return text + "\n";
}
