"""What the log says: the same whatever the micro-batches and ranks, and the same as a direct computation."""

import pytest
import torch

from cuset_stage.objective import ObjectiveMeter, ObjectiveSettings, token_terms


def meter_over(batches, settings):
    meter = ObjectiveMeter()
    for batch in batches:
        meter.update(token_terms(*batch, settings), settings.tau)
    return meter


def test_averages_are_over_tokens_and_samples(batch):
    settings = ObjectiveSettings(window=8)
    whole = batch((4, 60, 23), seed=1)
    terms = token_terms(*whole, settings)
    result = meter_over([whole], settings).compute(torch.device("cpu"))

    cuda = terms.is_cuda
    expected = {
        "nll": terms.nll.mean(),
        "confident_share": (terms.confidence > 0.1).float().mean(),
        "cuda_share": cuda.float().mean(),
        "left_out_share": (terms.weight == 0).float().mean(),
        "cuda_confidence": terms.confidence[cuda].mean(),
        "cuda_nll": terms.nll[cuda].mean(),
        "other_confidence": terms.confidence[~cuda].mean(),
        "other_nll": terms.nll[~cuda].mean(),
        "region_confidence_mean": terms.region_confidence.mean(),
        "region_confidence_min": terms.region_confidence.min(),
        "region_confidence_max": terms.region_confidence.max(),
        "sample_weight_mean": terms.sample_weight.mean(),
        "sample_weight_min": terms.sample_weight.min(),
        "sample_weight_max": terms.sample_weight.max(),
    }
    assert result == {name: pytest.approx(float(value), rel=1e-5) for name, value in expected.items()}


def test_micro_batches_do_not_change_the_averages(batch):
    settings = ObjectiveSettings(window=8)
    whole = batch((4, 60, 23), seed=2)
    whole[1][1, 20:] = -100  # rows of very different length
    empty = batch((1, 60, 23), seed=3)
    empty[1][:] = -100
    parts = [[tensor[row : row + 1] for tensor in whole] for row in range(4)]
    together = meter_over([whole], settings).compute(torch.device("cpu"))
    apart = meter_over([*parts, empty], settings).compute(torch.device("cpu"))
    assert apart == {name: pytest.approx(value, rel=1e-5) for name, value in together.items()}


def test_ranks_are_reduced_by_sum_and_maximum(batch):
    settings = ObjectiveSettings(window=8)
    whole = batch((4, 60, 23), seed=4)
    ranks = [meter_over([[t[rows] for t in whole]], settings) for rows in (slice(0, 1), slice(1, 4))]
    sent = []

    def collect(values):
        sent.append(values)
        return values

    for rank in ranks:
        rank.compute(torch.device("cpu"), collect)
    gathered = iter([torch.cat(sent[::2]), torch.cat(sent[1::2])])  # sums, then maxima, of both ranks
    result = ObjectiveMeter().compute(torch.device("cpu"), lambda _: next(gathered))
    expected = meter_over([whole], settings).compute(torch.device("cpu"))
    assert result == {name: pytest.approx(value, rel=1e-5) for name, value in expected.items()}


def test_nothing_seen_gives_nothing_and_compute_starts_anew(batch):
    meter = meter_over([batch()], ObjectiveSettings())
    assert meter.compute(torch.device("cpu"))
    assert meter.compute(torch.device("cpu")) == {}


def test_a_mean_over_no_token_is_left_out(batch):
    logits, labels, cuda_mask, sample_ids = batch()
    result = meter_over([(logits, labels, torch.zeros_like(cuda_mask), sample_ids)], ObjectiveSettings())
    names = result.compute(torch.device("cpu"))
    assert "cuda_nll" not in names and "other_nll" in names
