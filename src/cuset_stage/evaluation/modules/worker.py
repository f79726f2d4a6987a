"""Runs one Python module in the sandbox: imports it, feeds it saved inputs, saves what it returns, times it.

A script of its own (`python worker.py request.json`), with torch and the standard library only. The candidate and the
reference run in different processes; this one never holds the other's outputs. Everything it needs of torch is taken
before the module is imported, as functions and C descriptors that an assignment to `torch.<name>` cannot change.

request.json: action ("inputs" | "build" | "forward" | "time"), module, model (class name), device, seeds, budget_s,
trials, token (a file that holds the name of the report and goes before the module is imported).
Tensors lie as raw bytes in `<place>/<number>.bin`; `arguments.json` says what they are.
"""

import importlib.util
import json
import os
import sys
import threading
import time
import traceback


INIT_SEED = 42  # KernelBench's
WARM_UPS = 3
FLUSH_BYTES = 256 << 20  # more than twice the L2 cache of any GPU so far
FEWEST_TRIALS = 10


class Problem(Exception):
    """The module does not do what is asked; the message is for people."""


def encode(value, place, tensors, torch):
    """JSON for an argument; tensors are collected and stand as their number."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1, "dtype": str(value.dtype), "shape": list(value.shape)}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    if isinstance(value, torch.dtype):
        return {"dtype_name": str(value)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [encode(item, place, tensors, torch) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, place, tensors, torch) for key, item in value.items()}}
    raise Problem(f"{place}: a value of type {type(value).__name__}; expected tensors, numbers, text, lists or dicts")


class Torch:
    """What this worker uses of torch, taken before any foreign code runs."""

    def __init__(self, device):
        import torch

        self.module = torch
        self.device = torch.device(device)
        self.Tensor, self.Parameter, self.strided = torch.Tensor, torch.nn.Parameter, torch.strided
        self.dtypes = {str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}
        self.frombuffer, self.empty, self.no_grad = torch.frombuffer, torch.empty, torch.no_grad
        self.manual_seed = torch.manual_seed
        base = torch._C.TensorBase  # C methods: assignments to torch.Tensor do not reach them
        self.to, self.clone, self.detach, self.contiguous = base.to, base.clone, base.detach, base.contiguous
        self.copy_, self.view, self.reshape, self.numpy, self.zero_ = (
            base.copy_, base.view, base.reshape, base.numpy, base.zero_)  # fmt: skip
        self.equal = torch._C._VariableFunctions.equal
        self.bytes_of = torch.uint8
        self.on_gpu = self.device.type == "cuda"
        self.watched = [
            (torch, "allclose"),
            (torch, "equal"),
            (torch.Tensor, "to"),
            (time, "perf_counter"),
            (time, "time"),
        ]
        if self.on_gpu:
            torch.cuda.init()
            events = torch._C._CudaEventBase
            self.new_event, self.record, self.elapsed = events, events.record, events.elapsed_time
            self.finish = events.synchronize
            self.stream = torch._C._cuda_getCurrentStream
            self.current_stream = torch.cuda.current_stream
            self.synchronize = torch._C._cuda_synchronize
            self.watched += [(torch.cuda, "Event"), (torch.cuda, "synchronize"), (torch.cuda, "current_stream")]
            self.watched += [(torch.cuda.Event, name) for name in ("record", "elapsed_time", "synchronize")]
        else:
            self.synchronize = lambda: None
        self.before = [getattr(place, name) for place, name in self.watched]
        self.clock = time.perf_counter

    def replaced(self):
        """Names that the module has given another meaning."""
        return [
            f"{getattr(place, '__module__', None) or ''}{'.' if hasattr(place, '__module__') else ''}{place.__name__}.{name}"
            for (place, name), value in zip(self.watched, self.before, strict=True)
            if getattr(place, name) is not value
        ]

    def raw(self, tensor):
        """A tensor's bytes, row-major."""
        flat = self.reshape(self.contiguous(self.to(self.detach(tensor), "cpu")), (-1,))
        return memoryview(self.numpy(self.view(flat, self.bytes_of))) if flat.numel() else memoryview(b"")


