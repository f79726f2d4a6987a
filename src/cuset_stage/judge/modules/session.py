"""Run a module in a sandboxed process of its own, and communicate with it. worker.py is the other end.

The replies of that process are not trusted, because the code in it may want to mislead the judge. The form of every
reply is checked. Outputs are compared with the digest that stopped the clock. Anything wrong with a reply is the
module's fault (`ModuleFailed`).
"""

import json
import math
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...sandbox import Finished, SandboxError
from ...sandbox.background import BackgroundRun
from ...sandbox.folders import out_of_room, take_output
from ...tasks.base import FILE_BYTES
from ..closeness import MODULE_TOLERANCES, Distance, distance, mapped
from ..gpu_activity import RECORD, Activity, read_activity
from ..oracle import OracleError
from . import handover


CLOCK = Path(__file__).with_name("clock.py")
REPLY_BYTES, MOST_TENSORS, MOST_DIMENSIONS = 4 << 20, 4096, 64
CHUNK = 1 << 26
LEAVING_S = 30.0
_BUILD_FAILED = ("Error building extension", "Error compiling objects", "CompilationError", "CompileException")


@dataclass(frozen=True)
class Saved:
    """A tensor that a module was given or has returned.

    Attributes:
        name: Its name in messages.
        dtype: Its torch dtype, such as "torch.float32".
        shape: Its shape.
        path: File with its values, in row-major order.
    """

    name: str
    dtype: str
    shape: list[int]
    path: Path

    @property
    def bytes(self) -> int:
        """Size of the values in bytes."""
        return math.prod(self.shape) * FILE_BYTES[self.dtype.removeprefix("torch.")]

    def distance(self, other: Path) -> Distance:
        """Compare with a file as KernelBench does: with its tolerance for the torch dtype. NaN equals nothing."""
        dtype = self.dtype.removeprefix("torch.")
        tolerance = MODULE_TOLERANCES.get(dtype, 0.0)
        return distance(self.path, other, dtype, math.prod(self.shape), tolerance, tolerance, nan_equal=False)


@dataclass(frozen=True)
class Content:
    """The arguments of a call.

    Attributes:
        values: The arguments as `encode` in worker.py encodes them.
        tensors: The tensors among them.
    """

    values: Mapping[str, Any]
    tensors: Sequence[Saved]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments for a request to the worker. The values of tensors are sent separately."""
        return {"values": self.values, "tensors": [{"dtype": t.dtype, "shape": t.shape} for t in self.tensors]}


@dataclass(frozen=True)
class Call:
    """The result of one call.

    Attributes:
        seconds: Time from sending the key until the digest arrived.
        digest: Digest of the outputs that stopped the clock.
        outputs: The outputs, once they have been handed over.
        inputs: Digest of each input tensor, taken after the call.
    """

    seconds: float
    digest: bytes
    outputs: Sequence[Saved] = ()
    inputs: Sequence[str] = ()


class ModuleFailed(Exception):
    """The module, or the process that holds it, did not do what it was asked to do.

    Attributes:
        error: {"type", "message"} of the error as the worker reported it. Empty if it reported none.
        finished: How the process ended.
        doing: The request in progress. "start" means that there was none yet, and no code of the module had run.
        late: Whether the time limit was reached.
        before: Whether it failed before any code of the module had run.
    """

    def __init__(self, error: Mapping[str, str], finished: Finished, doing: str) -> None:
        super().__init__(error)
        self.error, self.finished, self.doing = error, finished, doing
        self.late, self.before = finished.out_of_time, doing == "start"

    @property
    def build_failed(self) -> bool:
        """True if an extension did not compile."""
        error_text = f"{self.error.get('type')}: {self.error.get('message')}"
        return any(sign in error_text for sign in _BUILD_FAILED)

    @property
    def first_line(self) -> str:
        """The compiler's first error line if there is one, else the exception, else how the process ended."""
        if not self.error:
            if self.finished.stopped not in (None, "judge"):
                return f"stopped at its limit ({self.finished.stopped})"
            output = (self.finished.stderr.strip() or self.finished.stdout.strip())[-1000:]
            return f"ended with {self.finished.returncode} before it was done. {output}".strip()
        for line in self.error["message"].splitlines():
            if ": error" in line or ": fatal error" in line or line.startswith("error"):
                return line.strip()
        is_problem = self.error["type"] == "Problem"
        return self.error["message"] if is_problem else f"{self.error['type']}: {self.error['message']}"


