"""Rules: the registry, what a rule may read and return, and agreement of the fused head and the readable loss for any
rule.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_cases import assert_same, make_case, weights_of

from cuset_stage.objective import ObjectiveSettings, Tokens, rule
from cuset_stage.objective.rules import INTEGERS, STATISTICS, MadeUpTokens
from cuset_stage.text import InputError


PAGE = (Path(__file__).parents[2] / "docs" / "objectives.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'```python {title="rules.py"}\n(.*?)```', PAGE, re.DOTALL)
TRAINED = [("hidden",), ("hidden", "weight", "bias")]


def focal(tokens):
    return (1 - tokens.confidence) ** 2


@dataclass
class Options:
    gamma: float = 2.0
    above: float = 0.0


def with_options(tokens, options: Options):
    return (1 - tokens.confidence) ** options.gamma * (tokens.probability > options.above)


def of(function, **options) -> ObjectiveSettings:
    """Return settings whose rule is this function or lambda, made available as an attribute of this module."""
    sys.modules[__name__].made = function
    return ObjectiveSettings(objective=f"{__name__}:made", **{"window": 8, **options})


# ---- the registry


def test_the_rules_of_the_documentation_work_when_pasted(tmp_path, monkeypatch):
    assert len(BLOCKS) == 4 and len(BLOCKS[0].splitlines()) <= 5
    case = make_case(seed=32)
    found, titles = [], []
    for number, (block, options) in enumerate(zip(BLOCKS[:3], ({}, {"gamma": 1.5}, {}), strict=True)):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        Path("rules.py").write_text(block)
        settings = ObjectiveSettings(objective="rules.py:focal", options=options, window=8)
        found.append(case.fused(settings))
        titles.append(settings.rule.title)
        assert_same(found[-1], case.dense(settings))
    assert titles == ["rules.py:focal", "rules.py:focal", "focal loss, sure samples left out"]
    assert_same(found[0], case.fused(of(focal)))
    torch.testing.assert_close(found[1][2].weight, (1 - found[1][2].confidence) ** 1.5)
    terms = found[2][2]
    assert terms.penalty is not None and (terms.sample_weight == (terms.region_confidence < 0.9)).all()


def deft_loss(p, base, y):
    """DEFT: a deformed logarithm whose order is the sum of squared probabilities, with the 1e-6 of DEFT's trainer."""
    alpha = (p * p).sum().detach()
    return (1 - p[y] ** alpha) / (alpha + 1e-6)


def infosft_loss(p, base, y):
    """InfoSFT: the weight q relu(1 - logit(q) / logit(P)), with the P of its trainer."""
    q, limit = p[y].detach(), torch.tensor(0.93, dtype=p.dtype)
    return -p[y].log() * q * (1 - torch.logit(q) / torch.logit(limit)).relu()


PUBLISHED = {  # name -> loss of a token from the model's probabilities, the base model's, and the target
    "power": lambda p, base, y: 1 - p[y],
    "prift_prob": lambda p, base, y: -p[y].log() * base[y],
    "prift_mass": lambda p, base, y: -p[y].log() * (base[y] + base[base < base[y]].sum() >= 0.5),
    "deft": deft_loss,
    "infosft": infosft_loss,
    "chord_phi": lambda p, base, y: -p[y].log() * (p[y] - p[y] ** 2).detach(),
}


@pytest.fixture
def papers(tmp_path):
    """The documentation's code block with rules of other papers: the path of a file with it, and the names that it
    defines.
    """
    (tmp_path / "rules.py").write_text(BLOCKS[3])
    defined = {}
    exec(BLOCKS[3], defined)
    return tmp_path / "rules.py", defined


