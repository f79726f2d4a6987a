"""Runs one Python module in the sandbox: imports it, feeds it saved inputs, saves what it returns, times it.

A script of its own (`python worker.py`), with torch and the standard library only. The candidate and the reference run in
different processes; this one never holds the other's outputs. Everything it needs of torch is taken before the module is
imported, as functions and C descriptors that an assignment to `torch.<name>` cannot change.

request.json: action ("inputs" | "build" | "forward" | "time"), model (class name), device, seeds (the names of contents;
"time" draws from them), again (contents that "forward" writes into the tensors of its first call), unseen (contents that
"time" gives to one call each), budget_s, trials. The file `token` holds the name of the report and is removed before the
module, answer.py, is imported. Tensors lie as raw bytes in `<place>/<number>.bin`; `arguments.json` beside them says what they are (inputs.py).
"""

import importlib.util
import json
import os
import random
import sys
import threading
import time
import types


INIT_SEED = 42  # KernelBench's
WARM_UPS = 3
FLUSH_BYTES = 256 << 20  # more than twice the L2 cache of any GPU so far
FEWEST_TRIALS = 10
IDLE_TRIALS = 20  # calls of nothing, before the timed ones
KEPT_OUTPUTS = 5  # that later calls may not write over
HELD_BYTES = 1 << 30  # contents that are larger wait in the host's memory


class Problem(Exception):
    """The module does not do what is asked; the message is for people."""


class HostEvent:
    """A CUDA event where there is no GPU: what is recorded is done."""

    clock = time.perf_counter

    def __init__(self, **_):
        self.at = 0.0

    def record(self, stream):
        self.at = self.clock()

    def elapsed_time(self, later):
        """In milliseconds."""
        return (later.at - self.at) * 1e3


class Torch:
    """What this worker uses of torch, taken before any untrusted code runs."""

    def __init__(self, device):
        import torch

        self.module = torch
        self.device = torch.device(device)
        self.on_gpu = self.device.type == "cuda"
        self.Tensor, self.Parameter, self.strided = torch.Tensor, torch.nn.Parameter, torch.strided
        self.dtypes = {str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}
        self.frombuffer, self.empty, self.no_grad = torch.frombuffer, torch.empty, torch.no_grad
        self.manual_seed, self.uint8 = torch.manual_seed, torch.uint8
        base = torch._C.TensorBase  # C methods: assignments to torch.Tensor do not reach them
        self.to, self.clone, self.detach, self.contiguous = base.to, base.clone, base.detach, base.contiguous
        self.copy_, self.view, self.reshape = base.copy_, base.view, base.reshape
        self.numpy, self.zero_ = base.numpy, base.zero_
        self.equal = torch._C._VariableFunctions.equal
        self.clock, self.parse = time.perf_counter, json.loads
        if self.on_gpu:
            torch.cuda.init()
            self.new_event, self.synchronize = torch._C._CudaEventBase, torch._C._cuda_synchronize
            self.current_stream = torch.cuda.current_stream
        else:
            self.new_event, self.synchronize = HostEvent, lambda: None
            self.current_stream = lambda device: None
        self.record, self.elapsed = self.new_event.record, self.new_event.elapsed_time

    def seed(self, content):
        """What a call draws is drawn alike on both sides."""
        self.manual_seed(int(content) if content.isdigit() else 0)

    def seed_all(self, content):
        """Every generator that is not given a seed of its own, but numpy's default_rng(): an audit finds those."""
        seed = INIT_SEED if content == "init" else int(content)
        self.manual_seed(seed)
        random.seed(seed)
        if "numpy" in sys.modules:  # else the module does not draw from it
            sys.modules["numpy"].random.seed(seed)

    def flat_bytes(self, tensor):
        """The tensor as a row of bytes."""
        return self.view(self.reshape(self.contiguous(self.detach(tensor)), (-1,)), self.uint8)

    def raw(self, tensor):
        """A tensor's bytes on the host, row-major."""
        return memoryview(self.numpy(self.flat_bytes(self.to(tensor, "cpu")))) if tensor.numel() else memoryview(b"")

    def same_bytes(self, one, other):
        """Bit for bit, so that NaN equals itself."""
        alike = one.shape == other.shape and one.dtype == other.dtype
        return alike and self.equal(self.flat_bytes(one), self.flat_bytes(other))


