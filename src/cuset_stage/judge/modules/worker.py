"""Hold one Python module in the sandbox: import it, receive its inputs, call it, and hand over its outputs.

This is a script of its own (`python worker.py`) that needs torch and NumPy. Its stdin is the judge's socket
(session.py). The answer and the task's own module run in different processes.

The judge does not trust anything that an answer's process reports. So nothing here is protected from the answer: the
judge takes the time itself and checks all else.

A message from the judge is JSON ("do" is the name of a method of `Held`, or "leave"), followed by raw tensors. The
reply has the same form. A call has one more step: the judge sends only a key and a seed. The key takes the mask off
the inputs, and the seed is for the random numbers that the module draws. The reply to them is only a digest of the
outputs.
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
KEPT_CALLS = 2  # the outputs of so many first calls are kept, to see whether later calls overwrite them


class Problem(Exception):
    """The module does not do what it is asked to do. The message is for the user."""


class Channel:
    """The socket to the judge, which is the stdin of this process."""

    def __init__(self):
        self.socket = socket.socket(fileno=os.dup(0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def read(self, size):
        """Receive exactly `size` bytes. The process ends if the judge has closed the socket."""
        raw = bytearray(size)
        view = memoryview(raw)
        while view:
            view = view[self.socket.recv_into(view) or leave() :]
        return raw

    def message(self):
        """Receive a message: the request, and the raw tensors that follow it."""
        request = json.loads(self.read(int.from_bytes(self.read(8), "big")))
        return request, [self.read(size) for size in request.pop("blobs", ())]

    def send(self, said, blobs=()):
        """Send a JSON object, and raw tensors after it."""
        raw = json.dumps(said).encode()
        self.socket.sendall(len(raw).to_bytes(8, "big") + raw)
        for blob in blobs:
            self.socket.sendall(blob)

    def key(self, size):
        """Receive the key by polling without sleep, because it comes at once and the clock is running."""
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
    """The module of answer.py on its device.

    The methods in the first part are the requests that the judge makes. Each returns the reply and an iterable of the
    raw tensors that follow it.
    """

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
        """Import answer.py. It must be a file because Triton reads the source of what it compiles."""
        spec = importlib.util.spec_from_file_location("answer", "answer.py")
        self.module = importlib.util.module_from_spec(spec)
        sys.modules["answer"] = self.module
        spec.loader.exec_module(self.module)
        if getattr(self.module, model, None) is None:
            raise Problem(f"the module has no class {model}")
        return {}, ()

    def build(self, model, arguments, double, blobs=()):
        """Construct the model, and with `double` a copy of it in float64.

        Answer and reference use the same seed, so that equal code draws equal weights.
        """
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
        gc.freeze()  # so that collections during calls do not scan the objects that exist now
        return {}, ()

    def draw(self, seed, blobs=()):
        """Draw arguments from the task's own module: those of a call for a seed, those of the constructor for None."""
        self.seed(INIT_SEED if seed is None else seed)
        make, tensors = self.module.get_init_inputs if seed is None else self.module.get_inputs, []
        values = self.encode(make(), "get_init_inputs" if seed is None else "get_inputs", tensors)
        rows = [{"dtype": str(tensor.dtype), "shape": list(tensor.shape)} for tensor in tensors]
        return {"arguments": {"values": values, "tensors": rows}}, [self.raw(tensor) for tensor in tensors]

    def call(self, use, fresh, arguments, blobs=()):
        """Take masked inputs, confirm them, wait for the key, make the call, and reply with a digest of the outputs.

        Args:
            use: "model" calls the model. "copy" calls a copy of it, so that the call leaves no trace in the model. If
                the model cannot be copied, it is called itself. "double" calls the copy in float64, and has no outputs
                if that does not work. "nothing" calls nothing, and the last call's outputs count as outputs again.
            fresh: If true, the inputs are put into new tensors. If false, they are put into the tensors of the call
                before if shapes and dtypes are the same.
            arguments: The encoded arguments.
            blobs: The masked values of the input tensors.
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
            self.flush.zero_()  # so that every call starts with the same content of the L2 cache
            torch.cuda.synchronize()
        self.channel.send({})
        size, problem = self.handover.KEY_BYTES, None
        key = self.channel.key(size + self.handover.SEED_BYTES)
        try:
            # Seeding only now gives both sides the same random numbers, and none can be drawn before the call.
            for generator in self.generators:
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
        """Return the outputs of the last call, and digests of the present values of its inputs."""
        reply, _ = self.inputs()
        rows = [{"name": name, "dtype": str(tensor.dtype), "shape": list(tensor.shape)} for name, tensor in self.named]
        return {"outputs": rows, **reply}, (self.raw(tensor) for _, tensor in self.named)

    def inputs(self, blobs=()):
        """Return digests of the present values of the last call's inputs."""
        if self.library:
            self.torch.cuda.synchronize()
        return {"inputs": [self.digest([tensor]).hex() for tensor in self.given]}, ()

    def earlier(self, blobs=()):
        """Return digests of the present values of what the first calls returned."""
        return {"digests": [self.digest([tensor for _, tensor in named]).hex() for named in self.kept]}, ()

    # -------------------------------------------------------------------------------------------------------- parts

    def seed(self, seed):
        """Seed all generators without a seed of their own, except NumPy's default_rng(), which an audit finds."""
        self.torch.manual_seed(seed)
        random.seed(seed)
        sys.modules["numpy"].random.seed(seed % 2**32)

    def host(self, row, raw):
        """Make a tensor on the host from its description and raw values."""
        dtype = self.dtypes[row["dtype"]]
        flat = self.torch.frombuffer(raw, dtype=dtype) if raw else self.torch.empty(0, dtype=dtype)
        return flat.reshape(row["shape"])

    def encode(self, value, place, tensors):
        """Encode an argument for JSON as {kind: value}. A tensor is appended to `tensors` and encoded as its index."""
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
        type_name = type(value).__name__
        raise TypeError(f"{place}: a value of type {type_name}; expected tensors, numbers, text, lists or dicts")

    def decode(self, item, tensors):
        """Decode what `encode` has encoded."""
        ((kind, value),) = item.items()
        if kind in ("list", "tuple"):
            items = [self.decode(part, tensors) for part in value]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {key: self.decode(part, tensors) for key, part in value.items()}
        return tensors[value] if kind == "tensor" else self.dtypes[value] if kind == "dtype" else value

    def flatten(self, value, name="output"):
        """Return the names and tensors of what forward returned, as a list of pairs.

        Raises:
            Problem: Something in it is not a dense tensor on the device.
        """
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
        """Return the bytes of a tensor in row-major order, on a GPU at an address aligned as handover.cu needs it."""
        flat = tensor.detach().contiguous().reshape(-1)
        return (flat.clone() if self.library and flat.data_ptr() % 16 else flat).view(self.torch.uint8)

    def raw(self, tensor):
        """Return the bytes of a tensor on the host."""
        return memoryview(self.flat(tensor).cpu().numpy())

    def unmask(self, tensor, number, key):
        """Take the mask off an input tensor, in place."""
        flat = self.flat(tensor)
        if not self.library:
            self.handover.Mask(key, number).apply(flat.numpy())
            return
        low, high = (self.size(int.from_bytes(half, "little")) for half in (key[:8], key[8:]))
        place, count = self.pointer(flat.data_ptr()), self.size(flat.numel())
        self.check(self.library.handover_unmask(place, count, self.size(number), low, high, self.stream()))

    def digest(self, tensors):
        """Return the digest of the digests of all tensors."""
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
        """Wait for the current stream only.

        Otherwise the launches that follow could be hidden behind work that still runs.
        """
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
    channel.send({"torch": torch.__version__})  # every failure after this is the module's fault
    while True:
        request, blobs = channel.message()
        do = request.pop("do")
        if do == "leave":
            break
        try:
            reply, raw = getattr(held, do)(**request, blobs=blobs)
        except BaseException as error:
            channel.send({"error": {"type": type(error).__name__, "message": str(error)[-20000:]}})
        else:
            if reply is not None:
                channel.send(reply, raw)


if __name__ == "__main__":
    main()