def assert_published(case, settings, published):
    """Check that the gradient is the derivative of a published loss, as autograd computes it. Return both losses.

    The losses agree only if the published one has the form of a weighted cross-entropy, whose factors are the rule's
    weights.
    """
    loss, gradient, _ = case.fused(settings, chunk_rows=9)
    leaves, keep = case.leaves(), case.is_token
    p = case.logits(**leaves)[:, :-1][keep].softmax(-1)
    base = case.logits(case.base_hidden, case.weight, case.bias)[:, :-1][keep].softmax(-1)
    tokens = zip(p, base, case.labels[:, 1:][keep], strict=True)
    expected = torch.stack([published(*token) for token in tokens]).mean()
    expected.backward()
    torch.testing.assert_close(gradient["hidden"], leaves["hidden"].grad, rtol=1e-8, atol=1e-12)
    return loss, expected.detach()


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_rules_of_other_papers_are_the_published_losses(name, papers):
    """The case has sure and unsure tokens."""
    lines = re.search(rf"def {name}\(tokens\):\n(?:    .*\n)+", papers[0].read_text())[0].splitlines()
    assert len(lines) <= 5
    case = make_case(bias=True, seed=30, dtype=torch.float64)
    case.weight *= 3
    assert_published(case, ObjectiveSettings(objective=f"{papers[0]}:{name}"), PUBLISHED[name])


def asft(alpha):
    """ASFT: DFT's loss plus alpha times the divergence from the base model."""
    return lambda p, base, y: -p[y].log() * p[y].detach() + alpha * (base * (base / p).log()).sum()


def profit(low, high):
    return lambda p, base, y: -p[y].log() * (low <= p[y] <= high)


@pytest.mark.parametrize(
    ("options", "published"),
    [
        ({"objective": "asft"}, asft(0.1)),
        ({"objective": "asft", "asft_alpha": 0.7}, asft(0.7)),
        ({"objective": "profit"}, profit(0.1, 1)),
        ({"objective": "profit", "prob_threshold": (0.3,), "threshold_direction": "lower"}, profit(0, 0.3)),
        ({"objective": "profit", "prob_threshold": (0.05, 0.7), "threshold_direction": "middle"}, profit(0.05, 0.7)),
        ({"objective": "profit", "prob_threshold": (0.0,), "threshold_direction": "random"}, profit(0, 1)),
    ],
)
def test_asft_and_profit_are_the_published_losses(options, published):
    case = make_case((2, 23, 12, 41), seed=9, dtype=torch.float64)
    torch.testing.assert_close(*assert_published(case, ObjectiveSettings(**options), published))


@pytest.mark.parametrize("name", ["deft", "infosft", "chord_phi"])
def test_certain_and_impossible_tokens_have_finite_weights(name, papers):
    p, nll = torch.tensor([0.0, 1e-30, 1.0]), torch.tensor([200.0, 69.1, 0.0])
    weight = papers[1][name](Tokens(probability=p, confidence=p, nll=nll, concentration=torch.ones(3)))
    assert weight.isfinite().all() and (weight[:2] < 1e-27).all()
    assert weight[2] == pytest.approx(float(name == "deft"), abs=1e-5)


@dataclass
class Needed:
    gamma: float


def with_a_default(tokens, options: Needed = Needed(3.0)):  # noqa: B008
    return tokens.confidence**options.gamma


def needs_an_option(tokens, options: Needed):
    return tokens.confidence**options.gamma


def test_options_are_those_of_the_rule_s_own_class():
    assert of(with_options, options={"gamma": 3}).rule_options == Options(gamma=3.0)
    assert of(with_options).rule_options == Options()
    with pytest.raises(InputError, match="stand in the recipe itself: eaft_alpha"):
        ObjectiveSettings(objective="eaft", options={"alpha": 3})


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (with_options, {"gama": 3}, "has no option 'gama'; did you mean gamma"),
        (with_options, {"gamma": "many"}, "gamma: Input should be a valid number"),
        (focal, {"gamma": 3}, "takes no options"),
        (
            lambda tokens, gamma=2.0: tokens.nll**gamma,
            {},
            r"second argument, gamma, takes the options\. Annotate it.*options: Options",
        ),
        (with_a_default, {}, r"second argument, options, takes the options.* give it no default"),
        (needs_an_option, {}, r"made': gamma: Field required\."),
    ],
)
def test_options_that_cannot_be_used_are_refused(function, options, message):
    with pytest.raises(InputError, match=message):
        of(function, options=options)


