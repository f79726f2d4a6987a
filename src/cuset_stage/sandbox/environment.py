"""The environment variables of a command that nobody trusts: made anew, nothing of the judge's own but where libraries lie."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from .gpus import Gpu


_PASSED_ON = ("LD_LIBRARY_PATH", "TZ")


@functools.cache
def _search_path(visible: tuple[Path, ...]) -> str:
    own = [str(path / "bin") for path in visible if (path / "bin").is_dir()]
    return ":".join(
        [*own, "/usr/local/cuda/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    )


def clean_environment(folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> dict[str, str]:
    """The whole environment of a command: nothing of the judge's own but where libraries lie and the time zone."""
    scratch = str(folder / "tmp")
    environment = {
        "PATH": _search_path(tuple(visible)),
        "HOME": scratch,
        "TMPDIR": scratch,
        "XDG_CACHE_HOME": scratch,
        "CUDA_CACHE_PATH": f"{scratch}/cuda",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": gpu.uuid if gpu is not None else "",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "USER": "nobody",
    }
    return environment | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def library_folders() -> list[Path]:
    """Absolute, existing entries of LD_LIBRARY_PATH that are not system folders: the program needs to see them."""
    entries = (Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part.startswith("/"))
    return [path for path in entries if path.is_dir() and path not in (Path("/"), Path.home())]
