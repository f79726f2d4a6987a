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
        ("`use_dft_loss`", "dft"),
        ("`use_eaft_loss`", "eaft"),
        ("`cuset_objective: eaft`", "stage: cuset eaft"),
        ("`cuset_objective: eaft`, Liger", "eaft fused + liger"),
        ("`cuset_objective: asft`", "stage: cuset asft"),
        ("`cuset_objective: asft`, Liger", "asft fused + liger"),
    ],
)
def test_the_table_of_steps_is_the_record(title, run):
    result = record("step_7b_h200.json")["results"][run]
    assert f"| {title} | {result['seconds_per_step']:.3f} | {result['peak_gib']:.2f} |" in README


def test_the_table_of_the_head_is_the_record():
    cases = [case for case in record("head_h200.json")["cases"] if case["vocab_size"] == 152064]
    for name in cases[0]["methods"]:
        cells = [case["methods"][name] for case in cases]
        if "ms" in cells[0]:
            assert f"| {name} | " + " | ".join(f"{c['ms']:.2f} / {c['extra_gib']:.2f}" for c in cells) + " |" in README


def test_long_rows_small_cards_and_trajectories():
    text = " ".join(README.split())
    for run, result in record("step_7b_32k_h200.json")["results"].items():
        assert f"{result['seconds_per_step']:.2f} s and {result['peak_gib']:.2f} GiB" in text, run
    fits = {cap: record(f"fits_{cap}gib_h200.json") for cap in (18, 23)}
    for cap, saved in fits.items():
        assert saved["memory_cap_gib"] == cap
        assert ("error" in saved["results"]["sft"], "error" in saved["results"]["cuset"]) == (cap == 18, False)
    for precision, bound in (("fp32", 6e-6), ("bf16", 8e-3)):
        for pair in record("convergence_h200.json")["results"][precision].values():
            assert pair["steps"] == 200
            pairs = zip(pair["fused"]["loss"], pair["logits"]["loss"], strict=True)
            assert sorted(abs(a - b) / b for a, b in pairs)[-2] < bound  # all but one step


def test_the_bundled_programs_pass():
    saved = record("bundled_kernels_h200.json")
    assert saved["passed"] == saved["total"]
    assert f"{saved['passed']} of {saved['total']} pass, each case run twice" in README
    assert all(len(case["run_s"]) == 2 for task in saved["tasks"] for case in task["cases"])
    assert saved["cases"] == 5 * saved["total"]


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
    steps = record("step_7b_h200.json")["results"]
    for key in ("seconds_per_step", "peak_gib"):
        assert steps["cuset + liger"][key] <= steps["sft + liger"][key] + 0.005
    assert steps["cuset"]["peak_gib"] < 17.5 and steps["cuset"]["seconds_per_step"] <= steps["sft"]["seconds_per_step"]
    for case in record("head_h200.json")["cases"]:
        assert all(r["extra_gib"] < 0.30 for name, r in case["methods"].items() if name.startswith("ours"))
    assert max(row["ratio"] for row in record("preprocessing.json")["results"].values()) <= 1.3
    assert record("startup.json")["wall_clock"]["difference_within_a_pair"]["median_ms"] < 3


def test_every_file_it_names_exists():
    names = set(re.findall(r"`((?:benchmarks|yaml_configs|scripts|tests|requirements|data)/[\w./-]+)`", README))
    names |= {name for name in re.findall(r"\]\(([\w./-]+)\)", README) if not name.startswith("http")}
    names |= set(re.findall(r"(?:bash|python|train) ((?:scripts|yaml_configs)/[\w./-]+)", README))
    assert len(names) > 12
    assert not [name for name in sorted(names) if not (ROOT / name).exists()]
