"""Round a model's matrices, so that it packs into a third of its size and moves between machines: python scripts/round_model.py MODEL

Every matrix gets 6 bits a weight and a scale a row; the rounded model replaces the one in MODEL. The miniature's base models are rounded in this
way before anything is trained on them (docs/miniature.md).
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


BITS = 6


def rounded(weight: torch.Tensor) -> torch.Tensor:
    """[rows, columns] on a grid of 2^BITS - 1 values, the row's largest magnitude at its end; vectors stay."""
    if weight.dim() < 2:
        return weight
    scale = weight.float().abs().amax(1, keepdim=True).clamp_min(1e-12) / (2 ** (BITS - 1) - 1)
    return ((weight.float() / scale).round() * scale).to(weight.dtype)


def main() -> None:
    path = Path(sys.argv[1]) / "model.safetensors"
    before = load_file(path)
    after = {name: rounded(weight) for name, weight in before.items()}
    save_file(after, path, metadata={"format": "pt"})
    error = sum((before[name].float() - after[name].float()).square().sum() for name in before)
    print(f"relative square error {error / sum(weight.float().square().sum() for weight in before.values()):.2e}")


if __name__ == "__main__":
    main()
