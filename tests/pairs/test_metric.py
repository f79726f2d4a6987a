"""`cuset_pairs` in a recipe: what is logged is what the model's own differences say, however the run is made."""

from types import SimpleNamespace

import pytest
from features import deepspeed

from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.pairs.likelihood import differences
from cuset_stage.pairs.metric import PairsMetric
from cuset_stage.pairs.rows import read_pairs
from cuset_stage.pairs.summary import summarise


KEYS = {"stage": "cuset", "learning_rate": 0.0, "max_steps": 2, "val_size": 2}
KEYS |= {"eval_strategy": "steps", "eval_steps": 1}


@pytest.fixture(scope="module")
def expected(pair_file, model, tokenizer, template):
    """The accuracy of the model before training."""
    pairs = read_pairs(str(pair_file))
    found = differences(pairs, template, tokenizer, lambda rows: token_log_probabilities(model, rows))
    return summarise(pairs, list(found))["accuracy"]["from_change"]["value"]


FULL = {"finetuning_type": "full"}
BEST = {"metric_for_best_model": "pairs_accuracy", "load_best_model_at_end": True}
BEST |= {"save_strategy": "steps", "save_steps": 1}
PACKED = {"packing": True, "neat_packing": True, "cuset_fused": "off"}
ONE_RANK = {"FORCE_TORCHRUN": "1", "NPROC_PER_NODE": "1"}  # on CPUs LLaMA-Factory starts no more under ZeRO-3


@pytest.mark.parametrize(
    ("keys", "launch"),
    [
        ({**FULL, **BEST}, {}),
        pytest.param(PACKED, {"ranks": 2}, marks=pytest.mark.slow),
        pytest.param({**FULL, "deepspeed": deepspeed(2)}, {"ranks": 2}, marks=pytest.mark.slow),
        pytest.param({**FULL, "deepspeed": deepspeed(3)}, ONE_RANK, marks=pytest.mark.slow),
    ],
    ids=["full", "LoRA, packed, two ranks, from logits", "ZeRO-2, two ranks", "ZeRO-3, sharded weights"],
)
def test_it_is_logged_at_each_evaluation(llamafactory, pair_file, expected, keys, launch):
    run = llamafactory({**KEYS, **keys, "cuset_pairs": str(pair_file)}, **launch)
    logged = [entry["eval_pairs_accuracy"] for entry in run.evaluations]
    assert logged == [pytest.approx(expected)] * 2


def test_the_best_checkpoint_is_measured_again(pair_file, monkeypatch):
    """The Trainer loads it at the end of training, at the same step."""
    metric, measured = PairsMetric(str(pair_file), None), []
    monkeypatch.setattr(metric, "_measure", lambda trainer: measured.append(trainer) or len(measured))
    trainer = SimpleNamespace(state=SimpleNamespace(global_step=4), is_in_train=True)
    assert [metric(trainer), metric(trainer)] == [{"eval_pairs_accuracy": 1}] * 2
    trainer.is_in_train = False
    assert metric(trainer) == {"eval_pairs_accuracy": 2}


@pytest.mark.slow
def test_a_quantised_model_is_measured(llamafactory, pair_file):
    if pytest.importorskip("bitsandbytes").functional.has_avx512bf16():
        pytest.skip("after an evaluation bitsandbytes does not train on, on a processor with AVX512-BF16")
    keys = {"quantization_bit": 4, "cuset_pairs": str(pair_file), "cuset_pairs_samples": 6}
    (first, second) = llamafactory({**KEYS, **keys}).evaluations
    assert first["eval_pairs_accuracy"] == second["eval_pairs_accuracy"] and 0 <= first["eval_pairs_accuracy"] <= 1