def load(name, torch, device, into=()):
    """The arguments `name` ("init", or a content's), with the tensors among them in their order.

    Fresh tensors, but where one of `into` at the same place has the shape and dtype: it is written into and given.
    """
    with open(f"inputs/{name}/arguments.json", encoding="utf-8") as file:
        saved = torch.parse(file.read())
    tensors = []
    for number, row in enumerate(saved["tensors"]):
        with open(f"inputs/{name}/{number}.bin", "rb") as file:
            raw = bytearray(file.read())
        kind = torch.dtypes[row["dtype"]]
        flat = torch.frombuffer(raw, dtype=kind) if raw else torch.empty(0, dtype=kind)
        tensor = torch.reshape(flat, row["shape"])
        live = into[number] if number < len(into) else None
        fits = live is not None and (live.shape, live.dtype) == (tensor.shape, tensor.dtype)
        tensors.append(torch.copy_(live, tensor) if fits else torch.to(tensor, device))
    return decode(saved["values"], tensors, torch.dtypes), tensors


def decode(item, tensors, dtypes):
    """What inputs.encode encoded."""
    ((kind, value),) = item.items()
    if kind in ("list", "tuple"):
        items = [decode(part, tensors, dtypes) for part in value]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {key: decode(part, tensors, dtypes) for key, part in value.items()}
    return tensors[value] if kind == "tensor" else dtypes[value] if kind == "dtype" else value


def import_module(report):
    """Import answer.py; from a file, because Triton reads the source of what it compiles."""
    report["stage"] = "import"
    spec = importlib.util.spec_from_file_location("answer", "answer.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["answer"] = module
    spec.loader.exec_module(module)
    return module


def flatten(value, torch, name="output"):
    """Names and tensors of what forward returned.

    Raises:
        Problem: Something in it is not a plain tensor: a lazy or wrapped one computes when it is looked at, outside what
            is timed.
    """
    if isinstance(value, list | tuple):
        return [pair for i, item in enumerate(value) for pair in flatten(item, torch, f"{name}[{i}]")]
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in flatten(item, torch, f"{name}[{key!r}]")]
    if type(value) in (bool, int, float):
        value = torch.to(torch.module.tensor(value), torch.device)
    if type(value) not in (torch.Tensor, torch.Parameter):
        kind = f"{type(value).__module__}.{type(value).__name__}"
        raise Problem(f"{name} is of type {kind}; expected a plain torch.Tensor")
    if value.layout is not torch.strided or value.is_meta:
        raise Problem(f"{name} is not a dense tensor (layout {value.layout}, device {value.device})")
    if value.device.type != torch.device.type:
        raise Problem(f"{name} is on {value.device}, expected {torch.device}")
    return [(name, value)]


def save(folder, tensors, torch):
    os.makedirs(folder, exist_ok=True)
    for number, tensor in enumerate(tensors):
        with open(os.path.join(folder, f"{number}.bin"), "wb") as file:
            file.write(torch.raw(tensor))


