"""Batches, heads and settings that cannot be right are refused, with the fix, by the readable loss and by the fused
head.
"""

import pytest
import torch
from loss_cases import Case, make_case

from cuset_stage.objective import ObjectiveSettings, cuset_loss, fused_objective


NAN, INF = float("nan"), float("inf")


COLUMNS = ("labels", "cuda_mask", "sample_ids")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("hidden", lambda hidden: hidden[0], "expected (hidden|logits)"),
        ("labels", lambda labels: labels[:, :-1], "labels has the shape"),
        ("cuda_mask", lambda mask: mask[:1], r"cuda_mask has the shape \[1, 47\]"),
        ("sample_ids", lambda ids: ids[:1], "sample_ids has the shape"),
        ("weight", lambda weight: weight[:, :-1], "different hidden sizes"),
        *((name, lambda column: column.to("meta"), f"{name} is on meta, hidden on cpu") for name in COLUMNS),
        ("bias", lambda bias: bias[:5], "bias has the shape"),
        ("weight", torch.Tensor.bfloat16, "expected one floating dtype"),
    ],
)
def test_tensors_that_do_not_belong_together(name, change, message):
    case = make_case(bias=True)
    setattr(case, name, change(getattr(case, name)))
    with pytest.raises(ValueError, match=message):
        fused_objective(case.hidden, case.weight, *case.batch, ObjectiveSettings(), bias=case.bias)
    if ("has the shape" in message and name != "bias") or "logits" in message:
        with pytest.raises(ValueError, match=message):
            cuset_loss(case.logits(case.hidden, case.weight, case.bias), *case.batch)


@pytest.mark.parametrize(("backend", "message"), [("cuda", "expected auto, torch or triton"), ("triton", "on a GPU")])
def test_backends_that_cannot_be(backend, message):
    with pytest.raises(ValueError, match=message):
        make_case().fused(ObjectiveSettings(), backend=backend)


@pytest.mark.parametrize("trained", [("hidden",), ("hidden", "weight"), ()])
@pytest.mark.parametrize(
    ("what", "value", "message"),
    [
        *(("labels", label, f"{label}, outside the vocabulary of 123|from {label} .*outside") for label in (-1, 123, 10**6)),
        *(("hidden", value, r"1 of \d+ supervised tokens have NaN or infinite logits") for value in (NAN, INF)),
        ("base_hidden", NAN, "NaN or infinite"),
    ],
)  # fmt: skip
def test_bad_values_are_reported(what, value, message, trained):
    """The backward pass raises the error, or the forward pass if nothing requires a gradient."""
    case = make_case(trained=trained)
    place = int(case.is_token[0].nonzero()[0])
    getattr(case, what)[0, place + (what == "labels")] = value
    settings = ObjectiveSettings(objective="asft" if what == "base_hidden" else "cuset")
    for method in (Case.fused,) if what == "base_hidden" else (Case.fused, Case.dense):
        with pytest.raises(ValueError, match=message):
            method(case, settings)


@pytest.mark.parametrize("count", [0, torch.tensor(0)])
@pytest.mark.parametrize("trained", [("hidden",), ()])
def test_an_infinite_loss_of_finite_logits_is_none_of_the_models(count, trained):
    """With a divisor of 0 the loss is infinite, as the readable loss is.

    There must be no error that blames the model's logits.
    """
    case = make_case(trained=trained)
    found, expected = (method(ObjectiveSettings(), num_items_in_batch=count) for method in (case.fused, case.dense))
    assert found[0] == expected[0] == INF and torch.isfinite(found[2].nll).all()


def test_asft_wants_a_reference_that_fits():
    case = make_case()
    settings, options = ObjectiveSettings(objective="asft"), {"chunk_rows": 40}
    for reference, message in (
        (None, "pass reference"),
        ((case.hidden[:, :-1], None), "same batch and length"),
        ((case.hidden[..., :-1], None), "different hidden sizes"),
        ((case.hidden, (case.weight[:, :-1], None)), "different hidden sizes"),
        ((case.hidden, (case.weight[:-1], None)), "expected 123 rows, as the head has"),
        ((case.hidden, (case.weight, case.weight[:1, 0])), "reference bias has the shape"),
    ):
        with pytest.raises(ValueError, match=message):
            case.fused(settings, reference=reference, **options)
    case.fused(ObjectiveSettings(objective="asft", asft_alpha=0.0), reference=None)  # no KL: needs no reference


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(tau=1.5), r"cuset_tau=1.5: expected a probability in \[0, 1\)"),
        (dict(tau=NAN), "cuset_tau"),
        (dict(tau="0.1"), "cuset_tau='0.1'"),
        (dict(lam=-1), "cuset_lambda=-1: expected a finite number >= 0"),
        *((dict(window=value), f"cuset_window={value}: expected a number of tokens >= 1") for value in (0, 2.5, 10**18, INF, NAN)),
        (dict(region_scope="file"), "cuset_region_scope='file': expected one of response, cuda"),
        (dict(normalization="batch"), "cuset_normalization='batch': expected one of tokens, samples"),
    ],
)  # fmt: skip
def test_values_out_of_range_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        cuset_loss(None, None, None, None, **change)
