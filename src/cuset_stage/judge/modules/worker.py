"""Holds one Python module in the sandbox: imports it, is handed its inputs, calls it, hands over what it returned.

A script of its own (`python worker.py`), with torch and NumPy. Its stdin is the judge's socket (session.py). The answer and the
task's own module run in different processes. This is the answer's process: nothing that it says is believed. So nothing here is
guarded from the answer: the judge has the time, and checks all else.

A message from the judge is JSON ("do": one of the methods of `Held`, or "leave"), then raw tensors; so is the reply. Only in a call the judge
sends a key and a seed alone, which take the mask off the inputs and seed what the module draws, and is answered with a digest of the
outputs alone.
"""

import contextlib
import copy
import gc
import importlib.util
import json
import os
import random
import socket
import sys


INIT_SEED = 42  # KernelBench's
KEPT_CALLS = 2  # the first, whose outputs later calls may not write over


class Problem(Exception):
    """The module does not do what is asked; the message is for people."""


class Channel:
    """The socket to the judge."""

    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def read(self, size):
        raw = bytearray(size)
        view = memoryview(raw)
        while view:
            view = view[self.socket.recv_into(view) or leave() :]
        return raw

    def message(self):
        """What is asked for, and raw tensors."""
        asked = json.loads(self.read(int.from_bytes(self.read(8), "big")))
        return asked, [self.read(size) for size in asked.pop("blobs", ())]

    def send(self, said, blobs=()):
        raw = json.dumps(said).encode()
        self.socket.sendall(len(raw).to_bytes(8, "big") + raw)
        for blob in blobs:
            self.socket.sendall(blob)

    def key(self, size):
        """Waited for without sleep, as it comes at once."""
        key = b""
        while len(key) < size:
            try:
                key += self.socket.recv(size - len(key), socket.MSG_DONTWAIT) or leave()
            except BlockingIOError:
                continue
        return key


def leave():
    os._exit(0)