# ---- what is refused


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (rule(sample_weight=lambda _: 1.0)(lambda t: t.confidence), "gave float; expected one weight for each sample"),
        (rule(kl=lambda options: -1.0)(lambda t: t.confidence), "the KL factor of .*=-1.0: expected >= 0"),
        (lambda t: (t.confidence > 0.5).long(), "weights of torch.int64; .* Write .float"),
        (lambda t: 2.0, "gave float; expected one weight for each token.* torch.full_like"),
        (lambda t: t.confidence[:3], r"gave a tensor \[3\]"),
        (lambda t: t.nll * torch.ones((), requires_grad=True), "weights with a gradient.* Write .detach"),
        (lambda t: t.confidenze, "tokens has no 'confidenze'; did you mean confidence"),
        (lambda t: {}["no such thing"], "the rule failed with KeyError"),
    ],
)
def test_what_is_no_weight_is_refused_before_a_model_is_loaded(function, message):
    with pytest.raises(ValueError, match=message):
        of(function)


def test_a_rule_of_ones_own_is_never_taken_for_pointwise():
    case, settings = make_case(), of(rule(pointwise=True)(lambda t: t.confidence / t.confidence.mean()))
    assert not settings.rule.pointwise and ObjectiveSettings(objective="dft").rule.pointwise
    assert_same(case.fused(settings), case.dense(settings))


@pytest.mark.parametrize("function", [lambda t: (t.probability * 0) ** -1.0, lambda t: t.nll * torch.nan])
@pytest.mark.parametrize("trained", TRAINED)
def test_weights_that_are_no_numbers_are_refused_in_the_first_batch(function, trained):
    case = make_case(bias=True, trained=trained)
    for method in (case.fused, case.dense):
        with pytest.raises(ValueError, match=r"gave .* NaN or infinite weights of .*clamp_min"):
            method(of(function))


def test_a_read_that_made_up_tokens_do_not_show_is_told_to_be_declared():
    def hidden_read(tokens):
        return tokens.entropy if len(tokens.nll) > 50 else tokens.nll

    case = make_case()
    with pytest.raises(InputError, match=r"tokens.entropy was not computed.*@rule\(reads=\('entropy',\)\)"):
        case.fused(of(hidden_read))
    declared = of(rule(reads=("entropy",))(hidden_read))
    assert_same(case.fused(declared), case.dense(declared))


# ---- what a rule can read


def test_the_head_computes_what_a_rule_reads_and_no_more():
    assert ObjectiveSettings().measured == () and of(focal).measured == ()
    assert ObjectiveSettings(objective="eaft").measured == ("top_entropy",)
    assert not of(focal).needs_reference and ObjectiveSettings(objective="asft").needs_reference
    assert ObjectiveSettings(confidence="base").measured == ("base_probability",)


def everything(tokens):
    values = [getattr(tokens, name) for name in STATISTICS]
    return sum(value.float() for value in values)


