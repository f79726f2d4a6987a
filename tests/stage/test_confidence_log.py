"""`cuset_analyze_steps`: what is logged is what `cuset analyze` measures, on any number of ranks, and training goes on as without it."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp

from cuset_stage.analysis.analyze import analyze
from cuset_stage.analysis.requests import AnalyzeSettings
from cuset_stage.objective import TokenTerms
from cuset_stage.stage.confidence_log import ROWS, confidence_rows, summary


ROOT = Path(__file__).parents[2]
RECIPE = {
    "stage": "cuset",
    "eval_dataset": "cuset_kernels_eval",
    "cutoff_len": 900,
    "max_samples": 20,
    "lora_dropout": 0.2,  # takes random numbers
    "max_steps": 4,
    "per_device_eval_batch_size": 3,
    "per_device_train_batch_size": 1,
}


def entries(run):
    return {entry["step"]: entry for entry in run.history if "cuset/analyze_ks_distance" in entry}


@pytest.fixture(scope="module")
def watched(llamafactory):
    return llamafactory(RECIPE | {"cuset_analyze_steps": 2})


@pytest.mark.parametrize("location", [-11.0, 0.0, 9.0])
def test_numbers_against_scipy(location):
    rng = np.random.default_rng(0)
    nll = torch.from_numpy(np.log1p(np.exp(-rng.normal(location, 1.5, 3000)))).float()
    is_cuda, row = torch.from_numpy(rng.random(3000) < 0.4), torch.from_numpy(np.sort(rng.integers(0, 5, 3000)))
    nothing = torch.zeros(3000)
    terms = TokenTerms(nll, (-nll).exp(), nothing, is_cuda, row, row, nothing, nothing)
    rows = confidence_rows(terms, 5, 0.1)
    assert rows.shape[0] == 5 and rows[:, :, 2:].sum(dim=(1, 2)).tolist() == np.bincount(row).tolist()
    found = summary(rows.double().sum(dim=0))
    confidence = np.exp(-nll.numpy().astype(float))
    for name, values in (("cuda", confidence[is_cuda]), ("other", confidence[~is_cuda.numpy()])):
        assert found[f"cuset/analyze_{name}_confidence"] == pytest.approx(values.mean(), rel=1e-4)
        assert found[f"cuset/analyze_{name}_at_most_tau"] == pytest.approx((values <= 0.1).mean(), abs=1e-9)
    expected = ks_2samp(confidence[is_cuda], confidence[~is_cuda.numpy()]).statistic
    assert found["cuset/analyze_ks_distance"] == pytest.approx(expected, abs=3e-3)


def test_no_token_of_one_kind_is_no_distance():
    nll, zeros = torch.tensor([0.5, 1.0]), torch.zeros(2)
    terms = TokenTerms(nll, (-nll).exp(), zeros, zeros.bool(), zeros.long(), zeros.long(), zeros, zeros)
    assert list(summary(confidence_rows(terms, 1, 0.1)[0])) == [
        "cuset/analyze_other_confidence",
        "cuset/analyze_other_at_most_tau",
    ]


def test_before_the_first_step_it_is_what_analyze_measures(watched, tiny_model, tmp_path):
    logged = entries(watched)
    assert list(logged) == [0, 2, 4] and len({entry["cuset/analyze_ks_distance"] for entry in logged.values()}) == 3
    written = [json.loads(line) for line in (watched.output_dir / "trainer_log.jsonl").read_text().splitlines()]
    assert len(written) == len(watched.history)
    for ours, entry in zip(written, watched.history, strict=True):
        assert {key: value for key, value in entry.items() if key.startswith("cuset/")}.items() <= ours.items()
    settings = {
        "models": str(tiny_model),
        "dataset": "cuset_kernels_eval",
        "dataset_dir": str(ROOT / "data"),
        "samples": RECIPE["max_samples"],
    }
    settings |= {"cutoff_len": 900, "device": "cpu", "output": tmp_path}
    (model,) = analyze(AnalyzeSettings.checked(settings))["models"].values()
    found = model["notions"]["eq3"]
    assert logged[0]["cuset/analyze_ks_distance"] == pytest.approx(found["ks"]["d"]["value"], abs=4e-3)
    for ours, name in (("cuda", "sensitive"), ("other", "neutral")):
        assert logged[0][f"cuset/analyze_{ours}_confidence"] == pytest.approx(found[name]["mean"]["value"], rel=1e-4)
        assert logged[0][f"cuset/analyze_{ours}_at_most_tau"] == pytest.approx(
            found[name]["at_most_tau"]["value"], abs=1e-6
        )


def test_training_goes_on_as_without_it(llamafactory, watched):
    plain = llamafactory(RECIPE)
    assert [step["loss"] for step in plain.steps] == [step["loss"] for step in watched.steps]
    assert not entries(plain)


def test_two_ranks_log_what_one_does(llamafactory, watched):
    """20 rows in batches of 3 on 2 ranks: the last batch is filled up with rows that must not count twice."""
    two = llamafactory(RECIPE | {"cuset_analyze_steps": 4}, ranks=2)
    one, other = entries(watched)[0], entries(two)[0]
    for name, value in one.items():
        if name.startswith("cuset/analyze_"):
            assert other[name] == pytest.approx(value, rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize(
    "changes", [{"cuset_fused": "off"}, {"eval_dataset": None, "packing": True, "cutoff_len": 896}]
)
def test_from_logits_and_without_evaluation_data(llamafactory, watched, changes):
    run = llamafactory(RECIPE | {"cuset_analyze_steps": 4, "max_steps": 1} | changes)
    (entry,) = entries(run).values()
    if "cuset_fused" in changes:
        assert entry["cuset/analyze_ks_distance"] == pytest.approx(
            entries(watched)[0]["cuset/analyze_ks_distance"], abs=2e-3
        )
    assert math.isfinite(entry["cuset/analyze_cuda_confidence"])


def test_evaluation_reads_all_its_rows(llamafactory):
    """With persistent workers the Trainer keeps the loader of its evaluation data, which has more rows than are read here."""
    changes = {"eval_dataset": None, "val_size": ROWS + 6, "max_samples": ROWS + 8, "cutoff_len": 200, "max_steps": 1}
    changes |= {"eval_strategy": "steps", "per_device_eval_batch_size": 10, "cuset_analyze_steps": 1}
    run = llamafactory(RECIPE | changes | {"dataloader_num_workers": 1, "dataloader_persistent_workers": True})
    (found,) = run.evaluations
    assert found["eval_runtime"] * found["eval_samples_per_second"] == pytest.approx(ROWS + 6, rel=0.01)


def test_a_wrong_number_is_refused(llamafactory):
    run = llamafactory(RECIPE | {"cuset_analyze_steps": -1}, check=False)
    assert run.returncode and "cuset_analyze_steps=-1: expected a number of steps" in run.output
