"""`cuset report confidence=... pairs=...`: one table of what was measured on each method, from the files that the commands write."""

import json
from pathlib import Path

import pytest
from results_factory import write_results
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.report import ReportError, build_report, collect, read_measures
from cuset_stage.report.sections import method_table


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def confidence(tiny_model, tmp_path_factory) -> Path:
    """Of one model under three names, two of which are methods'."""
    folder = tmp_path_factory.mktemp("confidence")
    code = ROOT / "data" / "kernels" / "tiled_sgemm"
    words = [f"models={{SFT: {tiny_model}}}", f"code={code}", f"output={folder}", "device=cpu", "resamples=100"]
    done = CliRunner().invoke(app, ["analyze", *words])
    assert done.exit_code == 0, done.output
    path = folder / "confidence.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({"models": dict.fromkeys(("SFT", "CuSeT", "base"), record["models"]["SFT"])}))
    return path


@pytest.fixture
def pairs(tmp_path) -> Path:
    estimate = {"value": 0.75, "low": 0.6, "high": 0.875, "tasks": 20, "left_out": 0}
    models = {"CuSeT": {"accuracy": {"from_change": estimate}}, "SFT": {"accuracy": {"from_change": None}}}
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps({"models": models}))
    return path


@pytest.fixture
def runs(tmp_path) -> list[Path]:
    """SFT passes 1 of 4 samples, CuSeT 2 of 4, with 100 tokens each."""
    outcomes = {
        "SFT": ["passed", "mismatch", "mismatch", "mismatch"],
        "CuSeT": ["passed", "passed", "mismatch", "mismatch"],
    }
    return [
        write_results(
            tmp_path / f"{name}.jsonl",
            name,
            {str(n): [one] for n, one in enumerate(found)},
            change=lambda line: {**line, "tokens": 100},
        )
        for name, found in outcomes.items()
    ]


def table(runs, confidence, pairs):
    collection = collect(runs)
    made = build_report(collection, ks=(1,), measures=read_measures(confidence, pairs, collection.runs))
    found = method_table(made)
    return {
        row[0].text: dict(zip([column.heading for column in found.columns], row, strict=True)) for row in found.rows
    }


def test_one_row_a_method(runs, confidence, pairs):
    rows = table(runs, confidence, pairs)
    record = json.loads(confidence.read_text())["models"]
    assert list(rows) == ["SFT", "CuSeT", "base"]
    assert [rows[name]["Function (%): pass@1"].text for name in rows] == ["25.0", "50.0", "–"]
    assert [rows[name]["Tokens: a program that passes"].value for name in rows] == [400, 200, None]
    assert (
        rows["CuSeT"]["Pairs: right preferred (%)"].text == "75.0"
        and rows["SFT"]["Pairs: right preferred (%)"].text == "–"
    )
    for name, row in rows.items():
        of = record[name]["notions"]["section3"]
        assert row["Mean confidence: CUDA"].value == pytest.approx(of["sensitive"]["mean"]["value"], abs=1e-6)
        assert float(row["Mean confidence: CUDA"].text) == pytest.approx(of["sensitive"]["mean"]["value"], rel=0.05)
        assert row["Confidence: KS distance"].value == pytest.approx(of["ks"]["d"]["value"], abs=1e-6)
        gap = 100 * of["windows"]["on_sensitive"]["centre"]["difference"]["value"]
        assert row["Confidence: low windows on CUDA (points)"].value == pytest.approx(gap, abs=1e-5)


def test_programs_that_only_compiled_are_not_called_right(tmp_path, pairs):
    path = tmp_path / "a.jsonl"
    runs = [
        write_results(path, "SFT", {"0": ["compiled"]}, compile_only=True, change=lambda line: {**line, "tokens": 100})
    ]
    row = table(runs, None, pairs)["SFT"]
    assert row["Tokens: a program that compiles"].value == 100
    assert not any("passes" in heading for heading in row)


def test_either_file_alone_and_neither(runs, confidence, pairs):
    assert not any("Pairs" in heading for heading in table(runs, confidence, None)["SFT"])
    assert not any("onfidence" in heading for heading in table(runs, None, pairs)["SFT"])
    assert method_table(build_report(collect(runs), ks=(1,))) is None


def test_the_command_writes_it(runs, confidence, pairs, tmp_path):
    out = tmp_path / "out"
    words = ["report", *map(str, runs), f"confidence={confidence}", f"pairs={pairs}", f"output={out}"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "## Methods compared" in (out / "report.md").read_text()
    assert (out / "csv" / "methods.csv").read_text().splitlines()[0].startswith("Method,Function (%): pass@1,")


@pytest.mark.parametrize("content", ["{", "[]", '{"models": {"SFT": {}}}', '{"models": []}'])
@pytest.mark.parametrize("key", ["confidence", "pairs"])
def test_other_files_are_refused(runs, tmp_path, key, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    files = {"confidence": None, "pairs": None, key: path}
    with pytest.raises(
        ReportError,
        match=rf"{key}=.*x\.json: expected the JSON file that `cuset {key.replace('confidence', 'analyze')}`",
    ):
        read_measures(**files, runs=collect(runs).runs)


def test_names_that_no_method_has_are_refused(runs, pairs, tmp_path):
    pairs.write_text(pairs.read_text().replace("CuSeT", "a").replace("SFT", "b"))
    with pytest.raises(ReportError, match=r"its models are called a, b, the methods SFT, CuSeT\. Call the models"):
        read_measures(None, pairs, collect(runs).runs)
    with pytest.raises(ReportError, match="cannot be read"):
        read_measures(tmp_path / "none.json", None, collect(runs).runs)
