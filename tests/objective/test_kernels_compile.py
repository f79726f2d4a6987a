"""Every Triton kernel compiles for the GPUs that it is meant for, in every form in which it is launched. No GPU is
needed.

The tests run this file as a program in a new process, since a compiler that crashes takes its process down with it.
There, training steps run on the CPU, and launches of kernels are recorded instead of made. So what is compiled is what
the launchers chose.
"""

import itertools
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from cuset_stage.objective import OBJECTIVES, ObjectiveSettings, cuset, fused, fused_objective


CAPABILITIES = (80, 90)
SHARED_MEMORY = 99 * 1024  # bytes for a block on the smallest GPUs since Ampere
# Vocabulary sizes of real models, and sizes around those at which the kernel, its blocks or its warps change.
VOCABULARIES = (11, 1023, 1024, 1500, 2048, 2049, 8191, 8192, 12287, 32003, 50257, 65535, 65536, 128256, 152064)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
TRITON = pytest.importorskip("triton", minversion="3.4")


def start(what: str, capability: int, cache) -> subprocess.Popen:
    """Start this file as a program that compiles "some" or "all" kernels for a compute capability such as 90."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "TRITON_CACHE_DIR": str(cache)}
    command = [sys.executable, __file__, what, str(capability)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def outcome(worker: subprocess.Popen) -> int:
    """Wait for the program. Return the number of kernels that it compiled, or fail with its errors."""
    log, _ = worker.communicate()
    wrong = [line for line in log.splitlines() if line.startswith("FAILED")]
    assert worker.returncode == 0, f"exit status {worker.returncode}\n" + ("\n".join(wrong) or log[-4000:])
    return int(log.splitlines()[-1])


def test_kernels_compile(tmp_path):
    assert outcome(start("some", 90, tmp_path)) >= 10


@pytest.mark.slow
def test_every_kernel_compiles(tmp_path):
    workers = [start("all", capability, tmp_path / str(capability)) for capability in CAPABILITIES]
    for worker in workers:
        assert outcome(worker) > 100


def step(vocab_size, dtype=torch.bfloat16, settings=None, *, trained=("hidden",), layout="plain", tokens=3):
    """Run a training step for its launches. No kernel really runs, so its results mean nothing."""
    hidden = torch.zeros(1, tokens + 1, 8, dtype=dtype, requires_grad="hidden" in trained)
    weight = torch.zeros(vocab_size, 8, dtype=dtype, requires_grad="weight" in trained)
    labels = torch.ones(1, tokens + 1, dtype=torch.long)
    mask, ids = labels, labels
    match layout:
        case "bare":
            mask = ids = None
        case "narrow":
            mask, ids = labels.bool(), labels.int()
        case "strided":
            labels, mask, ids = (torch.stack([labels] * 2, -1)[..., 0] for _ in range(3))
    options = {"reference": (hidden.detach(), None), "chunk_rows": 3}
    loss, _ = fused_objective(hidden, weight, labels, mask, ids, settings or ObjectiveSettings(), **options)
    if loss.requires_grad:
        loss.backward()


def margin(tokens):
    """A rule that reads a statistic of the whole row."""
    return tokens.margin


def concentration(tokens):
    """A rule that reads one more statistic, for which the same kernel is compiled in another form."""
    return tokens.concentration


MARGIN, CONCENTRATION = (ObjectiveSettings(objective=f"{__file__}:{name}") for name in ("margin", "concentration"))


def some_steps():
    for objective in OBJECTIVES:
        step(152064, settings=ObjectiveSettings(objective=objective))
    step(152064, settings=MARGIN)
    step(152064, settings=CONCENTRATION)
    step(32000, torch.float16, trained=())
    step(2048, torch.float32, ObjectiveSettings(region_scope="cuda"), layout="bare")


def all_steps():
    """Run steps with every rule, vocabulary size and dtype, frozen and trained heads, evaluation, and unusual numbers
    and layouts.
    """
    some_steps()
    rules = [*(ObjectiveSettings(objective=objective) for objective in OBJECTIVES), MARGIN, CONCENTRATION]
    for vocab_size, dtype, settings in itertools.product(VOCABULARIES, DTYPES, rules):
        step(vocab_size, dtype, settings)
    for trained, settings in itertools.product((("weight",), ()), rules):
        step(152064, settings=settings, trained=trained)
    # Triton compiles some numbers, such as 1, into a kernel. With 5 tokens the second chunk begins at an address that
    # is not aligned.
    for window, tau, tokens in ((1, 0, 1), (2, 0, 16), (2**40, 0.1, 16), (256, 0.1, 5)):
        for scope, vocab_size in itertools.product(("response", "cuda"), (1500, 2048)):
            step(vocab_size, settings=ObjectiveSettings(window=window, tau=tau, region_scope=scope), tokens=tokens)
    for layout in ("bare", "narrow", "strided"):
        step(2048, layout=layout)


def compile_kernels(launches: dict, target) -> list[str]:
    """Compile all launches for Triton's description of a GPU, and return what went wrong, a line each.

    A launch has a kernel's name and compilation key, and the kernel with what it was to be compiled with.
    """
    from triton.compiler import ASTSource

    from cuset_stage.objective import triton_kernels

    wrong = []
    for (name, _), (kernel, chosen) in launches.items():
        constants = {kernel.arg_names[place]: value for (place,), value in chosen["constants"].items()}
        pointers = [kind for kind in chosen["signature"].values() if kind.startswith("*")]
        what = f"{name} {pointers[0]} {constants} num_warps={chosen['num_warps']}"
        print("compiling", what, flush=True)  # the last line of the log if the compiler crashes
        source = ASTSource(kernel, chosen["signature"], chosen["constants"], chosen["configs"][0])
        try:
            compiled = TRITON.compile(source, target=target, options={"num_warps": chosen["num_warps"]})
            assert compiled.asm["cubin"]
            assert compiled.metadata.shared <= SHARED_MEMORY, f"{compiled.metadata.shared} bytes of shared memory"
        except Exception as error:
            wrong.append(f"{what} {error!r}")

    launched = {name for name, _ in launches}
    written = {
        name for name, value in vars(triton_kernels).items() if name.endswith("_kernel") and hasattr(value, "run")
    }
    if launched != written:
        wrong.append(f"launched {sorted(launched)}, but there are {sorted(written)}")
    return wrong


def main(what: str, capability: int) -> int:
    from triton.backends.compiler import GPUTarget

    from cuset_stage.objective import triton_kernels as kernels

    target, launches = GPUTarget("cuda", capability, 32), {}

    def record(*, fn, compile, **_):
        launches.setdefault((fn.name, str(compile["key"])), (fn.jit_function, compile))
        return True  # tells Triton neither to compile nor to launch the kernel

    def weigh_regions(*arguments):
        kernels.weigh_regions(*arguments)
        return cuset.weigh_regions(*arguments)  # the samples have to be numbered for real

    # Triton asks a driver these three things before it compiles.
    device = {"get_current_device": lambda: 0, "get_current_stream": lambda device: 0}
    TRITON.runtime.driver.set_active(SimpleNamespace(**device, get_current_target=lambda: target))
    TRITON.knobs.runtime.jit_cache_hook = record
    backend = SimpleNamespace(**{**vars(kernels), "weigh_regions": weigh_regions})
    fused.choose_backend = lambda device, dtype, name: backend
    fused._check_batch = lambda *batch: None
    (some_steps if what == "some" else all_steps)()
    wrong = compile_kernels(launches, target)
    for line in wrong:
        print("FAILED", line)
    print(len(launches))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
