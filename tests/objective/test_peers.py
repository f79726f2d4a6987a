"""The objectives of other papers against their formulas: PyTorch's own derivative of the published loss, in float64."""

import pytest
import torch
from test_fused_parity import gradients, make_case

from cuset_stage.objective import ObjectiveSettings


def published(case, loss):
    """Gradient with respect to the hidden states of the mean of `loss` over supervised tokens.

    loss: from log p of the targets [N], differentiable, the base model's probabilities [N, V] and the targets [N].
    """
    leaves = case.leaves()
    keep = case.labels[:, 1:] != -100
    target = case.labels[:, 1:][keep]
    log_p = case.logits(**leaves)[:, :-1][keep].log_softmax(-1).gather(1, target[:, None])[:, 0]
    q = case.logits(case.base_hidden, case.weight, case.bias)[:, :-1][keep].softmax(-1)
    return gradients(loss(log_p, q, target).mean(), leaves)


PEERS = {
    "-p": ("power", {}, lambda log_p, q, y: -log_p.exp()),
    "(1 - p^10) / 10": ("power", {"alpha": 10}, lambda log_p, q, y: (1 - log_p.exp() ** 10) / 10),
    "-p^10": ("power", {"alpha": 10}, lambda log_p, q, y: -(log_p.exp() ** 10) / 10),
    "-log p": ("power", {"alpha": 0}, lambda log_p, q, y: -log_p),
    "p^-0.5": ("power", {"alpha": -0.5}, lambda log_p, q, y: (1 - log_p.exp() ** -0.5) / -0.5),
    "OnlyTopP": ("power", {"above": 0.2}, lambda log_p, q, y: (1 - log_p.exp()) * (log_p.exp() >= 0.2)),
    "OnlyBottomP": ("power", {"below": 0.2}, lambda log_p, q, y: (1 - log_p.exp()) * (log_p.exp() <= 0.2)),
    "OnlyTopLogP": ("power", {"alpha": 0, "above": 0.2}, lambda log_p, q, y: -log_p * (log_p.exp() >= 0.2)),
    "OnlyBottomLogP": ("power", {"alpha": 0, "below": 0.2}, lambda log_p, q, y: -log_p * (log_p.exp() <= 0.2)),
    "PriFT-prob": ("prift_prob", {}, lambda log_p, q, y: -log_p * q.gather(1, y[:, None])[:, 0]),
    "PriFT-mass": (
        "prift_mass",
        {"threshold": 0.4},
        lambda log_p, q, y: torch.stack(
            [
                -one * float(sum(v for v in row.tolist() if v < row[token]) + row[token] >= 0.4)
                for one, row, token in zip(log_p, q, y, strict=True)
            ]
        ),
    ),
}


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight", "bias")])
@pytest.mark.parametrize("name", PEERS)
def test_the_gradient_is_that_of_the_published_loss(name, trained):
    objective, options, loss = PEERS[name]
    case = make_case((2, 25, 9, 31), bias=True, trained=trained, seed=30, dtype=torch.float64)
    expected = published(case, loss)
    _, found, terms = case.fused(ObjectiveSettings(objective=objective, options=options), chunk_rows=13)
    for part, gradient in expected.items():
        torch.testing.assert_close(found[part], gradient, rtol=1e-8, atol=1e-12)
    assert (terms.weight > 0).float().mean() > 0
    if "Only" in name or "mass" in name:
        assert (terms.weight == 0).any()  # the threshold divides these tokens


def test_dft_of_the_base_model_is_prift_prob():
    case = make_case(seed=31)
    one, two = (
        case.fused(ObjectiveSettings(window=8, **how))
        for how in ({"objective": "prift_prob"}, {"objective": "dft", "confidence": "base"})
    )
    assert torch.equal(one[0], two[0]) and torch.equal(one[1]["hidden"], two[1]["hidden"])
