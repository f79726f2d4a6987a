"""What the README says is so: its numbers stand in the committed records, its files and commands exist."""

import json
import re
from pathlib import Path

import pytest


ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def record(name):
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("title", "run"),
    [
        ("`stage: sft`", "sft"),
        ("`stage: sft`, Liger", "sft + liger"),
        ("`stage: cuset`, logits (`cuset_fused: off`)", "cuset unfused"),
        ("`stage: cuset`", "cuset"),
        ("`stage: cuset`, Liger", "cuset + liger"),
    ],
)
def test_the_table_of_steps_is_the_record(title, run):
    result = record("step_7b_h200.json")["results"][run]
    assert f"| {title} | {result['seconds_per_step']:.3f} | {result['peak_gib']:.2f} |" in README


def test_the_other_numbers_are_in_their_records():
    for run in ("sft", "cuset"):
        result = record("step_7b_zero2_h200x2.json")["results"][run]
        assert f"{result['seconds_per_step']:.3f} s and {result['peak_gib']:.2f} GiB" in " ".join(README.split())
    ratios = [record("preprocessing.json")["results"][name]["ratio"] for name in ("plain", "packing")]
    assert "{:.2f} x, packed {:.2f} x".format(*ratios) in README
    assert f"{record('startup.json')['wall_clock']['difference_within_a_pair']['median_ms']:.2f} ms more" in README
    spans = record("spans.json")
    counts = [spans["all"][kind]["spans"] for kind in ("kernel_body", "launch_config")]
    text = "{} files of {} repositories, {} kernel bodies, {} launch configurations".format(
        spans["files"], len(spans["repositories"]), *counts
    )
    assert text in README
    assert f"{spans['speed']['ms_per_4kB']:.2f} ms" in README
    for kind in ("kernel_body", "launch_config"):
        assert spans["all"][kind]["precision"] >= 0.999
        assert spans["all"][kind]["recall"] >= 0.995


def test_the_bounds_that_were_asked_for_hold():
    assert max(row["ratio"] for row in record("preprocessing.json")["results"].values()) <= 1.3
    assert record("startup.json")["wall_clock"]["difference_within_a_pair"]["median_ms"] < 3


def test_every_file_it_names_exists():
    names = set(re.findall(r"`((?:benchmarks|yaml_configs|scripts|tests|requirements|data)/[\w./-]+)`", README))
    names |= {name for name in re.findall(r"\]\(([\w./-]+)\)", README) if not name.startswith("http")}
    names |= set(re.findall(r"(?:bash|python|train) ((?:scripts|yaml_configs)/[\w./-]+)", README))
    assert len(names) > 12
    assert not [name for name in sorted(names) if not (ROOT / name).exists()]
