"""A module in a sandboxed process of its own, and the judge's talk with it (worker.py is the other end).

What comes out of that process is bytes from somebody who may want to mislead: every reply is checked for its shape, outputs are
held against the digest that stopped the clock, and whatever is wrong about a reply is the module's fault (`ModuleFailed`).
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
from ..closeness import MODULE_TOLERANCES, Distance, distance
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
    """A tensor that a module was given or has returned, and the file with its values, row-major."""

    name: str
    dtype: str
    shape: list[int]
    path: Path

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * FILE_BYTES[self.dtype.removeprefix("torch.")]

    def distance(self, other: Path) -> Distance:
        """Compare as KernelBench does: with its tolerance for the torch dtype, and NaN equals nothing."""
        dtype = self.dtype.removeprefix("torch.")
        tolerance = MODULE_TOLERANCES.get(dtype, 0.0)
        return distance(self.path, other, dtype, math.prod(self.shape), tolerance, tolerance, nan_equal=False)


@dataclass(frozen=True)
class Content:
    """The arguments of a call: what worker.py's `encode` says of them, and the tensors among them."""

    values: Mapping[str, Any]
    tensors: Sequence[Saved]

    @property
    def arguments(self) -> dict[str, Any]:
        return {"values": self.values, "tensors": [{"dtype": t.dtype, "shape": t.shape} for t in self.tensors]}


@dataclass(frozen=True)
class Call:
    """The result of one call. inputs: a digest of each input tensor, taken after the call."""

    seconds: float
    digest: bytes
    outputs: Sequence[Saved] = ()
    inputs: Sequence[str] = ()


class ModuleFailed(Exception):
    """The module, or the process that holds it, did not do what was asked.

    error: {type, message} as the worker has it, {} where it said nothing. finished: how its process ended. doing: what it was asked
    for; "start": nothing yet, and no code of the module had run.
    """

    def __init__(self, error: Mapping[str, str], finished: Finished, doing: str) -> None:
        super().__init__(error)
        self.error, self.finished, self.doing = error, finished, doing
        self.late, self.before = finished.out_of_time, doing == "start"

    @property
    def build_failed(self) -> bool:
        """True if an extension did not compile."""
        said = f"{self.error.get('type')}: {self.error.get('message')}"
        return any(sign in said for sign in _BUILD_FAILED)

    @property
    def first_line(self) -> str:
        """The compiler's first error line where there is one, else the exception, else how the process ended."""
        if not self.error:
            if self.finished.stopped not in (None, "judge"):
                return f"stopped at its limit ({self.finished.stopped})"
            said = (self.finished.stderr.strip() or self.finished.stdout.strip())[-1000:]
            return f"ended with {self.finished.returncode} before it was done. {said}".strip()
        for line in self.error["message"].splitlines():
            if ": error" in line or ": fatal error" in line or line.startswith("error"):
                return line.strip()
        known = self.error["type"] == "Problem"
        return self.error["message"] if known else f"{self.error['type']}: {self.error['message']}"


