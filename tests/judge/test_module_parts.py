"""The parts of judging modules that can be tested without a worker process.

These are masks and digests, conclusions from the GPU's record and counters, speed-ups, the detection of lower
precision, and the comparison of outputs.
"""

import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cuset_stage.judge import gpu_work
from cuset_stage.judge.closeness import element_at
from cuset_stage.judge.gpu_activity import Activity, Counted, Kernel
from cuset_stage.judge.gpu_work import calls_of, counted_opinion, second_opinion
from cuset_stage.judge.judgement import Built, Clock, Judgement
from cuset_stage.judge.modules import handover
from cuset_stage.judge.modules.module_judge import EXTENSIONS, HANDOVER, keep_extensions
from cuset_stage.judge.modules.precision import lower_precision
from cuset_stage.judge.modules.session import Call, Content, Module, ModuleFailed, Saved
from cuset_stage.judge.modules.trial import NOISE, UNSTEADY, Asked, Trial, speed
from cuset_stage.sandbox import Gpu, SandboxError, Verdict, find_toolkit
from cuset_stage.sandbox.supervision import Finished


def test_a_link_to_a_file_of_the_cache_among_the_extensions_keeps_its_mode(tmp_path):
    """A build may move the judge's own library there, which can be a hard link."""
    (left := tmp_path / "work" / EXTENSIONS).mkdir(parents=True)
    (library := tmp_path / "library").write_text("kept")
    (left / "closed").write_text("built")
    for file, mode in ((library, 0o555), (left / "closed", 0)):
        file.chmod(mode)
    (left / "library").hardlink_to(library)
    assert keep_extensions(tmp_path) == "" and not left.exists()
    assert library.stat().st_mode & 0o777 == 0o555
    assert (tmp_path / EXTENSIONS / "closed").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("size", [0, 1, 7, 33, 512, 513, 16385, 100003])
def test_masks_and_digests_are_the_same_on_a_gpu(size, tmp_path_factory):
    """The functions of handover.cu, called on the host, give what the Python implementation gives."""
    program = tmp_path_factory.getbasetemp() / "handover"
    if not program.exists():
        try:
            nvcc = find_toolkit().nvcc
        except SandboxError:
            pytest.skip("nvcc is needed")
        source = program.with_suffix(".cu")
        source.write_text(f'#include "{HANDOVER}"\n{ON_THE_HOST}')
        subprocess.run([nvcc, "-O1", "-std=c++17", "-o", program, source], check=True)
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    key = bytes(range(16))
    done = subprocess.run([program], input=data.tobytes(), capture_output=True, check=True).stdout
    mask, half = handover.Mask(key, 3), size // 16 * 8
    for part in (data[:half], data[half:]):  # a second call continues where the first one stopped
        mask.apply(part)
    assert done[:-32] == data.tobytes()
    assert done[-32:] == handover.digest(data)


ON_THE_HOST = """
#include <cstdio>
#include <vector>
int main() {
  std::vector<ulonglong2> room(1 << 14), more(1 << 10);
  uint8_t *data = reinterpret_cast<uint8_t*>(room.data()), *hashes = reinterpret_cast<uint8_t*>(more.data());
  size_t bytes = fread(data, 1, 1 << 18, stdin);
  for (size_t b = 0; b * BLOCK < bytes; ++b) unmask_block(data, bytes, b, 3, 0x0706050403020100, 0x0f0e0d0c0b0a0908);
  fwrite(data, 1, bytes, stdout);
  for (bool last = false; !last;) {
    const size_t pieces = bytes > PIECE ? (bytes + PIECE - 1) / PIECE : 1;
    for (size_t p = 0; p < pieces; ++p) hash_piece(data, bytes, p, hashes);
    data = hashes, bytes = pieces * HASH, hashes += bytes, last = pieces == 1;
  }
  fwrite(data, 1, HASH, stdout);
}
"""


def recorded(*kernels: str | tuple[str, int], complete: bool = True) -> Activity:
    """Return a record of kernels, one after another. Each is given by its name, or by its name and its length in
    nanoseconds, which is 10,000 otherwise.
    """
    pairs = [(kernel, 10_000) if isinstance(kernel, str) else kernel for kernel in kernels]
    rows = ((20_000 * n, 20_000 * n + length, name) for n, (name, length) in enumerate(pairs))
    return Activity(tuple(Kernel(begin, end, (1, 1, 1), (32, 1, 1), name) for begin, end, name in rows), (), complete)


