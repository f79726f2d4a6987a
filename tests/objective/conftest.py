import sys
from pathlib import Path

import pytest
import torch


sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def batch():
    """Make a batch with several samples a row, unsupervised gaps, uneven confidence and CUDA spans."""

    def make(shape=(2, 47, 31), seed=0, scale=3.0, samples=3, dtype=torch.float32):
        generator = torch.Generator().manual_seed(seed)
        rows, length, vocab = shape
        logits = scale * torch.randn(rows, length, vocab, generator=generator)
        labels = torch.randint(0, vocab, (rows, length), generator=generator)
        # Make some targets likely, so that confidences spread over (0, 1).
        likely = torch.rand(rows, length, generator=generator) < 0.6
        best = logits.argmax(-1).roll(1, dims=1)
        labels = torch.where(likely, best, labels)
        sample_ids = torch.zeros(rows, length, dtype=torch.long)
        cuda_mask = torch.zeros(rows, length, dtype=torch.long)
        for row in range(rows):
            cuts = torch.randperm(length - 1, generator=generator)[: 2 * samples].sort().values + 1
            for number, (start, end) in enumerate(cuts.view(-1, 2).tolist(), start=1):
                sample_ids[row, start:end] = number
                middle = (start + end) // 2
                cuda_mask[row, start:middle] = 1
        labels = torch.where(sample_ids > 0, labels, -100)
        return logits.to(dtype), labels, cuda_mask, sample_ids

    return make
