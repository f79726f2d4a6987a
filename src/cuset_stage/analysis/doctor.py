"""Check that `stage: cuset` works in this environment, and name a fix for each problem.

The metadata of the packages and the start-up hook are checked first. Only if these are in order is LLaMA-Factory
imported, as `llamafactory-cli train` would import it.
"""

import contextlib
import importlib
import io
import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rich.console import Console
from rich.text import Text

from .. import _compatibility, _startup, attention
from ..sandbox import SandboxError, find_toolkit


PACKAGES = ["llamafactory", "torch", "transformers", "peft", "accelerate", "datasets", "deepspeed", "trl"]
PACKAGES += ["tree-sitter", "tree-sitter-cuda"]

AGAIN = "install the checkout or wheel again with pip install --force-reinstall"
OPTIONAL = {"bitsandbytes": "is not installed: only models in 4 and 8 bits (quantization_bit) need it"}


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        state: "ok", "note" (worth knowing) or "fail" (`stage: cuset` would not work).
        subject: name of what was checked.
        result: what was found, as the end of a sentence that begins with the subject.
        fix: what the user can do about it. Empty if nothing is to be done.
    """

    state: str
    subject: str
    result: str
    fix: str = ""


def examine() -> Iterator[Finding]:
    """Run all checks and yield their findings, each as soon as it is made.

    The order is that in which problems would show up in a training run. The later checks import LLaMA-Factory and
    torch, and are left out if an earlier one failed.
    """
    findings = [_package("cuset-stage"), Finding("ok", "Python", platform.python_version())]
    findings += [_package(name) for name in (*PACKAGES, *OPTIONAL)]
    findings.append(_hook())
    yield from findings
    if all(finding.state != "fail" for finding in findings):
        for check in (_patches, _device, _attention, _compiler):  # the first imports LLaMA-Factory, which takes long
            yield check()


def _package(name: str) -> Finding:
    """Compare a package's version with the versions that cuset-stage and LLaMA-Factory require."""
    allowed = SpecifierSet()
    for owner in ("cuset-stage", "llamafactory"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            for requirement in map(Requirement, metadata.requires(owner) or []):
                if requirement.name == name and requirement.marker is None:
                    allowed &= requirement.specifier
    fix = f'pip install "{name}{allowed}"'
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding("note" if name in OPTIONAL else "fail", name, OPTIONAL.get(name, "is not installed"), fix)
    if not allowed.contains(installed, prereleases=True):
        return Finding("note", name, f"{installed}; cuset-stage and LLaMA-Factory take {allowed}", fix)
    return Finding("ok", name, installed)


def _hook() -> Finding:
    """Check that the start-up hook has installed its import finder."""
    name = "start-up hook"
    if _startup.disabled():
        fix = "unset CUSET_STAGE_DISABLE and run it again"
        return Finding("fail", name, "is turned off by CUSET_STAGE_DISABLE", fix)
    if any(getattr(finder, "is_cuset_stage_finder", False) for finder in sys.meta_path):
        return Finding("ok", name, "is active: llamafactory-cli knows stage: cuset")
    fix = f"{AGAIN} --no-deps, or train with: python -m cuset_stage train recipe.yaml"
    return Finding("fail", name, "is not active: Python did not read cuset_stage.pth", fix)


def _patches() -> Finding:
    """Import the modules of LLaMA-Factory that cuset-stage patches, and check that the patches apply."""
    # LLaMA-Factory and DeepSpeed print messages to both streams when they are imported.
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for module in _compatibility.SYMBOLS:
                importlib.import_module(module)
        _compatibility.check()
    except _compatibility.CompatibilityError as error:
        return Finding("fail", "patches", str(error))
    except Exception as error:
        fix = _torch_fix() or f"{AGAIN}, for versions that belong together"
        while error.__cause__ is not None:  # transformers wraps what went wrong in messages that do not say it
            error = error.__cause__
        return Finding("fail", "patches", f"LLaMA-Factory cannot be imported: {type(error).__name__}: {error}", fix)
    return Finding("ok", "patches", f"all {len(_compatibility.SYMBOLS)} apply to LLaMA-Factory")


def _torch_fix() -> str | None:
    """Say how to install torchvision and torchaudio anew if one of them cannot be imported, else return None.

    Their compiled parts load only beside the torch they were built for. With a CPU build of torch alone, pip adds
    those of PyPI, which are built for CUDA.
    """
    broken = []
    for name in ("torchvision", "torchaudio"):
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        except Exception:
            broken.append(name)
    if not broken:
        return None
    version, _, build = metadata.version("torch").partition("+")
    index = f" --index-url https://download.pytorch.org/whl/{build}" if build else ""
    return (
        f"{' and '.join(broken)} cannot be loaded beside torch {metadata.version('torch')}; install what belongs to it: "
        f"pip uninstall -y {' '.join(broken)} && pip install torch=={version} {' '.join(broken)}{index}"
    )


def _device() -> Finding:
    import torch

    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return Finding("ok", "GPU", ", ".join(names))
    fix = "cuset init FOLDER model=MODEL gpus=0 makes a recipe for one"
    return Finding("note", "GPU", "none found: only small models train on a CPU", fix)


def _attention() -> Finding:
    """Report whether torch's cuDNN attention has a known fault on these GPUs and is in use.

    cuset-stage does not change plain SFT (`stage: sft`), so the finding names the variable that switches it off there.
    """
    name = "cuDNN attention"
    fault = attention.known_fault("cuda")
    if fault is None:
        return Finding("ok", name, "is left as torch has it: nothing is known against it on the GPUs here")
    if attention.is_wanted():
        return Finding("note", name, f"is on: {fault}", f"unset {attention.VARIABLE}")
    result = f"is off under stage: cuset and in cuset's commands: {fault}"
    return Finding("note", name, result, "for stage: sft: export TORCH_CUDNN_SDPA_DEPRIORITIZED=1")


def _compiler() -> Finding:
    """Check that `cuset evaluate` can compile answers here. Training does not need a compiler."""
    try:
        toolkit = find_toolkit()
    except SandboxError as error:
        return Finding(
            "note", "nvcc", "does not work: only `cuset evaluate` and what else judges programs need it", str(error)
        )
    return Finding("ok", "nvcc", f"{toolkit.version} in {toolkit.folder}")


def print_findings(findings: Iterable[Finding]) -> bool:
    """Print the findings, each with its fix, and a last line with the overall result. Return whether none failed."""
    console = Console()
    marks = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "fail": ("FAIL", "bold red")}
    failed = 0
    for finding in findings:
        failed += finding.state == "fail"
        line = Text.assemble(marks[finding.state], "  ", (finding.subject, "bold"), "  ", finding.result)
        console.print(line, soft_wrap=True)
        if finding.fix:
            console.print(Text(f"      {finding.fix}"), soft_wrap=True)
    verdict = f"stage: cuset does not work here: {failed} to put right." if failed else "stage: cuset works here."
    console.print(Text(verdict, style="bold red" if failed else "bold green"))
    return not failed