class Module:
    """A module in its process. Use it in a `with` block: when that ends, nothing of the process is left.

    Methods raise ModuleFailed, and SandboxError where the judge's side failed.

    reference_of: the task whose own module it is. That is believed, and when it fails, the judge's side fails: OracleError.
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
        try:
            self._reply()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()
        self._clock.kill()
        self._clock.communicate()
        self._socket.close()

    def find(self, model: str) -> None:
        """Import the module and look for the class."""
        self.ask("find", model=model)

    def build(self, model: str, init: Content, *, double: bool = False) -> None:
        """double: with a copy of the model for float64."""
        self.ask("build", init.tensors, model=model, arguments=init.arguments, double=double)

    def draw(self, seed: int | None, folder: Path) -> Content:
        """Only of a task's own module: the arguments that it gives for a seed (None: for the constructor), into a new folder."""
        with self._checked(self.ask("draw", seed=seed)) as said:
            arguments = said["arguments"]
            return Content(arguments["values"], self._take(arguments["tensors"], folder))

    def call(self, content: Content, seed: int, *, use: str = "model", fresh: bool = False) -> Call:
        """Hand masked inputs over, then the key and the seed, and wait for the digest of the outputs: that is what is timed.

        seed: of what the module draws. use, fresh: see worker.py.
        """
        key = secrets.token_bytes(handover.KEY_BYTES)
        self.ask("call", content.tensors, key, use=use, fresh=fresh, arguments=content.arguments)
        assert self._clock.stdin and self._clock.stdout
        self._clock.stdin.write(f"{key.hex()}{seed.to_bytes(handover.SEED_BYTES, 'little').hex()} {self._left}\n")
        seconds, found = self._clock.stdout.readline().split()
        self._spent(float(seconds))
        digest = bytes.fromhex(found.strip("-"))
        if len(digest) != handover.DIGEST_BYTES:
            raise self.failure()
        if not any(digest):  # it failed, and says how
            self._reply()
        return Call(float(seconds), digest)

    def outputs(self, call: Call, folder: Path, most_bytes: int | None = None) -> Call:
        """The last call with its outputs, saved in a new folder; they are those that it had when the clock stopped.

        most_bytes: that outputs may have together.
        """
        with self._checked(self.ask("outputs")) as said:
            inputs = [str(digest) for digest in said["inputs"]]
            outputs = self._take(said["outputs"], folder, most_bytes)
        if self._reference_of is None and digest_of_all(outputs) != call.digest:
            raise self._problem(
                "what it returned is not what it was when the call was over: written to later, such as by work on a side stream that "
                "nobody waits for"
            )
        return Call(call.seconds, call.digest, outputs, inputs)

    def earlier(self) -> list[str]:
        """Digests of what the first calls returned, as it is now."""
        with self._checked(self.ask("earlier")) as said:
            return [str(digest) for digest in said["digests"]]

    def leave(self) -> Activity:
        """Have the process end by itself, and take what was recorded of its work on the GPU: nothing where nothing was."""
        self.send("leave")
        self._process.end(LEAVING_S)
        record = self._work.parent / "record"
        if take_output(self._work, RECORD, record):
            return Activity()
        return read_activity(record)

    def ask(self, do: str, tensors: Sequence[Saved] = (), key: bytes | None = None, **more: Any) -> dict[str, Any]:
        """The reply to a request."""
        self.send(do, tensors, key, **more)
        return self._reply()

    def send(self, do: str, tensors: Sequence[Saved] = (), key: bytes | None = None, **more: Any) -> None:
        """A request; the tensors go with it, masked if there is a key."""
        request = json.dumps({"do": do, **more, "blobs": [saved.bytes for saved in tensors]}).encode()
        self._doing, begin = do, time.monotonic()
        try:
            self._socket.settimeout(max(0.001, self._left))
            self._socket.sendall(len(request).to_bytes(8, "big") + request)
            for number, saved in enumerate(tensors):
                mask = handover.Mask(key, number) if key else None
                values = _mapped(saved)
                for start in range(0, values.size, CHUNK):
                    part = np.array(values[start : start + CHUNK])
                    if mask:
                        mask.apply(part)
                    self._socket.sendall(part)
        except OSError as error:
            self._spent(time.monotonic() - begin)
            raise self.failure() from error
        self._spent(time.monotonic() - begin)

    def _reply(self) -> dict[str, Any]:
        said = self._receive(8)
        size = int.from_bytes(said, "big")
        if size > REPLY_BYTES:
            raise self._garbled()
        try:
            said = json.loads(self._receive(size))
        except (ValueError, RecursionError):
            raise self._garbled() from None
        if not isinstance(said, dict):
            raise self._garbled()
        if (error := said.get("error")) is not None:
            names = ("type", "message")
            if not isinstance(error, dict) or not all(isinstance(error.get(name), str) for name in names):
                raise self._garbled()
            raise self.failure({name: error[name] for name in names})
        return said

    def _receive(self, size: int) -> bytearray:
        raw = bytearray(size)
        view = memoryview(raw)
        begin = time.monotonic()
        try:
            while view:
                self._socket.settimeout(max(0.001, self._left - (time.monotonic() - begin)))
                got = self._socket.recv_into(view)
                if not got:
                    raise ConnectionError
                view = view[got:]
        except OSError as error:
            self._spent(time.monotonic() - begin)
            raise self.failure() from error
        self._spent(time.monotonic() - begin)
        return raw

    @contextmanager
    def _checked(self, said: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A reply that lacks what is looked for in the block, or has something else there, is the module's fault."""
        try:
            yield said
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
            raise self._garbled() from None

    def _take(self, rows: Any, folder: Path, most_bytes: int | None = None) -> list[Saved]:
        """The tensors that follow a reply. Raises ValueError for rows that are none."""
        folder.mkdir(parents=True)
        if not isinstance(rows, list) or len(rows) > MOST_TENSORS:
            raise ValueError
        found = []
        for number, row in enumerate(rows):
            name, dtype, shape = row.get("name", f"input {number}"), row["dtype"], row["shape"]
            if not (isinstance(name, str) and isinstance(dtype, str) and isinstance(shape, list)):
                raise ValueError
            if len(shape) > MOST_DIMENSIONS or not all(type(size) is int and 0 <= size < 2**48 for size in shape):
                raise ValueError
            if dtype.removeprefix("torch.") not in FILE_BYTES:
                raise self._problem(f"{name[:200]} is {dtype[:100]}, which cannot be compared")
            found.append(Saved(name[:200], dtype, shape, folder / f"{number}.bin"))
        if most_bytes is not None and sum(saved.bytes for saved in found) > most_bytes:
            raise self._problem(f"returns {sum(saved.bytes for saved in found)} bytes, expected at most {most_bytes}")
        for saved in found:
            with saved.path.open("wb") as file:
                for start in range(0, saved.bytes, CHUNK):
                    file.write(self._receive(min(CHUNK, saved.bytes - start)))
        return found

    def _spent(self, seconds: float) -> None:
        self.waited += seconds
        self._left -= seconds

    def failure(self, error: Mapping[str, str] | None = None) -> Exception:
        """Returns the exception to raise when the process is gone, late, or reports a failure."""
        late = self._left <= 0
        # where it ended by itself, the socket closes a moment before its end is known
        finished = self._process.end(10.0 if error is None and not late else 0.0)
        # Late by the judge's clock, whatever kept the supervisor from saying so.
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
        said = failed.error.get("message", failed.first_line)
        return OracleError(f"task {self._reference_of}: the reference's {self._doing} failed: {said[-1000:]}")

    def _problem(self, message: str) -> Exception:
        return self.failure({"type": "Problem", "message": message})

    def _garbled(self) -> Exception:
        return self.failure({"type": "Garbled", "message": "its process did not answer as it should"})


def _mapped(saved: Saved) -> np.ndarray:
    return np.memmap(saved.path, np.uint8, "r") if saved.bytes else np.empty(0, np.uint8)


def digest_of_all(tensors: Sequence[Saved]) -> bytes:
    """Returns the digest of a call's tensors as the worker computes it."""
    return handover.digest(b"".join(handover.digest(_mapped(saved)) for saved in tensors))
