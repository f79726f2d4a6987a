"""The numbers of the heat map against a direct computation on a tiny model."""

import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from cuset_stage.analysis.confidence import Sample, collect, make_reading, make_sample, token_texts
from cuset_stage.analysis.requests import HeatmapSettings
from cuset_stage.analysis.token_probabilities import token_log_probabilities
from cuset_stage.objective import ObjectiveSettings, token_terms
from cuset_stage.settings import SettingsError

from .conftest import ROOT


WINDOW = 32


def read(models, **changes):
    settings = {"model": models / "after", "before": models / "before", "dataset": "cuset_kernels_eval"}
    settings |= {"dataset_dir": ROOT / "data", "samples": 1, "cutoff_len": 900, "window": WINDOW, "device": "cpu"}
    settings |= {"output": "page.html", **changes}
    return collect(HeatmapSettings.read([f"{key}={value}" for key, value in settings.items() if value is not None]))


@pytest.fixture(scope="module")
def page(models):
    return read(models)


def test_every_token_against_a_direct_computation(models, page):
    (sample,) = page
    tokenizer = AutoTokenizer.from_pretrained(models / "after")
    model = AutoModelForCausalLM.from_pretrained(models / "after").eval()
    ids = tokenizer("".join(sample.texts), return_tensors="pt").input_ids
    assert ids.size(1) == len(sample.texts)  # the texts are the tokens' own, none lost and none twice

    with torch.no_grad():
        p = model(ids).logits[0].double().softmax(dim=-1)
    reading = sample.readings["after"]
    for position, confidence in enumerate(reading.confidence):
        assert (confidence is None) == (not sample.supervised[position])
        if confidence is not None:
            assert confidence == pytest.approx(float(p[position - 1, ids[0, position]]), rel=1e-4)

    # The windows by the book: a mean over each slice.
    first = sample.supervised.index(True)
    values = reading.confidence[first:]
    means = []
    for t in range(len(values)):
        part = values[max(0, t - WINDOW // 2) : min(len(values), t + (WINDOW + 1) // 2)]
        means.append(sum(part) / len(part))
    assert reading.window[first:] == pytest.approx(means, rel=1e-5)
    (region,) = reading.regions
    assert region.confidence == pytest.approx(min(means), rel=1e-5)
    assert region.weight == pytest.approx(1 - region.confidence)


@pytest.mark.parametrize("window", [16, 15, 50, 51])
def test_numbers_are_those_of_the_loss(models, window):
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(models / "after").eval()
    length = 120
    ids = torch.randint(3, 512, (length,))
    labels = ids.clone()
    labels[:10] = -100
    labels[60:70] = -100
    sample_ids = torch.where(labels == -100, 0, torch.where(torch.arange(length) < 60, 1, 2))
    cuda_mask = (torch.arange(length) % 3 == 0).long()
    columns = {"input_ids": ids, "labels": labels, "cuda_mask": cuda_mask, "sample_ids": sample_ids}
    row = {name: column.tolist() for name, column in columns.items()}
    (log_probabilities,) = token_log_probabilities(model, [row])
    reading = make_reading(log_probabilities, row, window)

    with torch.no_grad():
        logits = model(ids[None]).logits
    terms = token_terms(logits, labels[None], cuda_mask[None], sample_ids[None], ObjectiveSettings(window=window))
    assert [c for c in reading.confidence if c is not None] == pytest.approx(terms.confidence.tolist(), rel=1e-5)
    assert [r.confidence for r in reading.regions] == pytest.approx(terms.region_confidence.tolist(), rel=1e-5)
    assert [r.weight for r in reading.regions] == pytest.approx(terms.sample_weight.tolist(), rel=1e-5)
    for region, (start, end) in zip(reading.regions, ((10, 60), (70, 120)), strict=True):
        assert start <= region.start < region.end <= end  # a window does not leave its turn
        inside = reading.confidence[region.start : region.end]
        assert sum(inside) / len(inside) == pytest.approx(region.confidence, rel=1e-5)
        assert window // 2 <= len(inside) <= window


def test_a_reading_of_log_probabilities_above_0():
    rng = np.random.default_rng(0)
    row = {"labels": [-100, -100, *range(40)], "sample_ids": [0, 0, *[1] * 15, *[2] * 25]}
    reading = make_reading(rng.choice([1e-7, 0.0, -1e-8, 3e-3], 40).astype(np.float32), row, 7)
    for values in (reading.confidence[2:], reading.window[2:]):
        assert all(0 <= value <= 1 for value in values)
    assert all(0 <= one.confidence <= 1 and 0 <= one.weight <= 1 for one in reading.regions)
    sample = Sample("a", [""] * 42, [False] * 2 + [True] * 40, [False] * 42, {"model": reading})
    summary = sample.summary("model", 0.1, 1.0)
    assert summary["nll"] >= 0 and all(0 <= summary[name] <= 1 for name in ("confidence", "sample_weight"))


def test_cuda_marks_cover_the_kernel(page):
    (sample,) = page
    marked = "".join(text for text, cuda in zip(sample.texts, sample.cuda, strict=True) if cuda)
    assert marked.lstrip().startswith("{") and "blockIdx.x" in marked and "#include" not in marked
    assert not any(sample.cuda[: sample.supervised.index(True)])


def test_before_and_after_differ_and_summaries_agree(page):
    (sample,) = page
    assert list(sample.readings) == ["before", "after"]
    numbers = {name: sample.summary(name, 0.1, 1.0) for name in sample.readings}
    assert numbers["before"]["confidence"] != numbers["after"]["confidence"]
    for values in numbers.values():
        share = values["cuda_share"]
        mixed = share * values["cuda_confidence"] + (1 - share) * values["other_confidence"]
        assert mixed == pytest.approx(values["confidence"])
        assert 0 < values["left_out"] <= 1 - share + 1e-9


def test_an_adapter_is_compared_with_its_base(models):
    (sample,) = read(models, model=models / "deeper", before=None, adapter=models / "adapter")
    (plain,) = read(models, model=models / "deeper", before=None)
    assert list(plain.readings) == ["model"]
    assert sample.readings["before"] == plain.readings["model"]
    assert sample.readings["after"] != plain.readings["model"]


def test_characters_of_several_tokens(models):
    tokenizer = AutoTokenizer.from_pretrained(models / "after")
    for text in ("a\tb  c\n", "naïve 漢字 🙂 end", "", "🙂"):
        ids = tokenizer(text).input_ids
        texts = token_texts(tokenizer, ids)
        assert len(texts) == len(ids) and "".join(texts) == text


def test_a_row_without_supervised_tokens_is_refused(models):
    tokenizer = AutoTokenizer.from_pretrained(models / "after")
    row = {"input_ids": [5, 6], "labels": [-100, -100], "cuda_mask": [0, 0], "sample_ids": [0, 0]}
    with pytest.raises(ValueError, match="Raise cutoff_len"):
        make_sample(tokenizer, row, "kernels, row 1", "Sum.")


@pytest.mark.parametrize(
    "content, message",
    [
        ('[{"instruction": "x", "input": "", "output": ""}]', "none of its first 1 rows"),
        ("[]", "bad.json: no rows"),
        ("{not json", "bad.json:1: not JSON"),
        ('[{"instruction": "x", "output": "y", "input": 1}]', "bad.json: row 1: 'input', the query column, is 1; exp"),
    ],
)
def test_data_without_rows(models, tmp_path, content, message):
    (tmp_path / "dataset_info.json").write_text(json.dumps({"bad": {"file_name": "bad.json"}}), encoding="utf-8")
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=message) as caught:
        read(models, dataset="bad", dataset_dir=tmp_path)
    assert "dataset=bad" in str(caught.value) and "\n" not in str(caught.value)
