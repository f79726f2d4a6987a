"""Shared libraries of ours that programs under test load: built once, by nvcc, and kept below the cache."""

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..files import file_lock, file_sha256
from ..sandbox import SandboxError, Toolkit, cache_root, remove_tree


SUMS = "sha256.json"


def build_library(
    name: str, sources: Sequence[Path], toolkit: Toolkit, *, options: Sequence[str] = (), beside: Path | None = None
) -> Path:
    """The library `name`, built where the cache does not have it, or has it damaged: every program would fail with that.

    sources: the .cpp files to compile, and headers. beside: a library to link with, of which a copy lies beside ours and is found there.
    Raises SandboxError when nvcc refuses them; OSError, SubprocessError.
    """
    parts = [name, *map(file_sha256, sources), toolkit.version, list(options), beside and file_sha256(beside)]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    root = cache_root() / "libraries"
    place = root / key
    with file_lock(root / "build.lock"):
        if not _is_whole(place):
            making = Path(tempfile.mkdtemp(prefix="making-", dir=root))
            try:
                command = [toolkit.nvcc, "-shared", "-std=c++17", "-O2", "-cudart", "none", "-Xcompiler", "-fPIC"]
                command += [*options, *(path for path in sources if path.suffix == ".cpp")]
                if beside is not None:
                    shutil.copyfile(beside, making / beside.name)
                    command += ["-Xlinker", making / beside.name, "-Xlinker", "-rpath=$ORIGIN"]
                done = subprocess.run([*command, "-o", making / name], capture_output=True, text=True, timeout=300)
                if done.returncode != 0:
                    said = (done.stderr or done.stdout).strip()[-1000:]
                    raise SandboxError(f"nvcc refuses {sources[0].name}: {said}")
                sums = {path.name: file_sha256(path) for path in making.iterdir()}
                (making / SUMS).write_text(json.dumps(sums), encoding="utf-8")
                for path in (making, *making.iterdir()):
                    path.chmod(0o755)
                remove_tree(place)
                making.rename(place)
            finally:
                remove_tree(making)
    return place / name


def _is_whole(place: Path) -> bool:
    try:
        sums = json.loads((place / SUMS).read_text(encoding="utf-8"))
        return all(file_sha256(place / name) == one for name, one in sums.items())
    except (OSError, ValueError):
        return False
