"""The divisor of a step's loss, counted on its batches, compared with plain loops."""

import pytest
import torch

from cuset_stage.objective import ObjectiveSettings, token_terms
from cuset_stage.stage.trainer import count_items


@pytest.mark.parametrize("seed", range(4))
def test_items_are_the_tokens_and_samples_that_have_a_loss(seed):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 4, (3, 12), generator=generator).sort(dim=1).values
    ids[0], ids[1, 0], ids[1, 1:] = 0, 1, 0  # no sample; and only a first token, which nothing predicts
    labels = torch.where(ids > 0, torch.randint(0, 9, ids.shape, generator=generator), -100)
    predicted = [(row, int(ids[row, at])) for row in range(3) for at in range(1, 12) if ids[row, at]]
    assert count_items(labels, None, "tokens") == len(predicted)
    assert count_items(labels, ids, "samples") == len(set(predicted))
    terms = token_terms(torch.zeros(3, 12, 9), labels, None, ids, ObjectiveSettings())
    terms.sample_weight = terms.sample_weight.new_ones(99)  # longer than the samples, as the fused head's may be
    assert [terms.count(how) for how in ("tokens", "samples")] == [len(predicted), len(set(predicted))]