class Arguments:
    """Arguments that the inputs process saved: fresh tensors at each call of `load`."""

    def __init__(self, torch, folder):
        self.torch, self.folder = torch, folder
        with open(os.path.join(folder, "arguments.json"), encoding="utf-8") as file:
            self.structure = json.load(file)

    def load(self, name, device):
        """The arguments `name` ("init", or a seed's), with the tensors among them in their order."""
        tensors = []
        return self._decode(self.structure[name], name, device, tensors), tensors

    def _decode(self, item, name, device, tensors):
        ((kind, value),) = ((key, item[key]) for key in item if key not in ("dtype", "shape"))
        if kind == "tensor":
            dtype = self.torch.dtypes[item["dtype"]]
            path = os.path.join(self.folder, name, f"{value}.bin")
            if os.path.getsize(path):
                with open(path, "rb") as file:
                    tensor = self.torch.frombuffer(bytearray(file.read()), dtype=dtype)
            else:
                tensor = self.torch.empty(0, dtype=dtype)
            tensor = self.torch.to(self.torch.reshape(tensor, item["shape"]), device)
            tensors.append(tensor)
            return tensor
        if kind == "dtype_name":
            return self.torch.dtypes[value]
        if kind in ("list", "tuple"):
            items = [self._decode(part, name, device, tensors) for part in value]
            return tuple(items) if kind == "tuple" else items
        if kind == "dict":
            return {key: self._decode(part, name, device, tensors) for key, part in value.items()}
        return value


def import_module(path, report):
    """Import a file as a module of its own; from a file, because Triton reads the source of what it compiles."""
    report["stage"] = "import"
    spec = importlib.util.spec_from_file_location("answer", path)
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
        raise Problem(
            f"{name} is of type {type(value).__module__}.{type(value).__name__}; expected a plain torch.Tensor"
        )
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


def make_inputs(request, torch, report):
    """The trusted side: get_init_inputs and get_inputs for every seed, saved."""
    module = import_module(request["module"], report)
    report["stage"] = "inputs"
    structure = {}
    for name, seed, make in [
        ("init", INIT_SEED, module.get_init_inputs),
        *((str(seed), seed, module.get_inputs) for seed in request["seeds"]),
    ]:
        torch.manual_seed(seed)
        tensors = []
        structure[name] = encode(make(), name, tensors, torch.module)
        save(os.path.join("out", name), tensors, torch)
    with open(os.path.join("out", "arguments.json"), "w", encoding="utf-8") as file:
        json.dump(structure, file)


def find_model(module, name):
    model = getattr(module, name, None)
    if model is None:
        raise Problem(f"the module has no class {name}")
    return model


def construct(request, torch, arguments, report):
    """The model, on the device; seeded alike for both sides, so that equal code draws equal weights."""
    build = find_model(import_module(request["module"], report), request["model"])
    report["stage"] = "construct"
    values, _ = arguments.load("init", "cpu")
    torch.manual_seed(INIT_SEED)
    model = build(**values) if isinstance(values, dict) else build(*values)
    return model.to(torch.device) if isinstance(model, torch.module.nn.Module) else model


def call(model, values):
    return model(**values) if isinstance(values, dict) else model(*values)


