"""Record whether the installed LLaMA-Factory carries the patches of `stage: cuset`.

The start-up hook (`_startup`) records here which modules it patched, and `stage/` calls `check` before it trains. A
patch that fails must not break `stage: sft`, but it must stop `stage: cuset`. The hook imports this file in every
Python process, so it needs only the standard library and imports nothing else of this package at its top.
"""

import sys


SUPPORTED = "0.9.5"  # the LLaMA-Factory version the patches were tested with

# LLaMA-Factory module -> the name in it that cuset_stage.stage.patches.apply(module) changes.
SYMBOLS = {
    "llamafactory.extras.constants": "TRAINING_STAGES",
    "llamafactory.hparams.finetuning_args": "FinetuningArguments",
    "llamafactory.hparams.parser": "_parse_args",
    "llamafactory.data.loader": "_get_dataset_processor",
    "llamafactory.train.sft": "run_sft",
}

errors: dict[str, Exception] = {}  # module -> the error with which its patch failed
applied: set[str] = set()  # the modules whose patch is in place


class CompatibilityError(RuntimeError):
    """The installed LLaMA-Factory cannot run `stage: cuset`."""


def check() -> None:
    """Check that every loaded LLaMA-Factory module of `SYMBOLS` carries its patch.

    The code behind `stage: cuset` calls this. Without the patch of, for example, train.sft, the run would train plain
    SFT.

    Raises:
        CompatibilityError: if a patch failed or is missing.
    """
    for name in SYMBOLS:
        # Another package's finder can come before ours on sys.meta_path and load the module without our patch.
        if name in sys.modules and name not in applied and name not in errors:
            errors[name] = RuntimeError("the module was loaded without passing cuset-stage's import hook")
    if errors:
        raise compatibility_error() from next(iter(errors.values()))


def compatibility_error() -> CompatibilityError:
    """Return the error that says what could not be patched, in which version of LLaMA-Factory, and how to fix it."""
    from importlib import metadata

    from cuset_stage import __version__

    # The imported package, such as a checkout on PYTHONPATH, may differ from the installed one, so its version comes
    # first.
    installed = getattr(sys.modules.get("llamafactory"), "__version__", None)
    try:
        installed = installed or metadata.version("llamafactory")
    except metadata.PackageNotFoundError:
        installed = "of unknown version"
    failures = "; ".join(
        f"{name}.{SYMBOLS[name]} ({type(error).__name__}: {error})" if name in SYMBOLS else f"{name} ({error!r})"
        for name, error in errors.items()
    )
    if installed == SUPPORTED:
        fix = "That version is supported, so one of the two is damaged: install both again"
    else:
        fix = f"Supported is {SUPPORTED}: pip install llamafactory=={SUPPORTED}"
    return CompatibilityError(
        f"cuset-stage {__version__} could not patch LLaMA-Factory {installed}: {failures}. {fix}, "
        "or train without CuSeT by `stage: sft`."
    )
