"""The chat messages of a task, and this package's wording for task sets without complete prompts. Standard library
only.

The wording for CUDABench states what that benchmark's own prompt states: the answer's form, the files with their names
and sizes, and the GPU. There is one difference. Here a file has the type that the task declares, while the benchmark's
prompt asks for float throughout, although some of its files hold integers. Edition 2 gives that type its name in C.
Edition 1 gave NumPy's name, and of 500 answers to it, 280 used a C++ type float32 (Qwen2.5-Coder-1.5B-Instruct).

A published number needs the benchmark's own prompts, which `prompt_file` reads from the user's clone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .base import FILE_BYTES, Task, TaskError, Tensor
from .prompt_file import PromptFile


# The wordings for CUDABench that this package has had, as answers and reports name them. Answers that name none belong
# to the first.
EDITIONS = tuple(f"cuset-stage, edition {number}" for number in (1, 2))


def prompts_of(run: Mapping[str, Any]) -> Any:
    """Return the wording of CUDABench's tasks that the answers of a judged run belong to.

    Args:
        run: The header of the run's results. Headers from before edition 2 do not name a wording.

    Returns:
        A name from `EDITIONS` or a prompt file's label, a list if there are several, or None for another task set.
    """
    if (run.get("tasks") or {}).get("format") != "cudabench":
        return None
    return (run.get("generation") or {}).get("prompts") or EDITIONS[0]


def chat_messages(
    task: Task, *, level: int = 1, prompts: PromptFile | None = None, system: str | None = None
) -> list[dict[str, str]]:
    """Return the messages for a task: [{"role": "system", ...},] {"role": "user", ...}.

    Args:
        task: The task.
        level: The level of the prompt. 1 is the paper's. CUDABench has 1 to 3. In this package's own format, 2 is the
            bare wording and 3 the detailed one. Other sets have only 1.
        prompts: CUDABench's own prompts, in place of this package's wording.
        system: A system prompt in place of the task's own. "" means no system prompt, None means the task's own.

    Raises:
        TaskError: The task has no prompt of this level, or `prompts` are given for a task of another set.
    """
    where = f"task {task.id} ({task.source})"
    if level not in task.prompts:
        raise TaskError(f"{where}: no prompt of level {level}; it has {', '.join(map(str, sorted(task.prompts)))}")
    task_system, prompt = task.system, task.prompts[level]
    if prompts is not None:  # fill the prompt file with a row, as CUDABench's Generate/prompt_builder.py does
        row = getattr(task, "row", None)
        if row is None:
            raise TaskError(f"{where}: prompts= are CUDABench's, for its rows alone; leave it out")
        task_system = prompts.system
        prompt = prompts.prompt.format(
            task_name=row["task_name"],
            task_description=row[f"level{level}_prompt"],
            input_spec="\n".join(map(_SPEC.format_map, row["inputs"])),
            output_spec="\n".join(map(_SPEC.format_map, row["outputs"])),
            gpu=row.get("gpu") or "unknown",
        )
    elif gpu := getattr(task, "gpu", None):
        prompt = f"{prompt}\n\nGPU: {gpu}"
    system = task_system if system is None else system
    return [{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": prompt}]


_SPEC = "{name}: {dtype}, shape = {shape}"  # the line for a file in CUDABench's own prompts

CUDABENCH_SYSTEM = """\
You are an expert in CUDA and high-performance computing. You write one complete, efficient CUDA C++ program for the task that \
the user describes.

Answer with exactly one code block that starts with ```cpp and ends with ```, and with nothing before or after it. The block \
holds the whole program: it is saved as kernel.cu and built with nvcc, without further files or libraries.

