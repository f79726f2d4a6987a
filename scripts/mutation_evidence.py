"""Why a mutant that wrote right outputs did so: the same machine code as the original, or an error that only a checker sees.

`machine_code` compiles a program and takes what the GPU and the CPU will execute; two programs with equal machine code are
one program. `Sanitizer` runs a program under the tools of compute-sanitizer and keeps the kinds of error they report.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuset_stage.sandbox import SandboxError, Toolkit


TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
_HEAD = re.compile(r"^========= (?=\S)(.+?)\s*$", re.MULTILINE)
_NO_REPORT = re.compile(
    r"COMPUTE-SANITIZER|.*SUMMARY:|.*[Tt]arget application|.*No attachable process|Warning: .*limit"
)
_DETAIL = re.compile(r" (?:at|in|on|by|due to|for) .*|\.$")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")


@dataclass(frozen=True)
class MachineCode:
    """SHA-256 of the cubin, and of the host's object file without the device code that is embedded in it."""

    device: str
    host: str


def machine_code(
    toolkit: Toolkit, source: str, *, flags: Sequence[str], arch: str, seconds: float = 120.0
) -> MachineCode | None:
    """What nvcc makes of a program; None when it does not compile in time.

    The same source gives the same bytes, whatever the folder (seen with nvcc 13.0). Raises SandboxError without binutils.
    """
    objcopy = shutil.which("objcopy")
    if objcopy is None:
        raise SandboxError("no objcopy: comparing machine code needs binutils (`apt install binutils`)")
    with tempfile.TemporaryDirectory(prefix="cuset-code-") as name:
        folder = Path(name)
        (folder / "program.cu").write_text(source, encoding="utf-8", newline="")
        compile_ = [str(toolkit.nvcc), *flags, f"-arch={arch}", "--keep", "-c", "program.cu", "-o", "program.o"]
        (folder / "nothing").write_bytes(bytes(8))  # the section itself must stay: the host code refers to it
        without = [objcopy, "--update-section", ".nv_fatbin=nothing", "program.o", "host.o"]
        for command in (compile_, without):
            ended, _ = run_limited(command, folder, seconds)
            if ended != 0:
                return None
        cubins = sorted(folder.glob("*.cubin"))
        if not cubins:
            raise SandboxError(f"nvcc -arch={arch} made no cubin; give a real architecture, such as sm_90")
        device = hashlib.sha256(b"".join(cubin.read_bytes() for cubin in cubins)).hexdigest()
        return MachineCode(device, hashlib.sha256((folder / "host.o").read_bytes()).hexdigest())


def with_lines_of(original: str, mutant: str, line: int) -> str:
    """The mutant with empty lines at `line` (1-based) for those that its edit took, so that __LINE__ stays what it was."""
    lost = original.count("\n") - mutant.count("\n")
    if lost <= 0:
        return mutant
    lines = mutant.split("\n")
    return "\n".join([*lines[: line - 1], *[""] * lost, *lines[line - 1 :]])


def find_sanitizer(toolkit: Toolkit) -> Path | None:
    """compute-sanitizer on PATH, or in the toolkit."""
    found = shutil.which("compute-sanitizer")
    places = [Path(found)] if found else []
    places += [
        toolkit.folder / "bin" / "compute-sanitizer",
        toolkit.folder / "compute-sanitizer" / "compute-sanitizer",
    ]
    return next((place for place in places if place.is_file()), None)


@dataclass(frozen=True)
class Sanitized:
    """One run under one tool. complete: the program ended with 0. errors: their kinds, without places and numbers."""

    complete: bool
    errors: frozenset[str]


@dataclass(frozen=True)
class Sanitizer:
    """compute-sanitizer, with a time limit in seconds for one run. Runs outside the sandbox, which would hide the program
    from it: for programs of our own only.
    """

    program: Path
    seconds: float = 30.0

    def run(self, tool: str, binary: Path, inputs: Mapping[str, Path], gpu: str) -> Sanitized:
        """inputs: name in the working directory -> file, copied. gpu: the UUID of the one that the program sees."""
        with tempfile.TemporaryDirectory(prefix="cuset-sanitizer-") as name:
            folder = Path(name)
            (folder / "data").mkdir()
            for path, file in inputs.items():
                shutil.copyfile(file, folder / path)
            command = [str(self.program), "--tool", tool, "--print-limit", "50", str(binary)]
            environment = {**os.environ, "CUDA_VISIBLE_DEVICES": gpu}
            ended, output = run_limited(command, folder, self.seconds, environment)
        return Sanitized(ended == 0 and "SUMMARY:" in output, read_reports(output))


def read_reports(output: str) -> frozenset[str]:
    """The kinds of error in what compute-sanitizer printed."""
    heads = (match[1] for match in _HEAD.finditer(output))
    return frozenset(_NUMBER.sub("N", _DETAIL.sub("", head)) for head in heads if not _NO_REPORT.match(head))


def run_limited(
    command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> tuple[int | None, str]:
    """Exit code (None: stopped at the limit) and output of a command whose whole session ends with it."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            ended = process.wait(seconds)
        except subprocess.TimeoutExpired:
            ended = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        return ended, log.read(4 * 2**20).decode(errors="replace")
