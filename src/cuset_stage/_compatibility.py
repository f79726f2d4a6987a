"""Whether LLaMA-Factory, as installed, carries the patches of `stage: cuset`. Standard library only; imports nothing of ours.

The start-up hook (_startup) records here what it patched, and stage/ asks before it trains: a patch that fails must not break
`stage: sft`, and must stop `stage: cuset`.
"""

import sys


SUPPORTED = "0.9.5"  # the LLaMA-Factory version the patches were tested with

# Module -> the symbol that cuset_stage.stage.patches.apply(module) changes in it.
SYMBOLS = {
    "llamafactory.extras.constants": "TRAINING_STAGES",
    "llamafactory.hparams.finetuning_args": "FinetuningArguments",
    "llamafactory.hparams.parser": "_parse_args",
    "llamafactory.data.loader": "_get_dataset_processor",
    "llamafactory.train.sft": "run_sft",
}

errors: dict[str, Exception] = {}  # module -> what went wrong when it was patched
applied: set[str] = set()  # modules whose patch is in place


class CompatibilityError(RuntimeError):
    """LLaMA-Factory, as installed, cannot run `stage: cuset`."""


def check() -> None:
    """Raise CompatibilityError unless every LLaMA-Factory module that is loaded carries its patch.

    For the code behind `stage: cuset`: without the patch of, say, train.sft, the run would train plain SFT.
    """
    for name in SYMBOLS:
        # Somebody else's finder can come before ours and load the module alone.
        if name in sys.modules and name not in applied and name not in errors:
            errors[name] = RuntimeError("the module was loaded without passing cuset-stage's import hook")
    if errors:
        raise compatibility_error() from next(iter(errors.values()))


def compatibility_error() -> CompatibilityError:
    """What could not be patched, in which version, and the fix."""
    from importlib import metadata

    from cuset_stage import __version__

    # What is imported, such as a checkout on PYTHONPATH, need not be what is installed.
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
