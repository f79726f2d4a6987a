// Loaded into a program (LD_PRELOAD): calls its main once a case as long as that returns 0, first in the folder in which it was started, then
// in .cases/1, .cases/2, ... of that. Each call that returned 0 adds a line to .cases/report: its begin and end, in nanoseconds of
// CLOCK_MONOTONIC. case_runs.py builds it and reads the report.
//
// Before that it reads the judge's plan from stdin, which is /dev/null from then on, and keeps it for the library that records what runs on
// the GPU (gpu_inputs.h): no file, variable or command line tells the program for which of its runs it is.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <time.h>
#include <unistd.h>

namespace {

using Main = int (*)(int, char**, char**);
Main program;
std::string plan;

void read_plan() {
  char some[4096];
  for (ssize_t size; (size = read(0, some, sizeof some)) > 0;) plan.append(some, size);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, 0);
  close(nothing);
}

unsigned long long now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

int call_for_each_case(int count, char** arguments, char** environment) {
  unsetenv("LD_PRELOAD");  // what it starts is none of ours
  const int cases = open(".cases", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int report = openat(cases, "report", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const pid_t own = getpid();
  for (int next = 1;; ++next) {
    const auto begin = now();
    const int code = program(count, arguments, environment);
    if (code || getpid() != own) return code;  // another process: one that it forked
    fflush(nullptr);
    dprintf(report, "%llu %llu\n", begin, now());
    const int folder = openat(cases, std::to_string(next).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fchdir(folder)) return 0;
    close(folder);
  }
}

}  // namespace

// The plan, once: who asks later finds nothing.
extern "C" void cuset_plan(std::string* into) {
  into->clear();
  into->swap(plan);
}

// What a program's first instructions call, with its main.
extern "C" int __libc_start_main(Main main, int count, char** arguments, void (*init)(), void (*finish)(), void (*end)(), void* stack) {
  program = main;
  read_plan();
  const auto start = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(call_for_each_case, count, arguments, init, finish, end, stack);
}