@pytest.mark.parametrize("trained", TRAINED)
def test_every_statistic_is_right(trained, monkeypatch):
    """Each statistic is compared with plain loops in float64."""
    case = make_case((2, 23, 12, 41), bias=True, trained=trained, seed=22, dtype=torch.float64)
    case.cuda_mask = case.cuda_mask * 3
    case.sample_ids[1] += 2  # begins with the number that the row before ends with
    weights, settings = weights_of(case), of(everything)
    seen = {}
    weigh = ObjectiveSettings.weigh

    def note(self, tokens):
        if not isinstance(tokens, MadeUpTokens):
            seen.update({name: getattr(tokens, name) for name in STATISTICS})
        return weigh(self, tokens)

    monkeypatch.setattr(ObjectiveSettings, "weigh", note)
    case.fused(settings, token_weights=weights, chunk_rows=7)
    both = [case.logits(h, case.weight, case.bias) for h in (case.hidden, case.base_hidden)]
    index, samples, position = 0, {}, {}
    for row in range(2):
        for t in range(1, 23):
            y = int(case.labels[row, t])
            if y == -100:
                continue
            sample = (row, int(case.sample_ids[row, t]))
            samples.setdefault(sample, len(samples))
            position[sample] = position.get(sample, -1) + 1
            expected = {"sample": samples[sample], "position": position[sample], "kind": int(case.cuda_mask[row, t])}
            expected |= {"is_cuda": case.cuda_mask[row, t] > 0, "given_weight": float(weights[row, t])}
            for prefix, logits in zip(("", "base_"), both, strict=True):
                z = logits[row, t - 1].tolist()
                p = logits[row, t - 1].softmax(-1).tolist()
                top = sorted(z, reverse=True)[:20]
                top = torch.tensor(top, dtype=torch.float64).softmax(-1)
                expected |= {
                    prefix + "probability": p[y],
                    prefix + "entropy": -sum(q * torch.tensor(q).log().item() for q in p),
                    prefix + "top_entropy": -(top * top.log()).sum().item(),
                    prefix + "rank": sum(v > z[y] for v in z),
                    prefix + "margin": z[y] - max(v for i, v in enumerate(z) if i != y),
                    prefix + "mass": p[y] + sum(q for q in p if q < p[y]),
                    prefix + "concentration": sum(q * q for q in p),
                }
            for name, value in expected.items():
                assert float(seen[name][index]) == pytest.approx(float(value), rel=1e-5, abs=1e-6), (name, index)
            assert seen["confidence"][index] == seen["probability"][index]
            index += 1
    assert index == len(seen["nll"])
    assert {name for name in STATISTICS if not seen[name].is_floating_point()} == {*INTEGERS, "is_cuda"}


# ---- any rule


numbers = [name for name in STATISTICS if name not in ("is_cuda", *INTEGERS)]
leaves = st.one_of(
    st.floats(-2, 2).map(lambda x: f"torch.full_like(t.nll, {x})"),
    st.sampled_from(numbers).map(lambda name: f"t.{name}"),
    st.sampled_from(["t.is_cuda.float()", "t.position.float()", "t.kind.float()", "t.sample.float()"]),
)
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: "({} {} {})".format(*parts)),
        st.tuples(st.sampled_from(["torch.tanh", "torch.sigmoid", "torch.relu"]), inner).map(
            lambda p: f"{p[0]}({p[1]})"
        ),
        st.tuples(inner, inner).map(lambda p: f"torch.where({p[0]} > 0.30103, {p[1]}, 0.5)"),
        inner.map(lambda x: f"({x} - {x}.mean())"),
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(
    formula=formulas,
    weighs=st.booleans(),
    kl=st.sampled_from([0.0, 0.4]),
    trained=st.sampled_from(TRAINED),
    confidence=st.sampled_from(["online", "base"]),
    rows=st.sampled_from([None, 11]),
)
def test_fused_and_readable_agree_for_any_rule(formula, weighs, kl, trained, confidence, rows):
    sample_weight = (lambda region: 1.5 - region) if weighs else None
    made = rule("made", sample_weight=sample_weight, kl=lambda options: kl)
    chosen = of(made(eval(f"lambda t: {formula}", {"torch": torch})), window=5, confidence=confidence)
    case = make_case((2, 30, 8, 37), bias=True, trained=trained, seed=24, dtype=torch.float64)
    case.cuda_mask = case.cuda_mask * 4
    columns = {"token_weights": weights_of(case).double()}
    expected = case.dense(chosen, **columns)
    actual = case.fused(chosen, chunk_rows=rows, **columns)
    assert_same(actual, expected, tolerance=2e-4)


# ---- the confidence


def test_the_base_model_s_confidence_makes_dft_of_the_frozen_model():
    case = make_case(seed=25)
    terms = case.fused(ObjectiveSettings(objective="dft", confidence="base"))[2]
    base = case.logits(case.base_hidden, case.weight, None)[:, :-1][case.is_token].softmax(-1)
    expected = base.gather(1, case.labels[:, 1:][case.is_token][:, None])[:, 0]
    torch.testing.assert_close(terms.weight, expected)
    torch.testing.assert_close(terms.confidence, expected)
