"""Without what `pip install cuset-stage` brings: labels work in an empty environment, losses and the fused head beside torch alone."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .conftest import ROOT


# docs/labels.md's own code comes between the two parts.
EMPTY = """
import importlib.util
assert not [name for name in ("torch", "transformers", "datasets", "llamafactory", "numpy") if importlib.util.find_spec(name)]
{page}
marked = "".join(text[start:end] for (start, end), bit in zip(offsets, mask, strict=True) if bit)
assert "{{ x[threadIdx.x] = 1; }}" in marked and "Here" not in marked and "float" not in marked, marked
assert find_spans("@triton.jit\\ndef k(x):\\n    f(x)\\n", language="auto")
assert isinstance(find_spans(text, language="triton"), list)
print("works")
"""
PROGRAM = """
import importlib.util, sys
absent = ("llamafactory", "transformers", "pydantic", "tree_sitter", "numpy", "yaml", "tqdm", "datasets", "accelerate", "peft")
present = [name for name in absent if importlib.util.find_spec(name)]
assert not present, present

import torch
from cuset_stage import Span, cuset_loss, find_spans, fused_linear_cuset_loss
from cuset_stage.spans import token_mask
import cuset_stage.stage.head

code = "__global__ void k(float *x) { x[threadIdx.x] = 1; }"
(span,) = find_spans(code)
assert isinstance(span, Span)
start, end, kind = span
assert (kind, code[start:end]) == ("kernel_body", "{ x[threadIdx.x] = 1; }")
mask = token_mask([(at, at + 1) for at in range(len(code))], find_spans(code))
assert sum(mask) == end - start
for language in ("triton", "auto"):
    find_spans(code, language=language)

torch.manual_seed(0)
hidden, weight = torch.randn(1, len(code), 16, requires_grad=True), torch.randn(50, 16)
labels = torch.randint(50, (1, len(code)))
rest = torch.tensor([mask]), torch.ones_like(labels)
losses = [cuset_loss(hidden @ weight.T, labels, *rest), fused_linear_cuset_loss(hidden, weight, labels, *rest)]
assert torch.allclose(*losses, rtol=1e-5), losses
gradients = [torch.autograd.grad(loss, hidden)[0] for loss in losses]
assert torch.allclose(*gradients, atol=1e-6)

print("works")
"""


def files_of(name: str, seen: dict[str, Path]) -> None:
    """Collect what a distribution and those that it requires have in site-packages: top-level name -> path."""
    try:
        found = distribution(name)
    except PackageNotFoundError:  # of another platform
        return
    for file in found.files or ():
        top = file.parts[0]
        if top not in ("..", "__pycache__") and top not in seen:
            seen[top] = Path(found.locate_file(top)).resolve()
    for requirement in found.requires or ():
        other = re.match(r"[\w.-]+", requirement)[0]
        if "extra ==" not in requirement and f"{other}:" not in seen:
            seen[f"{other}:"] = Path()
            files_of(other, seen)


def test_labels_in_an_empty_environment(installed):
    page = (ROOT / "docs" / "labels.md").read_text(encoding="utf-8")
    code = re.search(r'```python {title="mask.py"}\n(.*?)```', page, re.DOTALL)[1]
    done = installed.run("-c", EMPTY.format(page=code))
    assert done.stdout == "works\n", done.stderr


def test_labels_and_losses_beside_torch_alone(installed, tmp_path):
    seen: dict[str, Path] = {}
    files_of("torch", seen)
    beside = tmp_path / "beside"
    beside.mkdir()
    for name, path in seen.items():
        if path.name and path.exists():
            (beside / name).symlink_to(path)
    done = installed.run("-c", PROGRAM, path=beside, seconds=300)
    assert done.stdout == "works\n", done.stderr