class Module:
    """A module in its process. Use it in a `with` block. When the block ends, the process and its children are gone.

    The block begins at once. The process imports torch meanwhile, and the first request waits for it.

    Args:
        process: The process, not started yet.
        work: Folder in which the process runs.
        patience_s: Seconds that the module may take for all requests together.
        reference_of: Id of the task if this is the task's own module. Such a module is trusted. If it fails, this is a
            failure of the judge's side (OracleError).

    Attributes:
        waited: Seconds that the judge has waited for the module so far.

    Raises:
        ModuleFailed: Raised by the methods if the module fails.
        OracleError: Raised by the methods instead if it is a task's own module.
        SandboxError: Raised by the methods if the judge's side fails.
    """

    def __init__(self, process: BackgroundRun, work: Path, patience_s: float, reference_of: str | None = None) -> None:
        self._process, self._socket = process, process.socket
        self._work, self._left, self._reference_of = work, patience_s, reference_of
        self._doing = "start"
        self.waited = 0.0  # seconds

    def __enter__(self) -> "Module":
        command = [sys.executable, "-I", "-S", str(CLOCK), str(self._socket.fileno())]
        pipe = subprocess.PIPE
        self._clock = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, pass_fds=[self._socket.fileno()], text=True, bufsize=1, cwd="/"
        )
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the process and its children."""
        self._process.end()
        self._clock.kill()
        self._clock.communicate()
        self._socket.close()

    def find(self, model: str) -> None:
        """Import the module and check that it has this class."""
        self.ask("find", model=model)

    def build(self, model: str, init: Content, *, double: bool = False) -> None:
        """Construct the model, given the name of its class, and with `double` a copy of it in float64 as well."""
        self.ask("build", init.tensors, model=model, arguments=init.arguments, double=double)

    def draw(self, seed: int | None, folder: Path) -> Content:
        """Draw arguments from a task's own module. Do not use it for answers.

        Args:
            seed: Seed for the arguments of a call. None asks for the arguments of the constructor.
            folder: New folder in which the tensors are saved.
        """
        with self._checked(self.ask("draw", seed=seed)) as reply:
            arguments = reply["arguments"]
            return Content(arguments["values"], self._take(arguments["tensors"], folder))

    def call(self, content: Content, seed: int, *, use: str = "model", fresh: bool = False) -> Call:
        """Call the model and time the call.

        The masked inputs are sent first. The time runs from sending the key and the seed until the digest of the
        outputs arrives.

        Args:
            content: The arguments of the call.
            seed: Seed for the random numbers that the module itself draws.
            use: Which model is called, see `Held.call` in worker.py.
            fresh: Whether the inputs are put into new tensors, see `Held.call` in worker.py.

        Returns:
            The call without its outputs. `outputs` fetches these.
        """
        key = secrets.token_bytes(handover.KEY_BYTES)
        self.ask("call", content.tensors, key, use=use, fresh=fresh, arguments=content.arguments)
        self._clock.stdin.write(f"{key.hex()}{seed.to_bytes(handover.SEED_BYTES, 'little').hex()} {self._left}\n")
        if not (measured := self._clock.stdout.readline()):
            raise SandboxError("the process that times calls has ended")
        seconds, digest_hex = measured.split()
        self._spent(float(seconds))
        digest = bytes.fromhex(digest_hex.strip("-"))
        if len(digest) != handover.DIGEST_BYTES:
            raise self.failure()
        if not any(digest):  # a digest of zeros means that the call failed; the reply has the error
            self._reply()
        return Call(float(seconds), digest)

    def outputs(self, call: Call, folder: Path, most_bytes: int | None = None) -> Call:
        """Fetch the outputs of the last call and save them in a new folder.

        The outputs must be the same as when the clock stopped. For an answer, this is checked with the digest. All of
        them together may have `most_bytes`, or any size if that is None.

        Returns:
            The call with its outputs and the digests of its inputs.
        """
        with self._checked(self.ask("outputs")) as reply:
            inputs = [str(digest) for digest in reply["inputs"]]
            outputs = self._take(reply["outputs"], folder, most_bytes)
        if self._reference_of is None:
            digests = b"".join(handover.digest(mapped(saved.path, np.uint8)) for saved in outputs)
            if handover.digest(digests) != call.digest:
                raise self._problem(
                    "what it returned is not what it was when the call was over: written to later, such as by work on a side stream that "
                    "nobody waits for"
                )
        return Call(call.seconds, call.digest, outputs, inputs)

    def earlier(self) -> list[str]:
        """Return digests of the outputs of the first calls, computed from their present values."""
        with self._checked(self.ask("earlier")) as reply:
            return [str(digest) for digest in reply["digests"]]

    def leave(self) -> Activity:
        """Let the process end by itself, and return the record of its work on the GPU.

        The record is empty if nothing was recorded.
        """
        self.send("leave")
        self._process.end(LEAVING_S)
        record = self._work.parent / "record"
        return Activity() if take_output(self._work, RECORD, record) else read_activity(record)

    def ask(self, do: str, tensors: Sequence[Saved] = (), key: bytes | None = None, **more: Any) -> dict[str, Any]:
        """Send a request and return the reply. The arguments are those of `send`."""
        self.send(do, tensors, key, **more)
        return self._reply()

    def send(self, do: str, tensors: Sequence[Saved] = (), key: bytes | None = None, **more: Any) -> None:
        """Send a request: the name of a method of `Held` in worker.py with its arguments, or "leave".

        With a key, the tensors are masked with it.
        """
        if self._doing == "start":
            self._reply()
        request = json.dumps({"do": do, **more, "blobs": [saved.bytes for saved in tensors]}).encode()
        self._doing = do
        with self._charged():
            self._socket.sendall(len(request).to_bytes(8, "big") + request)
            for number, saved in enumerate(tensors):
                mask = handover.Mask(key, number) if key else None
                values = mapped(saved.path, np.uint8)
                for start in range(0, values.size, CHUNK):
                    part = np.array(values[start : start + CHUNK])
                    if mask:
                        mask.apply(part)
                    self._socket.sendall(part)

    def _reply(self) -> dict[str, Any]:
        with self._checked(int.from_bytes(self._receive(8), "big")) as size:
            if size > REPLY_BYTES:
                raise ValueError
            reply = json.loads(self._receive(size))
            error = reply.get("error")
            if error is not None and not (isinstance(error["type"], str) and isinstance(error["message"], str)):
                raise TypeError
        if error is not None:
            raise self.failure({name: error[name] for name in ("type", "message")})
        return reply

    def _receive(self, size: int) -> bytearray:
        raw = bytearray(size)
        view = memoryview(raw)
        while view:
            with self._charged():
                count = self._socket.recv_into(view)
                if not count:
                    raise ConnectionError
            view = view[count:]
        return raw

    @contextmanager
    def _charged(self) -> Iterator[None]:
        """Charge the module for the time of the block, which uses the socket. Fail when its time is up."""
        begin = time.monotonic()
        try:
            self._socket.settimeout(max(0.001, self._left))
            try:
                yield
            finally:
                self._spent(time.monotonic() - begin)
        except OSError as error:
            raise self.failure() from error

    @contextmanager
    def _checked(self, said: Any) -> Iterator[Any]:
        """Yield a reply. If reading it in the block fails because its form is wrong, this is the module's fault."""
        try:
            yield said
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
            raise self.failure({"type": "Garbled", "message": "its process did not answer as it should"}) from None

    def _take(self, rows: Any, folder: Path, most_bytes: int | None = None) -> list[Saved]:
        """Save the tensors that follow a reply. Raise ValueError if `rows` does not describe tensors."""
        folder.mkdir(parents=True)
        if not isinstance(rows, list) or len(rows) > MOST_TENSORS:
            raise ValueError
        taken = []
        for number, row in enumerate(rows):
            name, dtype, shape = row.get("name", f"input {number}"), row["dtype"], row["shape"]
            if not (isinstance(name, str) and isinstance(dtype, str) and isinstance(shape, list)):
                raise ValueError
            if len(shape) > MOST_DIMENSIONS or not all(type(size) is int and 0 <= size < 2**48 for size in shape):
                raise ValueError
            if dtype.removeprefix("torch.") not in FILE_BYTES:
                raise self._problem(f"{name[:200]} is {dtype[:100]}, which cannot be compared")
            taken.append(Saved(name[:200], dtype, shape, folder / f"{number}.bin"))
        if most_bytes is not None and sum(saved.bytes for saved in taken) > most_bytes:
            raise self._problem(f"returns {sum(saved.bytes for saved in taken)} bytes, expected at most {most_bytes}")
        for saved in taken:
            with saved.path.open("wb") as file:
                for start in range(0, saved.bytes, CHUNK):
                    file.write(self._receive(min(CHUNK, saved.bytes - start)))
        return taken

    def _spent(self, seconds: float) -> None:
        self.waited += seconds
        self._left -= seconds

    def failure(self, error: Mapping[str, str] | None = None) -> Exception:
        """Return the exception to raise when the process is gone, is late, or reports an error. End the process."""
        late = self._left <= 0
        # If the process ended by itself, the socket closes a moment before its end is known. So wait for it.
        finished = self._process.end(10.0 if error is None and not late else 0.0)
        # The judge's clock decides, even if the supervisor could not report the timeout.
        if late and (finished.late or not finished.infra):
            finished = replace(finished, stopped="wall", infra=None)
        elif finished.infra:
            return SandboxError(finished.infra)
        elif finished.stopped in (None, "judge") and (
            lacking := finished.lacked_memory(str(error)) or out_of_room(self._work)
        ):
            return SandboxError(lacking)  # the module is not to blame
        failed = ModuleFailed(error or {}, finished, self._doing)
        if self._reference_of is None:
            return failed
        message = failed.error.get("message", failed.first_line)
        return OracleError(f"task {self._reference_of}: the reference's {self._doing} failed: {message[-1000:]}")

    def _problem(self, message: str) -> Exception:
        return self.failure({"type": "Problem", "message": message})