What the program does:
- It reads every input <name> from data/<name>.bin and writes every output <name> to data/<name>.bin; the paths are relative to \
the working directory. The folder data exists.
- A file holds the values alone, little-endian and row-major, without a header, in the C type that the task lists for it. An output \
file has exactly as many bytes as its type and shape imply. C++ has no type float32: where a description says float32, write float.
- Names and shapes are those of the task: write the sizes into the program as constants. It gets no command-line arguments.
- main allocates host and device memory, copies the inputs to the GPU, launches the kernel, copies the results back, writes them, \
frees the memory and returns 0. When a file cannot be opened or CUDA reports an error, it returns another value.
- The computation itself runs in a __global__ function, with __device__ functions where they help. Check array bounds in it, use \
device functions such as fmaxf, fabsf and expf rather than those of namespace std, and derive the launch configuration from \
the sizes.
- Include every header that the program needs, such as cuda_runtime.h, cstdio, cmath and vector."""

MODULE_SYSTEM = """\
You are an expert in CUDA and PyTorch. You replace operators of a PyTorch model with CUDA kernels of your own, so that it gives \
the same results in less time.

Answer with exactly one code block that starts with ```python and ends with ```. It holds a whole Python file that defines the \
class ModelNew; kernels stand in strings that torch.utils.cpp_extension.load_inline compiles."""


COMPUTEEVAL_SYSTEM = """\
You are an expert in CUDA and C++. You write one source file of a program; its other files, and tests that you do not see, are there.

Answer with exactly one code block, fenced by ``` with the tag cuda or cpp, that holds the whole file. Write no main and no tests. Keep \
to the declarations in the given files, and include the headers that you use."""

KERNEL_SYSTEM = """\
You are an expert in CUDA and PyTorch. You replace a function of a PyTorch model with CUDA kernels of your own, so that it gives the \
same results in less time.

Answer with exactly one code block that starts with ```cuda and ends with ```. It holds one .cu file, which torch.utils.cpp_extension \
compiles: it includes torch/extension.h and ends with a PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) block."""


def cudabench_prompt(name: str, description: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> str:
    """Return the user's message for a CUDABench task: its name, its description, and the declared files."""
    parts = [f"Task: {name}", description.strip()]
    for title, tensors in (("Inputs", inputs), ("Outputs", outputs)):
        if tensors:
            lines = [f"- {tensor.name}: {_c_type(tensor)}, shape {tensor.shape}, {tensor.file}" for tensor in tensors]
            parts.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(parts)


_C_TYPES = {
    "float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double", "complex64": "float2",
    "complex128": "double2", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long long", "uint64": "unsigned long long",
}  # fmt: skip


def _c_type(tensor: Tensor) -> str:
    """Return a phrase such as "float, 4 bytes each". A dtype of unknown size is returned as the set wrote it."""
    size = FILE_BYTES.get(tensor.dtype)
    name = _C_TYPES.get(tensor.dtype, tensor.dtype)
    return name if size is None else f"{name}, {size} byte{'s' if size > 1 else ''} each"


def module_prompt(code: str) -> str:
    """Return the user's message for a KernelBench task."""
    return f"""\
Here is a PyTorch model, with functions that give its constructor's arguments and its inputs:

```python
{code.strip()}
```

Write ModelNew, a torch.nn.Module with the constructor's arguments, parameters and forward signature of Model, whose forward \
computes the same with CUDA kernels that you write. You choose which operators to replace, to fuse or to leave; the results must \
agree with Model's within 1e-4 in float32 (1e-2 in float16 and bfloat16), and it should be as fast as possible. Give the whole \
file with its imports, without test code."""


def kernel_prompt(code: str, name: str, arguments: str, settings: Sequence[str]) -> str:
    """Return the user's message for a robust-kbench task.

    Args:
        code: The Python source of the module.
        name: The function that the answer exports, "forward" or "backward".
        arguments: A phrase that says what the function takes and returns.
        settings: The settings of the model and its inputs in which the answer has to be right.
    """
    return f"""\
Here is a PyTorch module:

```python
{code.strip()}
```

Write a .cu file that exports `{name}`: {arguments}. It is called with CUDA tensors, and has to agree within 1e-4 in float32 in all \
of these settings of the model and its inputs:

{chr(10).join(f"- {setting}" for setting in settings)}

It should be as fast as possible."""
