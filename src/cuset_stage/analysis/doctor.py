"""Whether `stage: cuset` works in this environment, and what to do when it does not.

Looks at the packages' metadata and the start-up hook first, then imports LLaMA-Factory as `llamafactory-cli train` would.
"""

import contextlib
import importlib
import io
import os
import platform
import shlex
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .. import __version__, _compatibility, _startup


PACKAGES = (
    "llamafactory",
    "torch",
    "transformers",
    "peft",
    "accelerate",
    "datasets",
    "deepspeed",
    "trl",
    "tree-sitter",
    "tree-sitter-cuda",
)
BUILD_MINUTES = 60  # no build of an operator takes longer


@dataclass(frozen=True)
class Finding:
    """One thing looked at: `state` is ok, note (worth knowing) or fail (stage: cuset would not work)."""

    state: str
    subject: str
    result: str
    way_out: str = ""


def examine() -> list[Finding]:
    """Everything worth knowing, in the order in which things fail."""
    findings = [Finding("ok", "cuset-stage", f"{__version__}, Python {platform.python_version()}")]
    findings += [_package(name) for name in PACKAGES]
    findings.append(_hook())
    if all(finding.state != "fail" for finding in findings):
        findings.append(_spans())
        findings.append(_patches())
        findings.append(_device())
        findings += _build_locks()
    return findings


def _allowed(package: str) -> str | None:
    """The range that cuset-stage itself asks for, such as `<0.10,>=0.9.5`."""
    from packaging.requirements import Requirement

    with contextlib.suppress(metadata.PackageNotFoundError):
        for line in metadata.requires("cuset-stage") or []:
            requirement = Requirement(line)
            if requirement.name == package and requirement.marker is None:
                return str(requirement.specifier)
    return None


def _package(name: str) -> Finding:
    from packaging.specifiers import SpecifierSet

    allowed = _allowed(name)
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding("fail", name, "is not installed", f'pip install "{name}{allowed or ""}"')
    if name == "llamafactory" and installed != _compatibility.SUPPORTED:
        return Finding(
            "note",
            name,
            f"{installed}; cuset-stage was tested with {_compatibility.SUPPORTED}",
            f"if the patches below do not apply: pip install llamafactory=={_compatibility.SUPPORTED}",
        )
    if allowed and not SpecifierSet(allowed).contains(installed, prereleases=True):
        return Finding("note", name, f"{installed}; cuset-stage asks for {allowed}", f'pip install "{name}{allowed}"')
    return Finding("ok", name, installed)


def _hook() -> Finding:
    if _startup.disabled():
        return Finding(
            "fail",
            "start-up hook",
            "is turned off by CUSET_STAGE_DISABLE",
            "unset CUSET_STAGE_DISABLE and run it again",
        )
    if any(getattr(finder, "is_cuset_stage_finder", False) for finder in sys.meta_path):
        return Finding("ok", "start-up hook", "is active: llamafactory-cli knows stage: cuset")
    return Finding(
        "fail",
        "start-up hook",
        "is not active: Python did not read cuset_stage.pth",
        "install again (pip install --force-reinstall --no-deps cuset-stage; in a checkout pip install -e .), or train with: "
        "python -m cuset_stage train recipe.yaml",
    )


def _spans() -> Finding:
    from ..spans import find_spans

    found = [span.kind for span in find_spans("__global__ void f(int *x) { *x = 1; }\nvoid g() { f<<<1, 2>>>(0); }\n")]
    if found == ["kernel_body", "launch_config"]:
        return Finding("ok", "span finder", "finds a kernel and its launch")
    return Finding(
        "fail",
        "span finder",
        f"finds {found or 'nothing'} in a kernel and its launch",
        "pip install --force-reinstall tree-sitter tree-sitter-cuda",
    )


def _patches() -> Finding:
    # LLaMA-Factory and DeepSpeed greet on both streams when they are imported.
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for module in _compatibility.SYMBOLS:
                importlib.import_module(module)
        _compatibility.check()
    except _compatibility.CompatibilityError as error:
        return Finding("fail", "patches", str(error))
    except Exception as error:
        return Finding(
            "fail",
            "patches",
            f"LLaMA-Factory cannot be imported: {type(error).__name__}: {error}",
            "install a set of versions that belong together: pip install -c requirements/constraints.txt cuset-stage",
        )
    return Finding(
        "ok", "patches", f"{len(_compatibility.SYMBOLS)} of {len(_compatibility.SYMBOLS)} apply to LLaMA-Factory"
    )


def _device() -> Finding:
    import torch

    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return Finding("ok", "GPU", ", ".join(names))
    return Finding("note", "GPU", "none found: only small models train on a CPU", "try it with: bash scripts/demo.sh")


def _build_locks() -> list[Finding]:
    """Locks in torch's extension cache: DeepSpeed compiles its operators there, and waits for ever for a build that was killed."""
    from torch.utils.cpp_extension import get_default_build_root

    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or get_default_build_root())
    findings = []
    for lock in sorted([*root.glob("*/lock"), *root.glob("*/*/lock")]):
        try:
            minutes = (time.time() - lock.stat().st_mtime) / 60
        except FileNotFoundError:  # the build has just ended
            continue
        is_old = minutes > BUILD_MINUTES
        age = f"{minutes:.0f} minutes old; every run that needs this operator (DeepSpeed) waits while it is there"
        findings.append(
            Finding(
                "fail" if is_old else "note",
                "build lock",
                f"{lock} is {age}. " + ("Its build was probably killed" if is_old else "A build may be running"),
                f"{'if no build is running' if is_old else 'if it stays'}: rm {shlex.quote(str(lock))}",
            )
        )
    return findings
