"""Where nvcc is, which version, and what it needs to see. Imports the standard library."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .verdicts import SandboxError


_STANDARD = (Path("/usr"), Path("/bin"))
SETTINGS = ("NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
"""Variables that nvcc reads itself: passed on to it, and part of a cache key."""


@dataclass(frozen=True)
class Toolkit:
    """nvcc: the program itself, behind wrappers and links. version: such as "13.0.88". folder: the toolkit's root."""

    nvcc: Path
    version: str
    folder: Path

    @property
    def visible(self) -> tuple[Path, ...]:
        """Folders beside the standard ones that a compilation reads: the toolkit, and the host compiler's prefix."""
        root = self.folder
        for parent in self.nvcc.parents:  # wheels spread a toolkit over site-packages/nvidia/*
            if parent.name == "nvidia" and parent.parent.name in ("site-packages", "dist-packages"):
                root = parent
        found = [root]
        for host in (os.environ.get("NVCC_CCBIN"), shutil.which("g++")):
            if host and (path := Path(host)).is_absolute():
                found += [path.parent.parent, path.resolve().parent.parent]
        return tuple(
            dict.fromkeys(path for path in found if not any(path.is_relative_to(place) for place in _STANDARD))
        )


def _candidates() -> list[Path]:
    found = [os.environ.get("CUDACXX"), shutil.which("nvcc")]
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            found.append(os.path.join(os.environ[name], "bin", "nvcc"))
    found.append("/usr/local/cuda/bin/nvcc")
    wheels = Path(sysconfig.get_path("purelib")) / "nvidia"
    return [Path(name) for name in found if name] + sorted(wheels.glob("*/bin/nvcc"), reverse=True)


def _inspect(nvcc: Path) -> Toolkit | str:
    """The toolkit behind this nvcc, or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="cuset-nvcc-") as folder:
        try:
            said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=60).stdout
            Path(folder, "empty.cu").touch()
            plan = subprocess.run(
                [nvcc, "--dryrun", "empty.cu"], capture_output=True, text=True, timeout=60, cwd=folder
            ).stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    version = re.search(r"V(\d+\.\d+\.\d+)", said)
    if version is None:
        return f"`{nvcc} --version` names no version"
    here = re.search(r"^#\$ _HERE_=(.+)$", plan, re.MULTILINE)
    real = Path(here[1].strip()).resolve() / "nvcc" if here else nvcc.resolve()
    if not real.is_file():
        real = nvcc.resolve()
    return Toolkit(real, version[1], real.parent.parent)


@functools.lru_cache(maxsize=8)
def _find(candidates: tuple[Path, ...]) -> Toolkit:
    problems = []
    for candidate in candidates:
        if candidate.is_file():
            found = _inspect(candidate)
            if isinstance(found, Toolkit):
                return found
            problems.append(found)
    raise SandboxError(
        "no CUDA compiler found"
        + (f" ({'; '.join(problems)})" if problems else "")
        + ". Install the CUDA toolkit (or `pip install nvidia-cuda-nvcc`) and put nvcc on PATH, or set CUDA_HOME or CUDACXX."
    )


def find_toolkit() -> Toolkit:
    """$CUDACXX, nvcc on PATH, $CUDA_HOME, /usr/local/cuda, or NVIDIA's wheels, in this order.

    Raises SandboxError when none works.
    """
    return _find(tuple(_candidates()))