def forward(request, torch, report):
    """One call for every seed: outputs are saved as the caller's stream sees them, then checked for late changes."""
    arguments = Arguments(torch, "inputs")
    threads = threading.active_count()
    model = construct(request, torch, arguments, report)
    report["stage"] = "forward"
    kept = []
    report["outputs"] = {}
    with torch.no_grad():
        for seed in request["seeds"]:
            values, given = arguments.load(str(seed), torch.device)
            torch.manual_seed(seed)
            named = flatten(call(model, values), torch)
            seen = [torch.clone(torch.detach(tensor)) for _, tensor in named]  # on the caller's stream
            torch.synchronize()
            if any(not same_bytes(torch, a, b) for a, (_, b) in zip(seen, named, strict=True)):
                report["flags"].append(
                    "outputs change after forward has returned: work on a side stream nobody waits for"
                )
            report["outputs"][str(seed)] = [
                {"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape)} for name, tensor in named
            ]
            save(os.path.join("out", report["name"], str(seed)), seen, torch)
            _, fresh = arguments.load(str(seed), torch.device)
            changed = [i for i, pair in enumerate(zip(given, fresh, strict=True)) if not same_bytes(torch, *pair)]
            report["changed_inputs"] = sorted({*report["changed_inputs"], *changed})
            kept.append((seed, named, [torch.to(tensor, "cpu") for tensor in seen]))
    report["stage"] = "after"
    for seed, named, seen in kept:
        for (name, tensor), before in zip(named, seen, strict=True):
            if not same_bytes(torch, torch.to(torch.detach(tensor), "cpu"), before):
                report["overwritten"].append(f"{name} of seed {seed}")
    if threading.active_count() > threads:
        report["flags"].append("threads are left running")
    report["flags"] += [f"{name} was replaced" for name in torch.replaced()]


def same_bytes(torch, one, other):
    """Bit for bit, so that NaN equals itself."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    views = [torch.view(torch.reshape(torch.contiguous(torch.detach(t)), (-1,)), torch.bytes_of) for t in (one, other)]
    return torch.equal(*views)


def measure(request, torch, report):
    """Time forward by CUDA events, the L2 cache flushed before each call.

    The inputs alternate between two seeds and are copied into the same tensors, so that remembering a result by where
    its input lies gives wrong ones; the outputs of one call with each, chosen by the token, are saved and compared.
    """
    arguments = Arguments(torch, "inputs")
    model = construct(request, torch, arguments, report)
    report["stage"] = "time"
    first, second = request["seeds"][:2]
    values, live = arguments.load(str(first), torch.device)
    sources = [[torch.clone(tensor) for tensor in live], arguments.load(str(second), torch.device)[1]]
    flush = torch.empty(FLUSH_BYTES, dtype=torch.bytes_of, device=torch.device)
    events = [torch.new_event(enable_timing=True, blocking=False, interprocess=False) for _ in range(3)]
    chance = int(report["name"][:8], 16)  # the module does not know which calls are looked at: one with each seed
    checked = {2 * (chance % (FEWEST_TRIALS // 2)), 2 * (chance // 97 % (FEWEST_TRIALS // 2)) + 1}
    report["outputs"] = {}
    times, late = [], []
    began = torch.clock()
    with torch.no_grad():
        for trial in range(-WARM_UPS, max(request["trials"], FEWEST_TRIALS)):
            if trial >= FEWEST_TRIALS and torch.clock() - began > request["budget_s"]:
                break
            for tensor, source in zip(live, sources[trial % 2], strict=True):
                torch.copy_(tensor, source)
            torch.zero_(flush)
            torch.manual_seed((first, second)[trial % 2])
            torch.synchronize()
            stream = torch.current_stream(torch.device)
            begin = torch.clock()
            torch.record(events[0], stream)
            output = call(model, values)
            torch.record(events[1], stream)
            torch.synchronize()
            wall = torch.clock() - begin
            torch.record(events[2], stream)
            torch.finish(events[2])
            if trial < 0:
                continue
            times.append(torch.elapsed(events[0], events[1]) / 1e3)
            late.append(torch.elapsed(events[0], events[2]) / 1e3)
            report["walls"].append(wall)
            if trial in checked:
                seed = str((first, second)[trial % 2])
                named = flatten(output, torch)
                report["outputs"][seed] = [
                    {"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape)} for name, tensor in named
                ]
                save(os.path.join("out", report["name"], seed), [tensor for _, tensor in named], torch)
            del output
    report["times"], report["late"] = times, late
    report["flags"] += [f"{name} was replaced" for name in torch.replaced()]


def main():
    with open("request.json", encoding="utf-8") as file:
        request = json.load(file)
    with open(request["token"], encoding="utf-8") as file:
        name = file.read().strip()
    os.unlink(request["token"])
    os.makedirs("out", exist_ok=True)
    report = {"name": name, "stage": "start", "error": None, "flags": [], "changed_inputs": [], "overwritten": [],
              "walls": []}  # fmt: skip
    dump, leave, flush = json.dumps, os._exit, sys.stdout.flush
    try:
        if request["action"] == "build":
            import torch  # so that its import is not counted as the module's

            find_model(import_module(request["module"], report), request["model"])
        else:
            torch = Torch(request["device"])
            {"inputs": make_inputs, "forward": forward, "time": measure}[request["action"]](request, torch, report)
        report["stage"] = "done"
    except Problem as problem:
        report["error"] = {"type": "Problem", "message": str(problem)}
    except BaseException as error:
        said = "".join(traceback.format_exception(error))
        report["error"] = {"type": type(error).__name__, "message": str(error)[-20000:], "traceback": said[-4000:]}
    with open(f"out/{name}.json", "w", encoding="utf-8") as file:
        file.write(dump(report))
    flush()
    leave(0)  # no exit handler of the module runs after the report


if __name__ == "__main__":
    main()
