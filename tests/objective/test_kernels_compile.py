"""Every Triton kernel compiles for the GPUs it is meant for, as it is launched there; none is needed.

The test runs this file for each GPU in a process of its own: a compiler that crashes takes its process along. There, training steps
run on the CPU while launches are noted down instead of made: what is compiled is what the launchers chose.
"""

import importlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import cuset_stage.objective
from cuset_stage.objective import OBJECTIVES, ObjectiveSettings, fused, fused_objective, supervision


CAPABILITIES = (80, 90)
SHARED_MEMORY = 99 * 1024  # what the smallest of the GPUs since Ampere gives a program
# Below, at and above what changes the kernel, its blocks or its warps, and vocabularies that models have.
VOCABULARIES = (
    *(11, 100, 1000, 1023, 1024, 1025, 1500, 2047, 2048, 2049, 3071, 3072, 4096),
    *(8191, 8192, 8193, 12287, 32000, 32003, 50257, 65535, 65536, 65537, 128256, 152064, 262144),
)
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
TRITON = pytest.importorskip("triton", minversion="3.4")


def test_every_kernel_compiles(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    workers = {}
    for capability in CAPABILITIES:
        environment["TRITON_CACHE_DIR"] = str(tmp_path / f"cache_{capability}")
        with open(tmp_path / f"sm_{capability}.txt", "w") as log:
            command = [sys.executable, __file__, str(capability)]
            workers[capability] = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    codes = {capability: worker.wait() for capability, worker in workers.items()}
    for capability, code in codes.items():
        log = (tmp_path / f"sm_{capability}.txt").read_text()
        wrong = [line for line in log.splitlines() if line.startswith("FAILED")]
        assert code == 0, f"sm_{capability}, exit status {code}\n" + ("\n".join(wrong) or log[-4000:])
        (number,) = (int(line.split()[1]) for line in log.splitlines() if line.startswith("compiled "))
        assert number > 100


class NoDevice:
    """What Triton asks of a driver before it compiles."""

    def __init__(self, target):
        self.target = target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        return self.target


class Launches:
    """The package's Triton functions as `choose_backend` gives them; their launches are kept, each kind of them once."""

    def __init__(self, kernels):
        self.kinds = {}
        self.chunk_step, self.weigh_samples = kernels.chunk_step, kernels.weigh_samples
        self.scatter_rows, self._read_supervision = kernels.scatter_rows, kernels.read_supervision

    def hook(self, *, fn, compile, **_):
        self.kinds.setdefault((fn.name, str(compile["key"])), (fn.jit_function, compile))
        return True  # neither to be compiled now nor to be launched

    def read_supervision(self, *batch):
        self._read_supervision(*batch)
        return supervision.read_supervision(*batch)  # somebody has to write the positions


def step(vocab_size, dtype, settings, *, softcap=None, trained=("hidden",), layout="plain", tokens=3):
    """What a training step launches; nothing is computed between the products, so that its results mean nothing."""
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
        case "dispatched":  # one rank's rows of a batch that was read for several, with the collator's dtypes
            labels, mask, ids = (
                torch.cat([labels] * 2).to(kind)[1:] for kind in (torch.long, torch.int8, torch.int32)
            )
    loss, _ = fused_objective(
        hidden,
        weight,
        labels,
        mask,
        ids,
        settings,
        logit_softcap=softcap,
        reference_hidden=hidden.detach(),
        chunk_rows=3,
    )
    if loss.requires_grad:
        loss.backward()


def steps():
    cuset = ObjectiveSettings()
    for vocab_size, dtype in itertools.product(VOCABULARIES, DTYPES):
        step(vocab_size, dtype, cuset)
    # All rules on either side of what separates the kernels; a frozen and a trained head, and evaluation.
    for objective, softcap in itertools.product(OBJECTIVES, (None, 30.0)):
        settings = ObjectiveSettings(objective=objective)
        for vocab_size in (1500, 50257, 152064):
            step(vocab_size, torch.bfloat16, settings, softcap=softcap)
        for trained in (("weight",), ()):
            step(152064, torch.bfloat16, settings, softcap=softcap, trained=trained)
    for objective, dtype in itertools.product(("eaft", "asft", "profit"), (torch.float16, torch.float32)):
        step(128256, dtype, ObjectiveSettings(objective=objective))
    for vocab_size in VOCABULARIES[::3]:
        step(vocab_size, torch.bfloat16, ObjectiveSettings(objective="eaft"))
    # Numbers that Triton compiles into a kernel, or takes for integers.
    for window, tau, tokens in ((1, 0, 1), (2, 0, 16), (2**40, 0.1, 16)):
        for scope in ("response", "cuda"):
            settings = ObjectiveSettings(window=window, tau=tau, region_scope=scope)
            step(2048, torch.bfloat16, settings, tokens=tokens)
            step(1500, torch.bfloat16, settings, tokens=tokens)
    for parts in ({"use_region_weight": False}, {"use_confidence_mask": False}):
        step(2048, torch.bfloat16, ObjectiveSettings(**parts))
    for threshold in (0, 1):
        step(2048, torch.bfloat16, ObjectiveSettings(objective="profit", prob_threshold=(threshold,)))
    for vocab_size in (1500, 2048, 152064):
        step(vocab_size, torch.bfloat16, cuset, tokens=5)  # the second chunk's statistics start at an odd address
    for layout in ("bare", "narrow", "strided"):
        step(2048, torch.bfloat16, cuset, layout=layout)


def kernels_of_later_steps(launches: Launches) -> list[str]:
    """What a step of a run would wait for because it has another number of tokens than the first one."""
    late = []
    for objective, trained in itertools.product(("cuset", "eaft", "asft"), (("hidden",), ("hidden", "weight"))):
        known = None
        for tokens in (5, 1, 2, 4, 8, 16, 31):
            settings = ObjectiveSettings(objective=objective)
            step(2048, torch.bfloat16, settings, trained=trained, layout="dispatched", tokens=tokens)
            late += [f"{name}, {tokens} tokens" for name, key in launches.kinds if known and (name, key) not in known]
            known = set(launches.kinds)
    return late


def compile_all(capability: int) -> int:
    """Compile what the steps launch; the number of kernels that did not."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from cuset_stage.objective import triton_kernels

    target = GPUTarget("cuda", capability, 32)
    launches = Launches(triton_kernels)
    TRITON.runtime.driver.set_active(NoDevice(target))
    TRITON.knobs.runtime.jit_cache_hook = launches.hook
    fused.choose_backend = lambda device, dtype, backend: launches
    fused._Check.wait = lambda self: None
    late = kernels_of_later_steps(launches)
    for kernel in late:
        print("FAILED", f"is compiled anew: {kernel}", flush=True)
    steps()

    failures = len(late)
    for (name, _), (kernel, chosen) in launches.kinds.items():
        constants = {kernel.arg_names[place]: value for (place,), value in chosen["constants"].items()}
        pointers = [kind for kind in chosen["signature"].values() if kind.startswith("*")]
        what = f"{name} {pointers[0]} {constants} num_warps={chosen['num_warps']}"
        print("compiling", what, flush=True)  # the last line, if the compiler crashes
        source = ASTSource(kernel, chosen["signature"], chosen["constants"], chosen["configs"][0])
        try:
            compiled = TRITON.compile(source, target=target, options={"num_warps": chosen["num_warps"]})
            assert compiled.asm["cubin"]
            assert compiled.metadata.shared <= SHARED_MEMORY, f"{compiled.metadata.shared} bytes of shared memory"
        except Exception as error:
            failures += 1
            print("FAILED", what, repr(error), flush=True)

    launched = {name for name, _ in launches.kinds}
    written = set()
    for file in Path(cuset_stage.objective.__file__).parent.glob("triton_*.py"):
        module = importlib.import_module(f"cuset_stage.objective.{file.stem}")
        written |= {name for name, value in vars(module).items() if name.endswith("_kernel") and hasattr(value, "run")}
    if launched != written:
        failures += 1
        print("FAILED", f"launched {sorted(launched)}, but there are {sorted(written)}")
    print("compiled", len(launches.kinds))
    return failures


if __name__ == "__main__":
    sys.exit(compile_all(int(sys.argv[1])) > 0)
