"""`cuset analyze` against the same numbers computed from the model, the tokenizer's offsets and scipy, file by file and window by window."""

import base64
import io
import json

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.stats import ks_2samp
from transformers import AutoModelForCausalLM, AutoTokenizer

from cuset_stage.analysis.analyze import analyze
from cuset_stage.analysis.analyze_page import draw, render
from cuset_stage.analysis.kinds import data_rows
from cuset_stage.analysis.requests import AnalyzeSettings
from cuset_stage.report.cells import decimal, points
from cuset_stage.settings import SettingsError
from cuset_stage.spans import DEFAULT_KINDS, KINDS, find_spans
from cuset_stage.spans.tokenizers import token_mask
from cuset_stage.stage.loading import open_rows, open_tokenizer
from cuset_stage.stage.processors import LabelRules
from cuset_stage.stage.token_labels import KIND_BITS

from .conftest import ROOT


WINDOW, TAU, CUT = 48, 0.002, 700
CODE = [
    ROOT / "data" / "kernels" / name
    for name in ("tiled_sgemm", "dot_product_warp", "histogram_bytes_private", "exclusive_scan", "jacobi_grid_sync")
]


def settings_of(folder, tmp_path, **changes):
    keys = {"models": {"first": str(folder / "before")}, "code": CODE}
    keys |= {"window": WINDOW, "tau": TAU, "cutoff_len": CUT, "resamples": 200, "device": "cpu"}
    keys |= {"output": tmp_path / "out", **changes}
    if "dataset" in keys:
        del keys["code"]
    return AnalyzeSettings.checked(keys)


@pytest.fixture(scope="module")
def record(models, tmp_path_factory):
    return analyze(settings_of(models, tmp_path_factory.mktemp("analyze")))


@pytest.fixture(scope="module")
def files(models):
    """By the definitions: confidence and kinds of every predicted token of each file."""
    tokenizer = AutoTokenizer.from_pretrained(models / "before")
    model = AutoModelForCausalLM.from_pretrained(models / "before").eval()
    found = []
    for path in (path for folder in CODE for path in sorted(folder.rglob("*.cu"))):
        text = path.read_text(encoding="utf-8")
        encoding = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        ids = encoding.input_ids[:, :CUT]
        with torch.no_grad():
            p = model(ids).logits[0].double().softmax(dim=-1)
        offsets = encoding.offset_mapping[0, :CUT].tolist()
        spans = find_spans(text, tuple(KINDS))
        masks = {kind: token_mask(offsets, [span for span in spans if span.kind == kind]) for kind in KINDS}
        confidence = p[:-1].gather(1, ids[0, 1:, None])[:, 0].numpy()
        found.append((confidence, {kind: np.array(mask[1:], dtype=bool) for kind, mask in masks.items()}))
    return found


def sensitive(masks, kinds):
    return np.any([masks[kind] for kind in kinds], axis=0)


@pytest.mark.parametrize(("notion", "kinds"), [("section3", tuple(KINDS)), ("eq3", DEFAULT_KINDS)])
def test_tokens_against_scipy(record, files, notion, kinds):
    measured = record["models"]["first"]
    assert measured["files"] == measured["samples"] == len(files) > 4
    confidence = np.concatenate([c for c, _ in files])
    is_sensitive = np.concatenate([sensitive(masks, kinds) for _, masks in files])
    found = measured["notions"][notion]
    for name, values in (("sensitive", confidence[is_sensitive]), ("neutral", confidence[~is_sensitive])):
        assert found[name]["tokens"] == len(values) > 100
        assert found[name]["mean"]["value"] == pytest.approx(values.mean(), rel=1e-4)
        assert found[name]["at_most_tau"]["value"] == pytest.approx((values <= TAU).mean(), abs=2 / len(values))
        np.testing.assert_allclose(found[name]["density"], np.histogram(values, bins=50, range=(0, 1))[0])
        ends = found[name]["mean"]
        assert ends["low"] < ends["value"] < ends["high"]
    expected = ks_2samp(confidence[is_sensitive], confidence[~is_sensitive], method="asymp")
    assert found["ks"]["d"]["value"] == pytest.approx(expected.statistic, abs=2e-3)
    assert np.log(found["ks"]["p_naive"]) == pytest.approx(np.log(expected.pvalue), rel=0.1, abs=0.3)


