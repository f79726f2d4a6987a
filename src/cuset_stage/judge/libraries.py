"""Shared libraries of ours that programs under test load: built once, by nvcc, and kept below the cache."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..files import file_sha256
from ..sandbox import SandboxError, Toolkit, cache_root
from ..sandbox.cache import Cache, Held


SUMS = "sha256.json"
_held: list[Held] = []  # whoever has the path of a library uses it until this process ends


def build_library(
    name: str, sources: Sequence[Path], toolkit: Toolkit, *, options: Sequence[str] = (), beside: Path | None = None
) -> Path:
    """The library `name`, built where the cache does not have it, or has it damaged: every program would fail with that.

    sources: the .cpp files to compile, and headers. beside: a library to link with, of which a copy lies beside ours and is found there.
    Raises SandboxError when nvcc refuses them; OSError, SubprocessError.
    """
    parts = [name, *map(file_sha256, sources), toolkit.version, list(options), beside and file_sha256(beside)]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    libraries = Cache(cache_root() / "libraries")

    def build(place: Path) -> Path:
        with libraries.new(place) as making:
            command = [toolkit.nvcc, "-shared", "-std=c++17", "-O2", "-cudart", "none", "-Xcompiler", "-fPIC"]
            command += [*options, *(path for path in sources if path.suffix == ".cpp")]
            if beside is not None:
                shutil.copyfile(beside, making / beside.name)
                command += ["-Xlinker", making / beside.name, "-Xlinker", "-rpath=$ORIGIN"]
            done = subprocess.run([*command, "-o", making / name], capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise SandboxError(f"nvcc refuses {sources[0].name}: {(done.stderr or done.stdout).strip()[-1000:]}")
            sums = {path.name: file_sha256(path) for path in making.iterdir()}
            (making / SUMS).write_text(json.dumps(sums), encoding="utf-8")
            for path in (making, *making.iterdir()):
                path.chmod(0o755)
        return place / name

    def read(place: Path) -> Path | None:
        try:
            sums = json.loads((place / SUMS).read_text(encoding="utf-8"))
            return place / name if all(file_sha256(place / part) == sha256 for part, sha256 in sums.items()) else None
        except (OSError, ValueError):
            return None

    library, held = libraries.take(key, read, build)
    _held.append(held)
    return library
