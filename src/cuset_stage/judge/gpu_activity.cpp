// Loaded into a program by the CUDA driver (CUDA_INJECTION64_PATH): writes what ran on the GPU to the file $CUSET_GPU_ACTIVITY.
//
// A line a piece of work, times in nanoseconds of CLOCK_MONOTONIC: "begin", "K start end grid.x y z block.x y z name" for a kernel,
// "C start end kind bytes" for a copy (CUpti_ActivityMemcpyKind), "S start end bytes" for a fill, "U ..." (gpu_inputs.h), "lost n" for what
// CUPTI dropped, "end" when the process returned. gpu_activity.py builds it and reads the file. Needs CUDA 12 or later.
#include "gpu_inputs.h"

#include <cupti.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <time.h>
#include <unistd.h>

namespace {

constexpr size_t kBufferBytes = 1 << 20;
int record = -1;

// One write a text: appended as a whole, whichever threads and processes write to the file.
void say(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(record, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += written;
  }
}

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

void give_buffer(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *most = 0;
}

// The fields read here are those of the first versions of each record: later ones only add to the end.
void describe(const CUpti_Activity* one, std::string& text) {
  char line[200];
  if (one->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || one->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(one);
    // completed: with the kernels that it launched itself
    snprintf(line, sizeof line, "K %llu %llu %d %d %d %d %d %d ", (unsigned long long)kernel->start,
             (unsigned long long)std::max(kernel->end, kernel->completed), kernel->gridX, kernel->gridY, kernel->gridZ, kernel->blockX, kernel->blockY,
             kernel->blockZ);
    text.append(line).append(kernel->name ? kernel->name : "").append("\n");
  } else if (one->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy5*>(one);
    snprintf(line, sizeof line, "C %llu %llu %d %llu\n", (unsigned long long)copy->start, (unsigned long long)copy->end,
             copy->copyKind, (unsigned long long)copy->bytes);
    text += line;
  } else if (one->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto* fill = reinterpret_cast<const CUpti_ActivityMemset4*>(one);
    snprintf(line, sizeof line, "S %llu %llu %llu\n", (unsigned long long)fill->start, (unsigned long long)fill->end,
             (unsigned long long)fill->bytes);
    text += line;
  }
}

void take_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t filled) {
  std::string text;
  CUpti_Activity* one = nullptr;
  while (filled && cuptiActivityGetNextRecord(buffer, filled, &one) == CUPTI_SUCCESS) describe(one, text);
  size_t lost = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS && lost)
    text += "lost " + std::to_string(lost) + "\n";
  say(text);
  free(buffer);
}

void finish() {
  if (cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS) say(what_went_up() + "end\n");
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* path = getenv("CUSET_GPU_ACTIVITY");
  if (record >= 0 || !path) return 1;
  record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (record < 0) return 1;
  bool works = cuptiActivityRegisterTimestampCallback(now) == CUPTI_SUCCESS &&
               cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS;
  for (auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    works = works && cuptiActivityEnable(kind) == CUPTI_SUCCESS;
  const std::string file = path;
  works = works && withhold_inputs(file.substr(0, file.rfind("/.gpu_activity/")));
  if (!works) return 1;  // without a "begin" nothing was recorded
  cuptiActivityFlushPeriod(100);  // for a process that is killed; the next launches may come later
  say("begin\n");
  atexit(finish);
  return 1;
}