ADD = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"
MUL, FILL = ADD.replace("CUDAFunctor_add", "MulFunctor"), ADD.replace("CUDAFunctor_add", "FillFunctor")
GEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8"
MINE = "_Z4minePf"
UNMASK, HASH = "_ZN12_GLOBAL__N_112cuset_unmaskEPhmmmm", "_ZN12_GLOBAL__N_110cuset_hashEPKhmmPh"


def test_calls_are_found_in_a_record():
    """A call is what lies between the kernels that take off the masks and the last kernel that hashes the outputs."""
    names = ["_Z4initv", UNMASK, UNMASK, ADD, "_Z4minePf", HASH, HASH, HASH, "_Z5laterv", UNMASK, GEMM, HASH]
    calls = calls_of(recorded(*names), 2)
    assert calls and [[kernel.name for kernel in call.kernels] for call in calls] == [[ADD, "_Z4minePf"], [GEMM]]
    assert [call.busy_s for call in calls] == pytest.approx([20e-6, 10e-6])
    for record, count in ((recorded(*names), 3), (recorded(*names, complete=False), 2), (Activity(), 1)):
        assert calls_of(record, count) is None
    # An answer cannot hide work by launching mask or hash kernels of its own around it.
    for hidden in ([ADD, UNMASK, MINE], [MINE, HASH, ADD], [MINE, HASH, UNMASK, ADD]):
        hidden = [UNMASK, *hidden, HASH]
        calls = calls_of(recorded(*hidden, *hidden), 2)
        assert calls is None or all(ADD in [kernel.name for kernel in call.kernels] for call in calls)


def test_the_gpus_opinion():
    own, reference = [recorded(ADD, "fused_kernel")], [recorded(ADD, GEMM)]
    found = second_opinion(own, reference, 30e-6)
    assert found["flags"] == [] and [use.name for use in found["kernels"]] == [ADD, "fused_kernel"]
    assert second_opinion([recorded(ADD, GEMM)], reference, 30e-6)["flags"] == [gpu_work.NO_KERNEL]
    less = second_opinion(own, reference, 9e-6)
    assert less["speedup"] is None and less["flags"] == [gpu_work.MORE]
    assert second_opinion(None, reference, 9e-6) == {"flags": [gpu_work.MISSING], "speedup": None}


@pytest.mark.parametrize(
    ("kernels", "flags"),
    [
        ([(ADD, 9), (GEMM, 50), ("empty", 1)], [gpu_work.IDLE_KERNEL]),
        ([(GEMM, 50), ("epilogue", 1)], []),
        ([(MUL, 5), (GEMM, 50), ("epilogue", 4)], [gpu_work.IDLE_KERNEL]),  # may be a sum by products
        ([(FILL, 3), (GEMM, 50), ("epilogue", 4)], []),
        ([(GEMM, 50), (GEMM, 20), ("epilogue", 51)], []),
        ([(GEMM, 50), (GEMM, 20), ("epilogue", 49)], [gpu_work.IDLE_KERNEL]),  # the longer one counts as extra
        ([(MUL, 5), ("empty", 1)], [gpu_work.IDLE_KERNEL]),
        ([("all", 1)], []),
        ([(GEMM, 50), ("a library's, by a name that is not known", 9)], [gpu_work.NO_KERNEL]),
    ],
)
def test_kernels_of_its_own_that_do_no_work(kernels, flags):
    own = [(ADD, 10), (GEMM, 50)]
    reference = [recorded(*own, ("a library's, by a name that is not known", 1)), recorded(*own)]
    found = second_opinion([recorded(*kernels)] * 2, reference, None)
    assert found["flags"] == flags and ("speedup" in found) is (flags == [gpu_work.IDLE_KERNEL])


def test_the_gpus_counters_against_the_clock():
    """What the GPU's counters say about 25 calls is held against the times that were measured.

    A call of nothing keeps the GPU busy for 40 us, one of the reference for 140 us, and one of the answer for 60 us.
    """
    nothing, reference, answer = Counted(25 * 40e-6, 0.0), Counted(25 * 140e-6, 1e-9), Counted(25 * 60e-6, 0.0)
    for kernel_s in (21e-6, None):
        assert counted_opinion(nothing, reference, answer, 25, kernel_s) == {"flags": []}
    late = counted_opinion(nothing, reference, answer, 25, 9e-6)
    assert late["flags"] == [gpu_work.MORE] and late["speedup"] is None and "2e-05 s by the GPU" in late["message"]
    tensor = answer._replace(tensor_s=25 * 5e-6)
    assert counted_opinion(nothing, reference, tensor, 25, 21e-6) == {"flags": [gpu_work.TENSOR]}
    both = reference._replace(tensor_s=25 * 5e-6)
    assert counted_opinion(nothing, both, tensor, 25, 21e-6) == {"flags": []}  # the reference uses tensor cores, too


