"""cuset-stage: `stage: cuset` for LLaMA-Factory (CuSeT, arXiv 2606.16231).

Every Python process of an environment in which cuset-stage is installed imports this file at start-up. It therefore
imports nothing itself. The public names are loaded from their subpackages on first use (PEP 562).
"""

__version__ = "0.2.0"

TYPE_CHECKING = False  # type checkers treat this name like typing.TYPE_CHECKING, and typing need not be imported
if TYPE_CHECKING:
    from cuset_stage.objective import cuset_loss, fused_linear_cuset_loss
    from cuset_stage.spans import Span, find_spans

__all__ = ["Span", "__version__", "cuset_loss", "find_spans", "fused_linear_cuset_loss"]

_SUBPACKAGES = {
    "Span": "cuset_stage.spans",
    "cuset_loss": "cuset_stage.objective",
    "find_spans": "cuset_stage.spans",
    "fused_linear_cuset_loss": "cuset_stage.objective",
}


def __getattr__(name: str):
    if name not in _SUBPACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_SUBPACKAGES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBPACKAGES})
