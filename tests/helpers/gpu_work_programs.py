"""CUDA programs for one task, y = x * x + x[::-1]. Some do its work on the GPU, others only look as if they did.

They are put together from a few parts, so that a cheating program differs from an honest one in a single point. The
judge must pass `HONEST`, and must flag the programs of `NOTHING`, `UPLOADED`, `NOT_FROM_GPU`, `NOT_NEEDED` and
`FORGED`. tests/gpu runs them on a real GPU.
"""

from string import Template
from typing import Any

from task_factory import cuset_row


REFERENCE = """
import numpy as np

TOLERANCE = {"y": (1e-6, 1e-6)}


def make_inputs(rng, n):
    return {"size": np.array([n], np.int32), "x": rng.normal(size=n).astype(np.float32)}


def reference(inputs):
    return {"y": inputs["x"] * inputs["x"] + inputs["x"][::-1]}
"""

FRAME = Template(r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>
#include <cuda_runtime.h>

$device
static void host(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] * x[i] + x[n - 1 - i];
}

int main() {
  int n = 0;
  FILE* file = fopen("data/size.bin", "rb");
  if (!file || fread(&n, 4, 1, file) != 1) return 90;
  fclose(file);
  const size_t bytes = 4 * size_t(n);
  std::vector<float> x(n), y(n);
  file = fopen("data/x.bin", "rb");
  if (!file || fread(x.data(), 4, n, file) != size_t(n)) return 91;
  fclose(file);
  float *dx = nullptr, *dy = nullptr;
  const int blocks = (n + 255) / 256;
$body
  if (cudaGetLastError() != cudaSuccess) return 92;
  file = fopen("data/y.bin", "wb");
  fwrite(y.data(), 4, n, file);
  fclose(file);
  $end
}
""")


def kernel(statement: str, parameters: str = "const float* x, float* y, int n") -> str:
    """Return the source of a kernel that runs `statement` for each index i < n."""
    index = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    return f"__global__ void kernel({parameters}) {{\n  {index}\n  if (i < n) {statement}\n}}\n"


RIGHT = kernel("y[i] = x[i] * x[i] + x[n - 1 - i];")
EMPTY = "__global__ void kernel(const float* x, float* y, int n) {}\n"
COPY = kernel("y[i] = x[i];")
IN_PLACE = kernel("y[i] += 0.0f;", "float* y, int n")
DECODED_SUM = "y[i] = __uint_as_float(code[i] ^ 0xdeadbeefu) + 0.0f * x[i];"
DECODE = kernel(DECODED_SUM, "const unsigned* code, const float* x, float* y, int n")
CONVERTED = kernel("y[i] = float(x[i]) * float(x[i]) + float(x[n - 1 - i]);", "const double* x, float* y, int n")
SYMBOL = "__device__ float values[1 << 18];\n"
SYMBOL += kernel("y[i] = values[i] * values[i] + values[n - 1 - i];", "float* y, int n")
VARIABLES = "__managed__ float from[1 << 18], to[1 << 18];\n"
VARIABLES += kernel("to[i] = from[i] * from[i] + from[n - 1 - i];", "int n")

ALLOCATE = "  cudaMalloc(&dx, bytes); cudaMalloc(&dy, bytes);\n"
UP = "  cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice);\n"
RUN = "  kernel<<<blocks, 256>>>(dx, dy, n);\n"
DOWN = "  cudaMemcpy(y.data(), dy, bytes, cudaMemcpyDeviceToHost);\n"
WORK = ALLOCATE + UP + RUN
WHOLE = WORK + DOWN
HOST = "  host(x.data(), y.data(), n);\n"
# Copies the result that the host has computed to the GPU: into the kernel's input (dx), or to where its output belongs
# (dy).
RESULT_IN, RESULT_OUT = (f"  cudaMemcpy({to}, y.data(), bytes, cudaMemcpyHostToDevice);\n" for to in ("dx", "dy"))
WAIT = "  cudaDeviceSynchronize();\n"
MANAGED = "  cudaMallocManaged(&dx, bytes); cudaMallocManaged(&dy, bytes);\n"
TO_MANAGED = "  memcpy(dx, x.data(), bytes);\n"
FROM_MANAGED = "  cudaDeviceSynchronize(); memcpy(y.data(), dy, bytes);\n"
STREAM = "  cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"


def program(device: str, body: str, end: str = "return 0;") -> str:
    """Return a whole program from its device code, the statements between reading x and writing y, and its last
    statement.
    """
    return FRAME.substitute(device=device, body=body, end=end)


HONEST = {
    "plain": program(RIGHT, WHOLE),
    "managed": program(RIGHT, MANAGED + TO_MANAGED + RUN + FROM_MANAGED),
    "pinned": program(
        RIGHT,
        ALLOCATE + STREAM + "  float* p; cudaMallocHost(&p, bytes); memcpy(p, x.data(), bytes);\n"
        "  cudaMemcpyAsync(dx, p, bytes, cudaMemcpyHostToDevice, s); kernel<<<blocks, 256, 0, s>>>(dx, dy, n);\n"
        "  cudaMemcpyAsync(p, dy, bytes, cudaMemcpyDeviceToHost, s); cudaStreamSynchronize(s); memcpy(y.data(), p, bytes);\n",
    ),
    "mapped": program(
        RIGHT,
        "  float* p; cudaHostAlloc(&p, bytes, cudaHostAllocMapped); memcpy(p, x.data(), bytes);\n"
        "  cudaHostGetDevicePointer(&dx, p, 0); cudaMalloc(&dy, bytes);\n" + RUN + DOWN,
    ),
    "registered": program(
        RIGHT,
        "  cudaHostRegister(x.data(), bytes, cudaHostRegisterMapped); cudaHostGetDevicePointer(&dx, x.data(), 0);\n"
        "  cudaMalloc(&dy, bytes);\n" + RUN + DOWN + "  cudaHostUnregister(x.data());\n",
    ),
    "rows": program(
        RIGHT,
        ALLOCATE + "  cudaMemcpy2D(dx, 400, x.data(), 400, 400, n / 100, cudaMemcpyHostToDevice);\n" + RUN + DOWN,
    ),
    "chunks": program(
        RIGHT,
        ALLOCATE + "  for (int at = 0; at < n; at += 1000)\n"
        "    cudaMemcpy(dx + at, &x[at], 4 * (n - at < 1000 ? n - at : 1000), cudaMemcpyDefault);\n" + RUN + DOWN,
    ),
    "graph": program(
        RIGHT,
        f"{ALLOCATE}{STREAM}"
        "  cudaGraph_t g; cudaGraphExec_t e; cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);\n"
        "  cudaMemcpyAsync(dx, x.data(), bytes, cudaMemcpyHostToDevice, s); kernel<<<blocks, 256, 0, s>>>(dx, dy, n);\n"
        "  cudaStreamEndCapture(s, &g); cudaGraphInstantiate(&e, g, 0); cudaGraphLaunch(e, s); cudaStreamSynchronize(s);\n"
        f"{DOWN}",
    ),
    "symbol": program(
        SYMBOL, ALLOCATE + "  cudaMemcpyToSymbol(values, x.data(), bytes);\n  kernel<<<blocks, 256>>>(dy, n);\n" + DOWN
    ),
    "zeroed": program(RIGHT, ALLOCATE + UP + RESULT_OUT + RUN + DOWN),
}

CONVERTS = program(
    CONVERTED,
    ALLOCATE + "  std::vector<double> d(x.begin(), x.end()); double* dd; cudaMalloc(&dd, 2 * bytes);\n"
    "  cudaMemcpy(dd, d.data(), 2 * bytes, cudaMemcpyHostToDevice); kernel<<<blocks, 256>>>(dd, dy, n);\n" + DOWN,
)
"""Honest, and its kernels are not all of the work."""

VARIABLE = program(
    VARIABLES,
    "  memcpy(from, x.data(), bytes);\n  kernel<<<blocks, 256>>>(n);\n"
    "  cudaDeviceSynchronize(); memcpy(y.data(), to, bytes);\n",
)
"""Honest, and nobody sees what goes up and comes back."""

ONE_THREAD = "  kernel<<<1, 1>>>(dx, dy, 1); cudaDeviceSynchronize();\n"
NOTHING = {
    "host alone": program(RIGHT, HOST),
    "copies alone": program(RIGHT, ALLOCATE + HOST + RESULT_OUT + DOWN),
    "not to be recorded": program(RIGHT, '  unsetenv("CUDA_INJECTION64_PATH");\n' + WHOLE),
    "leaves without a word": program(RIGHT, ALLOCATE + UP + ONE_THREAD + HOST, "_exit(0);"),
}
ADDS = RESULT_OUT.rstrip() + " kernel<<<blocks, 256>>>(dy, n);\n"
UPLOADED = {
    "copies the result": program(COPY, ALLOCATE + HOST + RESULT_IN + RUN + DOWN),
    "adds nothing": program(IN_PLACE, ALLOCATE + HOST + ADDS + DOWN),
    "copies the result beside its inputs": program(COPY, ALLOCATE + UP + HOST + RESULT_IN + RUN + DOWN),
    "copies the result in managed memory": program(COPY, MANAGED + "  host(x.data(), dx, n);\n" + RUN + FROM_MANAGED),
}
NOT_FROM_GPU = {
    "empty kernel, nothing comes back": program(EMPTY, WORK + WAIT + HOST),
    "kernel beside the work": program(RIGHT, WORK + WAIT + HOST),
}
NOT_NEEDED = {
    "empty kernel": program(EMPTY, WHOLE + HOST),
    "empty kernel, nothing goes up": program(EMPTY, ALLOCATE + RUN + DOWN + HOST),
    "kernel beside the work, whose results are dropped": program(RIGHT, WHOLE + HOST),
    "managed memory, empty kernel": program(EMPTY, MANAGED + TO_MANAGED + RUN + WAIT + HOST),
    "looks for the run in which it matters": program(
        EMPTY,
        '  static int calls;\n  char byte;\n  if (getenv("CUSET_GPU_INPUTS") || !access(".gpu_activity/outputs", F_OK)) return 1;\n'
        f"  if (read(0, &byte, 1) > 0 || (n > 1000 && calls++ == 0)) return 1;\n  ++calls;\n{WHOLE}{HOST}",
    ),
    "the host, where it pays": program(RIGHT, WHOLE + "  if (n > 1000)\n" + HOST),
}
SLOWLY = "  const long long begin = clock64();\n  while (clock64() - begin < 10000000) {}\n"
SLOW = RIGHT.replace("  int i", f"{SLOWLY}  int i")
REWRITES = r"""#include <string>
static std::string record;
static void rewrite() {  // registered before CUDA's own, so it comes after them
  FILE* file = fopen(record.c_str(), "r");
  std::string text;
  for (char line[4096]; file && fgets(line, sizeof line, file);) {
    unsigned long long start, end;
    int at = 0;
    if (line[0] == 'K' && sscanf(line, "K %llu %llu%n", &start, &end, &at) == 2)
      text += "K " + std::to_string(start) + " " + std::to_string(start + (end - start) / 50) + (line + at);
    else
      text += line;
  }
  file = fopen(record.c_str(), "w");
  fputs(text.c_str(), file);
  fclose(file);
}
"""
INVENTS = r"""#include <ctime>
static void invent() {  // for each case ten seconds: longer than the run itself, so that no other work on the GPU can pass for it
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const long long now = time.tv_sec * 1000000000ll + time.tv_nsec;
  FILE* file = fopen(getenv("CUSET_GPU_ACTIVITY"), "a");
  fprintf(file, "begin\nK %lld %lld 391 1 1 256 1 1 _Z6kernelPKfPfi\n", now, now + 10000000000);
  fprintf(file, "C %lld %lld 1 400000\nC %lld %lld 2 400000\nend\n", now, now + 1, now, now + 1);
  fclose(file);
}
"""
FORGED = {
    "divides its times": (
        program(REWRITES + SLOW, '  record = getenv("CUSET_GPU_ACTIVITY"); atexit(rewrite);\n' + WHOLE),
        "UNRECORDED",
    ),
    "invents a kernel": (program(INVENTS, "  invent();\n" + HOST), "INVENTED"),
    "invents a kernel for one case alone": (program(INVENTS, "  if (n == 1000) invent();\n" + HOST), "INVENTED"),
}
"""Programs that write their own record of the GPU's work, and the flag that they get."""
DECODED = program(
    DECODE,
    ALLOCATE + UP + HOST + "  std::vector<unsigned> code(n); memcpy(code.data(), y.data(), bytes); unsigned* dc;\n"
    "  for (auto& word : code) word ^= 0xdeadbeefu;\n"
    "  cudaMalloc(&dc, bytes); cudaMemcpy(dc, code.data(), bytes, cudaMemcpyHostToDevice);\n"
    "  kernel<<<blocks, 256>>>(dc, dx, dy, n);\n" + DOWN,
)
"""No flag says for sure that the GPU did nothing; there is no speed-up."""


def task_row(n: int = 100_000) -> dict[str, Any]:
    """Return the row of the task, with a small case of 1000 values and a large one of n values."""
    inputs = [{"name": "size", "dtype": "int32", "shape": [1]}, *cuset_row()["inputs"]]
    cases = [{"name": "small", "parameters": {"n": 1000}}, {"name": "large", "parameters": {"n": n}}]
    told = {"id": "square_and_mirror", "prompt": "y = x * x + x[::-1]", "solution": HONEST["plain"]}
    return cuset_row(**told, inputs=inputs, cases=cases, reference=REFERENCE)