THEIRS = (
    *(ADD, GEMM, "cutlass_80_simt_sgemm_128x128_8x4_nn_align1", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"),
    *("_ZN2at6native12_GLOBAL__N_119cunn_SoftMaxForwardILi4EfffEEvPT2_PKT0_i", "triton_poi_fused_add_relu_0"),
    *("_ZN14at_cuda_detail3cub18DeviceReduceKernelINS0_18DeviceReducePolicyE", "_Z17gemv2T_kernel_valIiiffffLi128E"),
)
OWN = (
    *("_Z10my_gemv_2TPKfPf", "_Z10dot_kernelPKfS0_Pf", "_ZN3cub18DeviceReduceKernelINS0_18DeviceReducePolicyE"),
    *("_ZN7cutlass13device_kernelI4GemmEEvNT_6ParamsE", "fused_softmax_kernel", "matmul"),
)


@pytest.mark.parametrize("name", [*THEIRS, *OWN])
def test_whose_kernel_it_is(name):
    assert (second_opinion([recorded(ADD, name)], [recorded(ADD, ADD)], None)["flags"] == []) is (name in OWN)


class Reference:
    """A stand-in for the reference's process.

    Its first two calls take 9 s, later ones 3 s, and calls of nothing 1 s.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []

    def call(self, content: Content, seed: int, *, use: str, fresh: bool = False) -> Call:
        self.calls.append(use)
        return Call(1.0 if use == "nothing" else 9.0 if len(self.calls) < 3 else 3.0, b"")

    def outputs(self, call: Call, folder: Path) -> Call:
        folder.mkdir()
        return call

    def ask(self, do: str) -> None:
        assert do == "inputs"


@pytest.mark.parametrize(("seconds", "timed"), [(60.0, 15), (0.0, 5)])
def test_the_reference_before_the_answer(tmp_path, seconds, timed):
    """The reference is timed by two warm-up calls of a copy, as many calls as the time allows, and equally many of
    nothing.
    """
    gpu = Gpu(0, "GPU-0", "H", "1", "9.0", 1 << 30)
    runner = SimpleNamespace(budget_s=seconds)
    trial = Trial(runner, None, Built(Judgement(Verdict.COMPILED)), gpu, Clock(), 0)
    trial.right = Reference()
    one = Asked("call 4", Content({}, ()), 1, False, tmp_path)
    assert trial.time_before(one, Call(3.0, b"")) == 2.0
    assert trial.right.calls == ["copy"] * (2 + timed) + ["nothing"] * timed
    assert not list(tmp_path.iterdir())


def test_speed():
    """The time of a call of nothing is subtracted.

    There is no speed-up where the noise is as large as the difference.
    """
    steady = [100e-6, 101e-6, 99e-6] * 5
    found = speed(52e-6, steady, [time + 50e-6 for time in steady], [time + 25e-6 for time in steady])
    assert found["speedup"] == pytest.approx(2) and not found["flags"]
    assert (found["reference_s"], found["kernel_s"]) == pytest.approx((50e-6, 25e-6))
    for reference, answer in ((steady, steady), ([time + 50e-6 for time in steady], [time - 9e-6 for time in steady])):
        found = speed(50e-6, steady, reference, answer)
        assert "speedup" not in found and found["flags"] == [NOISE]
    loud = [100e-6, 300e-6, 200e-6] * 5
    found = speed(50e-6, loud, [time + 50e-6 for time in loud], [time + 25e-6 for time in loud])
    assert found["flags"] == [NOISE]
    found = speed(35e-6, steady, [time + 50e-6 for time in steady], [time + 25e-6 for time in steady])
    assert found["flags"] == [UNSTEADY] and "speedup" not in found
    found = speed(1e-3, steady, [time + 1e-3 for time in steady], [time + 50e-6 for time in steady])
    assert found["flags"] == ["speed-up over 10x"]


def tf32(x: torch.Tensor) -> torch.Tensor:
    """Round to the ten bits of mantissa that tensor cores use."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def sequential(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Multiply as a kernel does in which a thread adds up one output, product by product."""
    out = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        out += a[:, k : k + 1] * b[k]
    return out


HONEST = {
    "same": lambda a, b: a @ b,
    "sequential": sequential,
    "split": lambda a, b: sum(a[:, k : k + 64] @ b[k : k + 64] for k in range(0, a.shape[1], 64)),
    "reversed": lambda a, b: a.flip(1) @ b.flip(0),
    "three_tf32": lambda a, b: tf32(a) @ tf32(b) + (a - tf32(a)) @ tf32(b) + tf32(a) @ (b - tf32(b)),
}
ONE_OPERAND = {"first": lambda a, b: tf32(a) @ b, "second": lambda a, b: a @ tf32(b)}
LOWERED = {
    "tf32": lambda a, b: tf32(a) @ tf32(b),
    "half": lambda a, b: a.half().float() @ b.half().float(),
    "bfloat16": lambda a, b: a.bfloat16().float() @ b.bfloat16().float(),
    "rounded": lambda a, b: (a @ b).half().float(),
}
AFTER = {
    "none": lambda y: y,
    "softmax": lambda y: torch.softmax(y, dim=-1),
    "norm": lambda y: torch.nn.functional.layer_norm(y, y.shape[-1:]),
    "sum": lambda y: y.sum(dim=-1),
}


def outputs_of(way: str, after: str, shift: float, scale: float, folder: Path) -> list[list[Saved]]:
    """Save a product's outputs computed in float64, by PyTorch in float32, and in the way `way`."""
    torch.manual_seed(0)
    a, b = torch.randn(64, 512) + shift, torch.randn(512, 64) * scale + shift / 100
    product = (HONEST | LOWERED | ONE_OPERAND)[way](a, b)
    saved = []
    for name, y in (("exact", a.double() @ b.double()), ("right", a @ b), ("found", product)):
        tensor = AFTER[after](y)
        tensor.numpy().tofile(folder / name)
        saved.append([Saved("y", str(tensor.dtype), list(tensor.shape), folder / name)])
    return saved


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("way", [*HONEST, *LOWERED])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_precision(way, after, shift, tmp_path):
    """In a matrix product every lower precision is found, and no honest way of computing it is taken for one.

    With a shift the numbers are positive, so that they add up to large sums.
    """
    saved = outputs_of(way, after, shift, 1 / 23, tmp_path)
    assert (lower_precision(*saved) is None) is (way in HONEST)


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_precision_where_tensor_cores_worked(after, shift, tmp_path):
    """If tensor cores worked, the check is stricter.

    It then finds errors that are no larger than those of some scalar code: those of a single rounded operand, and
    those of outputs that are dominated by one sum.
    """
    for way in ("same", "three_tf32", *LOWERED, *ONE_OPERAND):
        saved = outputs_of(way, after, shift, 1 / 230, tmp_path)
        assert (lower_precision(*saved, strictly=True) is None) is (way in HONEST), way
    # This error is 3 to 8 times the reference's own, which depends on the CPU.
    assert lower_precision(*outputs_of("first", "softmax", 3.0, 1 / 460, tmp_path)) is None


DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "int8", "uint8", "int16", "int32", "int64", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_closeness_is_torchs(dtype, tmp_path):
    """Our comparison agrees with torch.allclose for errors on both sides of the tolerance."""
    kind = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(0)
    verdicts = set()
    for size in (0.0, 3e-5, 3e-3, 0.3, 2.0):
        expected = (torch.randn(7, 31, generator=generator) * 50).to(kind)
        actual = (expected.to(torch.float64) * (1 + size)).to(kind) if not kind.is_complex else expected * (1 + size)
        exact = not (kind.is_floating_point or kind.is_complex)
        tolerance = 0 if exact else 1e-2 if dtype in ("float16", "bfloat16") else 1e-4
        wide = torch.complex128 if kind.is_complex else torch.float64
        want = torch.allclose(actual.to(wide), expected.to(wide), rtol=tolerance, atol=tolerance)
        for name, tensor in (("a", actual), ("b", expected)):
            (tmp_path / name).write_bytes(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        found = Saved("b", f"torch.{dtype}", [7, 31], tmp_path / "b").distance(tmp_path / "a")
        assert found.close is want, size
        if not want:
            at = found.first_wrong
            index, right, _ = element_at(at, (7, 31), tmp_path / "b", tmp_path / "a", dtype)
            assert index == (at // 31, at % 31) and right == expected.flatten()[at].item()
        verdicts.add(want)
    assert verdicts == {True, False} or dtype == "bool"


def test_nan_is_close_to_nothing(tmp_path):
    np.array([np.nan], np.float32).tofile(tmp_path / "a")
    assert not Saved("a", "torch.float32", [1], tmp_path / "a").distance(tmp_path / "a").close
    assert Saved("a", "torch.float32", [0], tmp_path / "a").distance(tmp_path / "a").close


def test_a_module_that_does_not_read_is_late(tmp_path):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        module = Module(SimpleNamespace(socket=ours, end=lambda grace: Finished()), tmp_path, patience_s=0.2)
        with pytest.raises(ModuleFailed) as failed:
            module.send("call", arguments="x" * 10_000_000)
    assert failed.value.late and module.waited >= 0.2
