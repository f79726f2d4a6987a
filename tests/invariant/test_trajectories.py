"""The same data and the same step size give the same trajectory, however a step is cut into batches, ranks and rows.

Every arrangement runs through the real llamafactory-cli; each optimizer step sees all eight samples. What is held equal is all that a
step logs: the loss, the gradient norm and every statistic of the objective.
"""

import os
from pathlib import Path

import pytest
import transformers
from packaging.version import Version


ROOT = Path(__file__).parent.parent.parent
STEPS = 4
TOLERANCE = 5e-5  # relative; benchmarks/invariants.md has what was found, 2e-7
NOT_COMPARED = {"epoch", "step"}  # with packing an epoch is one row
ZERO_2 = {"deepspeed": str(ROOT / "yaml_configs/deepspeed/ds_z2_config.json")}
# Before transformers 5 LoRA's optimizer has an empty group, which DeepSpeed drops; the scheduler of the suite's torch then counts one
# group too many and stops, under stage: sft as well.
LORA_HAS_ZERO_2 = Version(transformers.__version__) >= Version("5")

PACKED = {"neat_packing": True, "cutoff_len": 648}
ARRANGEMENTS = {
    # name: (batch, accumulation, ranks, further keys)
    "1x8x1": (1, 8, 1, {}),
    "1x1x8": (1, 1, 8, {}),
    "2x2x2": (2, 2, 2, {}),
    "2x1x4 ZeRO-2": (2, 1, 4, ZERO_2),
    "8x1x1": (8, 1, 1, {}),
    "8x1x1 from logits": (8, 1, 1, {"cuset_fused": "off"}),
    "packed 1x1x1": (1, 1, 1, {**PACKED, "cutoff_len": 2048}),
    "packed 1x1x2": (1, 1, 2, PACKED),
}


@pytest.fixture(scope="module")
def train(llamafactory, eight_samples):
    """What each step of a run on the eight samples logs."""

    def run(batch, accumulation, ranks, keys, **options):
        known = {"stage": "cuset", "dataset_dir": str(eight_samples), "dataset": "eight", "max_steps": STEPS}
        known |= {"per_device_train_batch_size": batch, "gradient_accumulation_steps": accumulation}
        steps = llamafactory({**known, **keys}, ranks=ranks, **options).steps
        return [{name: step[name] for name in step.keys() - NOT_COMPARED} for step in steps]

    return run


def check_same_steps(found, expected):
    """Two runs log the same, within TOLERANCE; returns the largest relative difference."""
    assert len(found) == len(expected) == len({step["loss"] for step in expected})
    worst = 0.0
    for step, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert set(ours) == set(theirs)
        for key, value in theirs.items():
            difference = abs(ours[key] - value) / max(abs(value), 1e-6)
            worst = max(worst, difference)
            assert difference < TOLERANCE, f"step {step}: {key} is {ours[key]}, expected is {value}"
    return worst


@pytest.fixture(scope="module")
def trajectory(train):
    def of(name):
        *cut, keys = ARRANGEMENTS[name]
        real = name == "2x2x2"  # by the console script and torchrun themselves
        return train(*cut, {"cuset_window": 16, "cuset_tau": 0.002, **keys}, real=real)

    return of


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("1x1x8", "2x2x2", "2x1x4 ZeRO-2") else ())
        for name in ARRANGEMENTS
        if name != "1x8x1" and (LORA_HAS_ZERO_2 or "ZeRO" not in name)
    ],
)
def test_the_arrangement_does_not_matter(trajectory, name):
    found = trajectory(name)
    worst = check_same_steps(found, trajectory("1x8x1"))
    if os.environ.get("CUSET_INVARIANT_TABLE"):
        with open(os.environ["CUSET_INVARIANT_TABLE"], "a", encoding="utf-8") as table:
            losses = ", ".join(f"{step['loss']:.6f}" for step in found)
            table.write(f"| {name} | {losses} | {worst:.1e} |\n")


def test_the_loss_goes_down(trajectory):
    losses = [step["loss"] for step in trajectory("1x8x1")]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize(
    "objective", ["dft", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sft", "eaft", "asft", "profit"))]
)
def test_the_baselines_are_exact_over_batches_ranks_and_rows(train, objective):
    """One batch of all, two ranks with accumulation under ZeRO-2, and (ASFT, whose reference has to see the same) packed rows."""
    keys = {"cuset_objective": objective, "asft_alpha": 5.0, "max_steps": 3}
    keys |= {"prob_threshold": "0.0007"} if objective == "profit" else {}
    others = [(2, 2, 2, ZERO_2 if LORA_HAS_ZERO_2 else {})]
    if objective == "asft":  # DDP, by the fused head and from logits
        others += [(1, 1, 2, {**PACKED, "cuset_fused": "on"}), (4, 1, 2, {"cuset_fused": "off"})]
    expected = train(8, 1, 1, keys)
    for *cut, more in others:
        check_same_steps(train(*cut, {**keys, **more}), expected)


@pytest.mark.parametrize("zero_2", [False, True], ids=["DDP", "ZeRO-2"])
def test_a_trained_head_is_exact_over_ranks(train, zero_2):
    """Full fine-tuning: the head's gradient is formed by us, next to those that the wrappers collect."""
    keys = {"cuset_fused": "on", "cuset_window": 16, "finetuning_type": "full", "learning_rate": 1.0e-3}
    two = train(2, 2, 2, {**keys, **(ZERO_2 if zero_2 else {})})
    check_same_steps(two, train(8, 1, 1, keys))


OWN_RULE = """
from cuset_stage.objective import rule


@rule("a rule of one's own", sample_weight=lambda region: 1.5 - region, kl=lambda options: 0.3)
def own(tokens):
    return (1 - tokens.confidence) ** 2 + tokens.entropy * tokens.is_cuda / (1 + tokens.position)
"""


def test_a_rule_of_one_s_own_is_exact_over_ranks(train, tmp_path):
    """Statistics of the vocabulary, places in the sample, weights of samples and a KL term to the base model, over two ranks."""
    (tmp_path / "rules.py").write_text(OWN_RULE)
    keys = {"cuset_objective": f"{tmp_path / 'rules.py'}:own", "cuset_window": 16, "max_steps": 2}
    check_same_steps(train(2, 2, 2, keys), train(8, 1, 1, keys))


def test_the_statistics_are_within_their_bounds(trajectory):
    for step in trajectory("1x8x1"):
        shares = [value for key, value in step.items() if key.endswith(("_share", "_confidence"))]
        assert all(0 <= share <= 1 for share in shares)
        assert 0 < step["cuset/cuda_share"] < 1
        assert step["cuset/sample_weight_min"] <= step["cuset/sample_weight_mean"] <= step["cuset/sample_weight_max"]
        assert step["cuset/sample_weight_mean"] == pytest.approx(1 - step["cuset/region_confidence_mean"], abs=1e-5)
        cuda = step["cuset/cuda_share"]
        assert step["cuset/nll"] == pytest.approx(
            cuda * step["cuset/cuda_nll"] + (1 - cuda) * step["cuset/other_nll"], rel=1e-4
        )