class Held:
    """The module of answer.py on its device; every method but `call` is something that the judge may ask for."""

    def __init__(self, device, torch, channel):
        import handover

        self.torch, self.channel, self.handover = torch, channel, handover
        self.device = torch.device(device)
        self.dtypes = {str(value): value for value in vars(torch).values() if isinstance(value, torch.dtype)}
        self.models, self.given, self.named, self.kept = {}, (), [], []
        self.library, self.flush, self.generators = None, None, [torch.default_generator]
        if self.device.type == "cuda":
            import ctypes

            torch.cuda.init()
            self.generators += torch.cuda.default_generators
            self.library, self.size, self.pointer = ctypes.CDLL("./libhandover.so"), ctypes.c_size_t, ctypes.c_void_p

    # ------------------------------------------------------------------------------------------------ what is asked

    def find(self, model, blobs=()):
        """Import answer.py, from a file, because Triton reads the source of what it compiles."""
        spec = importlib.util.spec_from_file_location("answer", "answer.py")
        self.module = importlib.util.module_from_spec(spec)
        sys.modules["answer"] = self.module
        spec.loader.exec_module(self.module)
        if getattr(self.module, model, None) is None:
            raise Problem(f"the module has no class {model}")
        return {}, ()

    def build(self, model, arguments, double, blobs=()):
        """Construct the model; seeded alike for both sides, so that equal code draws equal weights."""
        tensors = [self.host(row, raw) for row, raw in zip(arguments["tensors"], blobs, strict=True)]
        values = self.decode(arguments["values"], tensors)
        self.seed(INIT_SEED)
        made = invoke(getattr(self.module, model), values)
        if isinstance(made, self.torch.nn.Module):
            made = made.to(self.device)
            if double:
                with contextlib.suppress(Exception):
                    self.models["double"] = copy.deepcopy(made).double()
        self.models["model"] = made
        gc.collect()
        gc.freeze()  # no call has to look through what is there by now
        return {}, ()

    def draw(self, seed, blobs=()):
        """The arguments that the task's own module gives for a seed; None: those of the constructor."""
        self.seed(INIT_SEED if seed is None else seed)
        make, tensors = self.module.get_init_inputs if seed is None else self.module.get_inputs, []
        values = self.encode(make(), "get_init_inputs" if seed is None else "get_inputs", tensors)
        rows = [{"dtype": str(tensor.dtype), "shape": list(tensor.shape)} for tensor in tensors]
        return {"arguments": {"values": values, "tensors": rows}}, [self.raw(tensor) for tensor in tensors]

    def call(self, use, fresh, arguments, blobs=()):
        """Take masked inputs, say that they are there, wait for the key, call, and reply with a digest.

        use: "model"; "copy": a copy of it, so that the model keeps nothing of the call (itself where it cannot be copied); "double": the
        same with float64, nothing where that does not work; or "nothing": what the last call returned is handed over again.
        fresh: in new tensors; else in those of the call before, where their shapes are the same.
        """
        torch, rows = self.torch, arguments["tensors"]
        if use == "copy" and use not in self.models:
            self.models[use] = self.models["model"]
            with contextlib.suppress(Exception):
                self.models[use] = copy.deepcopy(self.models["model"])
        shapes = [(tuple(row["shape"]), self.dtypes[row["dtype"]]) for row in rows]
        if fresh or shapes != [(tuple(tensor.shape), tensor.dtype) for tensor in self.given]:
            self.given = [torch.empty(shape, dtype=dtype, device=self.device) for shape, dtype in shapes]
        for tensor, raw in zip(self.given, blobs, strict=True):
            if raw:
                self.flat(tensor).copy_(torch.frombuffer(raw, dtype=torch.uint8))
        values = self.decode(arguments["values"], self.given)
        if self.library:
            if self.flush is None:
                self.flush = torch.empty(
                    2 * torch.cuda.get_device_properties(self.device).L2_cache_size,
                    dtype=torch.uint8,
                    device=self.device,
                )
            self.library.handover_forget()
            self.flush.zero_()  # all calls find the same in the cache
            torch.cuda.synchronize()
        self.channel.send({})
        size, problem = self.handover.KEY_BYTES, None
        key = self.channel.key(size + self.handover.SEED_BYTES)
        try:
            for generator in self.generators:  # what a call draws is drawn alike on both sides, and not ahead
                generator.manual_seed(int.from_bytes(key[size:], "little"))
            for number, tensor in enumerate(self.given):
                self.unmask(tensor, number, key[:size])
            self.wait()
            if use == "double":
                self.named = []
                with contextlib.suppress(Exception), torch.no_grad():
                    wide = [tensor.double() if tensor.is_floating_point() else tensor for tensor in self.given]
                    self.named = self.flatten(invoke(self.models[use], self.decode(arguments["values"], wide)))
            elif use != "nothing":
                with torch.no_grad():
                    self.named = self.flatten(invoke(self.models[use], values))
            self.wait()
            found = self.digest([tensor for _, tensor in self.named])
        except BaseException as error:
            problem, found = error, bytes(self.handover.DIGEST_BYTES)
        self.channel.socket.sendall(found)
        if problem:
            raise problem
        if use == "model" and len(self.kept) < KEPT_CALLS:
            self.kept.append(self.named)
        return None, ()

    def outputs(self, blobs=()):
        """What the last call returned, and digests of its inputs as they are by now."""
        said, _ = self.inputs()
        rows = [{"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape)} for name, tensor in self.named]
        return {"outputs": rows, **said}, (self.raw(tensor) for _, tensor in self.named)

    def inputs(self, blobs=()):
        if self.library:
            self.torch.cuda.synchronize()
        return {"inputs": [self.digest([tensor]).hex() for tensor in self.given]}, ()

    def earlier(self, blobs=()):
        """Digests of what the first calls returned, as it is by now."""
        return {"digests": [self.digest([tensor for _, tensor in named]).hex() for named in self.kept]}, ()

    # -------------------------------------------------------------------------------------------------------- parts

    def seed(self, seed):
        """Every generator that is not given a seed of its own, but numpy's default_rng(): an audit finds those."""
        self.torch.manual_seed(seed)
        random.seed(seed)
        sys.modules["numpy"].random.seed(seed % 2**32)

    def host(self, row, raw):
        kind = self.dtypes[row["dtype"]]
        flat = self.torch.frombuffer(raw, dtype=kind) if raw else self.torch.empty(0, dtype=kind)
        return flat.reshape(row["shape"])

    def encode(self, value, place, tensors):
        """JSON for an argument, {kind: value}; a tensor is collected, and stands as its place among them."""
        if isinstance(value, self.torch.Tensor):
            tensors.append(value)
            return {"tensor": len(tensors) - 1}
        if value is None or isinstance(value, bool | int | float | str):
            return {"value": value}
        if isinstance(value, self.torch.dtype):
            return {"dtype": str(value)}
        if isinstance(value, list | tuple):
            items = [self.encode(item, place, tensors) for item in value]
            return {"list" if isinstance(value, list) else "tuple": items}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.encode(item, place, tensors) for key, item in value.items()}}
        kind = type(value).__name__
        raise TypeError(f"{place}: a value of type {kind}; expected tensors, numbers, text, lists or dicts")

    def decode(self, item, tensors):
        """What `encode` encoded."""
        ((kind, value),) = item.items()
        if kind in ("list", "tuple"):
            items = [self.decode(part, tensors) for part in value]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {key: self.decode(part, tensors) for key, part in value.items()}
        return tensors[value] if kind == "tensor" else self.dtypes[value] if kind == "dtype" else value

    def flatten(self, value, name="output"):
        """Names and tensors of what forward returned; raises Problem for what is no dense tensor on the device."""
        torch = self.torch
        if isinstance(value, list | tuple):
            return [pair for i, item in enumerate(value) for pair in self.flatten(item, f"{name}[{i}]")]
        if isinstance(value, dict):
            return [pair for key, item in value.items() for pair in self.flatten(item, f"{name}[{key!r}]")]
        if type(value) in (bool, int, float):
            value = torch.tensor(value, device=self.device)
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            kind = f"{type(value).__module__}.{type(value).__name__}"
            raise Problem(f"{name} is of type {kind}; expected a plain torch.Tensor")
        if value.layout is not torch.strided or value.device.type != self.device.type:
            raise Problem(f"{name} is {value.layout} on {value.device}; expected a dense tensor on {self.device}")
        return [(name, value)]

    def flat(self, tensor):
        """The bytes of a tensor, row-major; on a GPU at an address that handover.cu takes."""
        flat = tensor.detach().contiguous().reshape(-1)
        return (flat.clone() if self.library and flat.data_ptr() % 16 else flat).view(self.torch.uint8)

    def raw(self, tensor):
        return memoryview(self.flat(tensor).cpu().numpy())

    def unmask(self, tensor, number, key):
        flat = self.flat(tensor)
        if not self.library:
            self.handover.Mask(key, number).apply(flat.numpy())
            return
        low, high = (self.size(int.from_bytes(half, "little")) for half in (key[:8], key[8:]))
        place, count = self.pointer(flat.data_ptr()), self.size(flat.numel())
        self.check(self.library.handover_unmask(place, count, self.size(number), low, high, self.stream()))

    def digest(self, tensors):
        """Of the digests of all of them."""
        flats = [self.flat(tensor) for tensor in tensors]
        if not self.library:
            return self.handover.digest(b"".join(self.handover.digest(flat.numpy()) for flat in flats))
        size = self.handover.DIGEST_BYTES
        roots = self.torch.empty((len(flats) + 1) * size, dtype=self.torch.uint8, device=self.device)
        for number, flat in enumerate((*flats, roots[:-size])):
            scratch = self.torch.empty(flat.numel() // 15 + 4096, dtype=self.torch.uint8, device=self.device)
            start, between, end = map(
                self.pointer, (flat.data_ptr(), scratch.data_ptr(), roots.data_ptr() + number * size)
            )
            self.check(self.library.handover_digest(start, self.size(flat.numel()), between, end, self.stream()))
        return bytes(roots[-size:].cpu().numpy())

    def wait(self):
        """For the caller's stream alone: so that launches of what is to come do not hide in what is under way."""
        if self.library:
            self.torch.cuda.current_stream().synchronize()

    def stream(self):
        return self.pointer(self.torch.cuda.current_stream().cuda_stream)

    def check(self, code):
        if code:
            raise RuntimeError(f"CUDA error {code}")


def invoke(what, values):
    return what(**values) if isinstance(values, dict) else what(*values)


def main():
    channel = Channel()
    import torch

    held = Held(sys.argv[1], torch, channel)
    channel.send({"torch": torch.__version__})  # from here on, what fails is the module's
    while True:
        asked, blobs = channel.message()
        do = asked.pop("do")
        if do == "leave":
            break
        try:
            said, raw = getattr(held, do)(**asked, blobs=blobs)
        except BaseException as error:
            channel.send({"error": {"type": type(error).__name__, "message": str(error)[-20000:]}})
        else:
            if said is not None:
                channel.send(said, raw)


if __name__ == "__main__":
    main()