@pytest.mark.parametrize(("notion", "kinds"), [("section3", tuple(KINDS)), ("eq3", DEFAULT_KINDS)])
def test_windows_one_by_one(record, files, notion, kinds):
    neutral = np.concatenate([c[~sensitive(masks, kinds)] for c, masks in files]).mean()
    rows, with_low = [], 0  # of each window: is it low; centre, majority, any for the notion and each kind
    for confidence, masks in files:
        stacked = np.array([sensitive(masks, kinds), *masks.values()])
        lows = []
        for start in range(len(confidence) - WINDOW + 1):
            inside = stacked[:, start : start + WINDOW]
            lows.append(confidence[start : start + WINDOW].mean() < neutral)
            on = [inside[:, WINDOW // 2], inside.sum(axis=1) > WINDOW / 2, inside.any(axis=1)]
            rows.append((lows[-1], np.array(on)))
        with_low += any(lows)
    low = np.array([row[0] for row in rows])
    on = np.array([row[1] for row in rows])  # [windows, reading, notion and kinds]
    found = record["models"]["first"]["notions"][notion]["windows"]
    assert found["threshold"] == pytest.approx(neutral, rel=1e-4) and found["count"] == len(low)
    # A mean on the threshold may fall to either side.
    assert found["low"]["value"] == pytest.approx(low.mean(), abs=3 / len(low))
    assert found["samples_with_low"]["value"] == with_low / len(files)
    for column, name in enumerate(["on_sensitive", *KINDS]):
        of = found["on_kind"][name] if column else found["on_sensitive"]
        for number, reading in enumerate(("centre", "majority", "any")):
            assert of[reading]["all"]["value"] == pytest.approx(on[:, number, column].mean(), rel=1e-9)
            assert of[reading]["low"]["value"] == pytest.approx(on[low, number, column].mean(), abs=5 / low.sum())
            gap = of[reading]["low"]["value"] - of[reading]["all"]["value"]
            assert of[reading]["difference"]["value"] == pytest.approx(gap, abs=1e-12)


def test_kinds(record, files):
    measured = record["models"]["first"]
    for kind in KINDS:
        values = np.concatenate([c[masks[kind]] for c, masks in files])
        assert measured["kinds"][kind]["tokens"] == len(values)
        if len(values):
            assert measured["kinds"][kind]["mean"]["value"] == pytest.approx(values.mean(), rel=1e-4)
    assert json.loads(json.dumps(record)) == record


def test_the_page_holds_tables_and_the_picture(record):
    several = {**record, "models": {f"model {n}": record["models"]["first"] for n in range(6)}}
    picture = draw(several)
    page = render(several, picture)
    assert Image.open(io.BytesIO(picture)).format == "PNG" and base64.b64encode(picture).decode() in page
    for model in several["models"].values():
        for found in model["notions"].values():
            assert f"{found['windows']['count']:,}</td>" in page


def test_rows_of_a_data_set_are_those_of_training(models):
    tokenizer = open_tokenizer(str(models / "before"))
    options = {"dataset": ["cuset_kernels_eval"], "dataset_dir": str(ROOT / "data"), "template": "qwen"}
    options |= {"cutoff_len": 500, "max_samples": 20}
    plain = open_rows(tokenizer, str(models / "before"), LabelRules(DEFAULT_KINDS), **options).tokens()
    opened = open_rows(tokenizer, str(models / "before"), LabelRules(tuple(KINDS)), **options)
    rows = list(data_rows(opened))
    assert len(rows) == len(plain)
    eq3 = sum(KIND_BITS[kind] for kind in DEFAULT_KINDS)
    for row, training in zip(rows, plain, strict=True):
        for column in ("input_ids", "labels", "sample_ids"):
            assert getattr(row, column).tolist() == training[column]
        supervised = row.sample_ids > 0
        mask = np.array(training["cuda_mask"], dtype=bool)
        assert ((row.kinds & eq3) != 0)[supervised].tolist() == mask[supervised].tolist()
    assert any((row.kinds & KIND_BITS["thread_indexing"]).any() for row in rows)
    # A template for images and text has the same responses, and asks for no processor.
    of_images = open_rows(
        tokenizer, str(models / "before"), LabelRules(DEFAULT_KINDS), **options | {"template": "qwen2_vl"}
    ).tokens()
    for row, training in zip(of_images, plain, strict=True):
        ours, theirs = ([label for label in each["labels"] if label != -100] for each in (row, training))
        assert ours[:300] == theirs[:300]


def test_code_as_an_answer_to_a_prompt(models, tmp_path):
    changes = {"models": str(models / "before"), "code": CODE[:1], "prompt": "Write a CUDA program."}
    alone = analyze(settings_of(models, tmp_path, **changes | {"prompt": None}))["models"]["before"]
    asked = analyze(settings_of(models, tmp_path, **changes, cutoff_len=4096))["models"]["before"]
    assert asked["files"] == alone["files"] and asked["tokens"] != alone["tokens"]
    assert asked["kinds"]["kernel_body"]["tokens"] > 0


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("", r"no file of it has a token.*larger cutoff_len than"),
        ("int a;", r"has NUL bytes, so it is no text in UTF-8"),
    ],
)
def test_files_without_text_are_named(models, tmp_path, code, fault):
    (tmp_path / "a.cu").write_text(code, encoding="utf-16-le")
    with pytest.raises(SettingsError, match=rf"code=.*a\.cu: {fault}"):
        analyze(settings_of(models, tmp_path, code=[tmp_path / "a.cu"]))


def test_numbers_show_equally_many_digits():
    texts = {0: "0", 0.03: "0.030", 0.0005: "0.00050", 0.0996: "0.100", 0.5: "0.500"}
    assert {value: decimal(value) for value in texts} == texts
    assert [points(value) for value in (-0.0001, -0.02, 0.0351)] == ["0.0", "−2.0", "+3.5"]  # nothing has no minus


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"code": ["none"]}, "code=none: there is no such file"),
        ({"code": [ROOT / "docs"]}, r"no file in it ends in \.cu or \.cuh"),
        ({"models": {"a": {"model": "none/there/is"}}}, "models: a: model=.*there is no such folder"),
        ({"models": {"a": {"model": "m", "adapter": str(ROOT)}}}, "a: adapter=.*no adapter_config"),
        ({"models": {"a": {"modell": "m"}}}, "modell: no such key; did you mean model"),
        ({"models": ""}, "models=.*: expected at least 1 item"),
        ({"dataset": ["x"], "prompt": "p"}, "prompt=... belongs to code"),
        ({"code": []}, "either code=... .* or dataset="),
        ({"dataset": ["none"], "dataset_dir": str(ROOT / "data")}, "Undefined dataset none"),
    ],
)
def test_what_cannot_be_used_is_named(models, tmp_path, changes, message):
    with pytest.raises(SettingsError, match=message):
        analyze(settings_of(models, tmp_path, **changes))