def save_outputs(label, named, tensors, torch, report):
    """What a call returned, and its tensors as they are to be compared."""
    rows = [{"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape)} for name, tensor in named]
    report["outputs"][label] = rows
    save(os.path.join("out", report["name"], label), tensors, torch)


def make_inputs(request, torch, report):
    """The arguments of all contents, saved; the module is the task's own."""
    from inputs import draw

    module = import_module(report)
    report["stage"] = "inputs"
    for name, arguments, tensors in draw(module, request["seeds"], torch.seed_all, torch.module):
        save(os.path.join("out", name), tensors, torch)
        with open(os.path.join("out", name, "arguments.json"), "w", encoding="utf-8") as file:
            json.dump(arguments, file)


def import_model(request, report):
    """The class that is to be judged."""
    model = getattr(import_module(report), request["model"], None)
    if model is None:
        raise Problem(f"the module has no class {request['model']}")
    return model


def call(what, values):
    return what(**values) if isinstance(values, dict) else what(*values)


def construct(request, torch, report):
    """The model, on the device; seeded alike for both sides, so that equal code draws equal weights."""
    build = import_model(request, report)
    report["stage"] = "construct"
    values, _ = load("init", torch, "cpu")
    torch.seed_all("init")
    model = call(build, values)
    return model.to(torch.device) if isinstance(model, torch.module.nn.Module) else model


def forward(request, torch, report):
    """A call for every seed, in fresh tensors, then one for every content of `again`, in the tensors of the first call.

    Outputs are saved as the caller's stream sees them before the next call, then checked for late changes: what a
    module kept by the object, the address, the shape or a part of its inputs is wrong in one of these calls.
    """
    threads = threading.active_count()
    model = construct(request, torch, report)
    report["stage"] = "forward"
    kept, first = [], ()
    with torch.no_grad():
        for label, name in [(n, n) for n in request["seeds"]] + [(f"again-{n}", n) for n in request["again"]]:
            values, given = load(name, torch, torch.device, first if label != name else ())
            first = first or given
            torch.seed(name)
            named = flatten(call(model, values), torch)
            seen = [torch.clone(torch.detach(tensor)) for _, tensor in named]  # on the caller's stream
            torch.synchronize()
            if any(not torch.same_bytes(a, b) for a, (_, b) in zip(seen, named, strict=True)):
                flag = "outputs change after forward has returned: work on a side stream nobody waits for"
                report["flags"].append(flag)
            save_outputs(label, named, seen, torch, report)
            note_changes(load(name, torch, torch.device)[1], given, torch, report)
            if len(kept) < KEPT_OUTPUTS:
                kept.append((name, named, [torch.to(tensor, "cpu") for tensor in seen]))
    report["stage"] = "after"
    for name, named, seen in kept:
        for (part, tensor), before in zip(named, seen, strict=True):
            if not torch.same_bytes(torch.to(torch.detach(tensor), "cpu"), before):
                report["overwritten"].append(f"{part} of seed {name}")
    if threading.active_count() > threads:
        report["flags"].append("threads are left running")


def note_changes(before, given, torch, report):
    """Which inputs a call wrote into."""
    changed = [i for i, (a, b) in enumerate(zip(before, given, strict=True)) if not torch.same_bytes(a, b)]
    report["changed_inputs"] = sorted({*report["changed_inputs"], *changed})


def schedule(chance, pool, unseen, count):
    """Contents of the first calls: those unseen once each, at random places, each of the pool after another."""
    while True:
        order = [chance.choice(pool) for _ in range(count)]
        for place, name in zip(chance.sample(range(count), len(unseen)), unseen, strict=True):
            order[place] = name
        if all(any(order[i] == name != order[i - 1] for i in range(1, count)) for name in pool):
            return order


def measure(request, torch, report):
    """Time forward by CUDA events, the L2 cache flushed before each call; by the clock where there is no GPU.

    Every call is given the same tensors. Before it, outside what is timed and on the same stream, contents are written
    into them: of a pool of seeds, in an order drawn by the token, and in a few calls and the last one a content that
    no call has seen. Saved and compared are the outputs of all unseen contents, and of one call for each seed of the
    pool: any of them with equal chance, among those whose content is not that of the call before.

    The clock on the wall is read as well, for calls of nothing, too: their time is what it has more than the events.
    """
    pool, unseen = request["seeds"], request["unseen"]
    trials = max(request["trials"], FEWEST_TRIALS + 1)
    chance = random.Random(report["name"])  # all is drawn before the module is imported
    order = schedule(chance, pool, unseen[:-1], FEWEST_TRIALS)
    order += [chance.choice(pool) for _ in range(trials - FEWEST_TRIALS + WARM_UPS)]  # the warm-ups' stand at the end
    dice = [chance.random() for _ in range(trials)]
    flush = torch.empty(FLUSH_BYTES if torch.on_gpu else 1, dtype=torch.uint8, device=torch.device)
    events = [torch.new_event(enable_timing=True) for _ in range(3)]
    clock, waits = torch.clock, torch.synchronize  # what stands against the events is in no object's reach

    def timed(stream, call, *given):
        """What a call returns, and its wall time; its events are recorded on the way."""
        torch.zero_(flush)
        waits()
        begin = clock()
        torch.record(events[0], stream)
        output = call(*given)
        torch.record(events[1], stream)
        waits()
        wall = clock() - begin
        torch.record(events[2], stream)
        waits()
        return output, wall

    report["idle"] = [timed(torch.current_stream(torch.device), lambda: None)[1] for _ in range(IDLE_TRIALS)]
    model = construct(request, torch, report)
    report["stage"] = "time"
    sources = {name: load(name, torch, "cpu")[1] for name in (*pool, *unseen)}
    _, live = load(pool[0], torch, torch.device)
    given = {name: load(name, torch, torch.device, live) for name in sources}
    small = sum(tensor.numel() * tensor.element_size() for tensor in live) <= HELD_BYTES // len(sources)
    for name in sources if small else pool:
        sources[name] = [torch.to(tensor, torch.device, copy=True) for tensor in sources[name]]
    candidates = dict.fromkeys(pool, 0)
    before = None
    began = clock()
    with torch.no_grad():
        for trial in range(-WARM_UPS, trials):
            over = trial >= FEWEST_TRIALS and (trial == trials - 1 or clock() - began > request["budget_s"])
            name = unseen[-1] if over else order[trial]
            values, tensors = given[name]
            torch.seed(
                name
            )  # Python code, as the next line: before the contents are there, so that a changed one cannot use them
            stream = torch.current_stream(torch.device)
            for tensor, content in zip(tensors, sources[name], strict=True):
                torch.copy_(tensor, content)
            output, wall = timed(stream, call, model, values)
            named = flatten(output, torch)
            if trial >= 0:
                report["times"].append(torch.elapsed(events[0], events[1]) / 1e3)
                report["late"].append(torch.elapsed(events[0], events[2]) / 1e3)
                report["walls"].append(wall)
                looked_at = name in unseen
                if looked_at:
                    report["unseen"].append(len(report["times"]) - 1)
                elif name != before:
                    candidates[name] += 1
                    looked_at = dice[trial] * candidates[name] < 1  # the newest of n replaces the saved: 1 in n
                if looked_at:
                    save_outputs(f"timed-{name}", named, [tensor for _, tensor in named], torch, report)
                    note_changes([torch.to(t, torch.device) for t in sources[name]], tensors, torch, report)
            del output, named
            before = name
            if over:
                break


def new_report(name):
    """What the judge reads when the worker is done: `stage` says how far it came."""
    lists = ("flags", "changed_inputs", "overwritten", "times", "late", "walls", "idle", "unseen")
    return {"name": name, "stage": "start", "error": None, "outputs": {}, **{key: [] for key in lists}}


def main():
    with open("request.json", encoding="utf-8") as file:
        request = json.load(file)
    with open("token", encoding="utf-8") as file:
        name = file.read()
    os.unlink("token")
    os.makedirs("out", exist_ok=True)
    report = new_report(name)
    sys.modules["__main__"] = types.ModuleType("__main__")  # the module finds none of this there
    dump, leave, flush = json.dumps, os._exit, sys.stdout.flush
    try:
        if request["action"] == "build":
            import torch  # so that its import is not counted as the module's

            import_model(request, report)
        else:
            torch = Torch(request["device"])
            {"inputs": make_inputs, "forward": forward, "time": measure}[request["action"]](request, torch, report)
        report["stage"] = "done"
    except BaseException as error:
        report["error"] = {"type": type(error).__name__, "message": str(error)[-20000:]}
    with open(f"out/{name}.json", "w", encoding="utf-8") as file:
        file.write(dump(report))
    flush()
    leave(0)  # no exit handler of the module runs after the report


if __name__ == "__main__":
    main()
