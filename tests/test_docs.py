"""README and docs/: commands parse, files exist, the page of benchmarks is what the records give, and the records keep their bounds."""

import json
import re
import shlex
from pathlib import Path

import pytest

from cuset_stage.cli._app import COMMANDS


ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "data" / "README.md", *(ROOT / "docs").glob("*.md")])


def record(name):
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


def commands() -> list[tuple[str, str]]:
    """(page, command line) of every `cuset ...` line of a bash block."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```bash[^\n]*\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.strip().startswith("cuset "):
                    found.append((page.name, line.strip()))
    return found


@pytest.mark.parametrize(("page", "line"), commands())
def test_a_command_that_is_shown_can_be_read(page, line, tmp_path):
    for made in ("demo/model", "demo/tiny", "tiny"):  # by earlier commands of the page
        (tmp_path / made).mkdir(parents=True)
        (tmp_path / made / "config.json").write_text("{}")
    words = shlex.split(line.replace("outputs/", f"{tmp_path}/"), comments=True)[1:]
    name = next((" ".join(words[:size]) for size in (2, 1) if " ".join(words[:size]) in COMMANDS), None)
    if name is None:
        assert words[0] in ("doctor", "init", "spans"), f"{page}: no such command"
    else:
        COMMANDS[name].read(words[len(name.split()) :])


def test_enough_commands_are_shown():
    assert len(commands()) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_it_names_exists(page):
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"`((?:benchmarks|yaml_configs|scripts|tests|requirements|data|docs)/[\w./-]+)`", text))
    names |= set(re.findall(r"(?:bash|python|train) ((?:scripts|yaml_configs)/[\w./-]+)", text))
    links = [name.split("#")[0] for name in re.findall(r"\]\(([^)\s]+)\)", text) if not name.startswith("http")]
    missing = [name for name in sorted(names) if not (ROOT / name).exists() and not name.endswith(".bin")]
    missing += [name for name in links if name and not (page.parent / name).exists()]
    assert not missing


def test_written_pages_are_what_records_and_settings_give(load_script):
    script = load_script("write_docs")
    for path, write in script.PAGES.items():
        assert path.read_text(encoding="utf-8") == write(), "run python scripts/write_docs.py"


def test_the_rounds_of_the_data_are_what_their_verdicts_give(load_script):
    assert record("data_rounds.json")["rounds"] == load_script("data_rounds").rounds()


def test_the_records_keep_their_bounds():
    steps = record("step_7b_h200.json")["results"]
    # Two processes of one run differ by up to two percent.
    assert steps["cuset + liger"]["seconds_per_step"] <= 1.01 * steps["sft + liger"]["seconds_per_step"]
    assert steps["cuset + liger"]["peak_gib"] <= steps["sft + liger"]["peak_gib"] + 0.0001
    assert steps["cuset"]["peak_gib"] < 17.5 and steps["cuset"]["seconds_per_step"] <= steps["sft"]["seconds_per_step"]
    shape_7b = [case for case in record("head_h100.json")["cases"] if case["hidden_size"] == 3584]
    heads = {case["head"]: case["methods"] for case in shape_7b}
    assert heads["frozen"]["ours, cuset"]["ms"] <= 1.15 * heads["frozen"]["two products"]["ms"]
    assert all(r["extra_gib"] < 0.30 for name, r in heads["frozen"].items() if name.startswith("ours"))
    for methods in heads.values():
        readable = methods["logits, the readable loss"]["error"]
        assert all(
            error <= 1.1 * readable[name] for name, error in methods["ours, cuset"]["error"].items() if name != "loss"
        )
    assert max(row["ratio"] for row in record("preprocessing.json")["results"].values()) <= 1.3
    assert record("startup.json")["wall_clock"]["difference_within_a_pair"]["median_ms"] < 3
    assert record("label.json")["seconds"] < 60
    for kind in record("spans.json")["all"].values():
        assert kind["precision"] >= 0.999 and kind["recall"] >= 0.995


def test_a_rule_costs_what_cuset_costs():
    """Medians of the same run; the steps of one objective differ by a percent or two."""
    results = record("rules_7b_h200.json")["results"]
    seconds = {name: result["seconds_per_step"] for name, result in results.items()}
    assert seconds["cuset"] <= 1.01 * seconds["cuset before"] and seconds["focal"] <= 1.01 * seconds["cuset"]
    assert seconds["entropy over the vocabulary"] <= 1.03 * seconds["cuset"]


def test_the_fused_head_trains_the_same():
    focal = record("convergence_rules_h200.json")["results"]
    assert all(pair["difference"] < 1e-6 for pair in focal["fp32"].values())
    for precision, bound in (("fp32", 2.4e-7), ("bf16", 6e-3)):
        for pair in record("convergence_h200.json")["results"][precision].values():
            assert pair["steps"] == 200
            pairs = zip(pair["fused"]["loss"], pair["logits"]["loss"], strict=True)
            assert max(abs(a - b) / b for a, b in pairs) < bound


def test_nothing_escaped_and_no_wrong_mutant_passed_every_check():
    for name in ("attacks.json", "attacks_user.json", "attacks_h200.json"):
        assert all(attack["contained"] for attack in record(name)["attacks"])
    mutants = record("mutants_h200.json")
    assert not any(row["outcome"] == "survived" for row in mutants["mutants"])
    for counts in mutants["operators"].values():
        assert counts.get("survived", 0) == 0
    bundled, references = record("bundled_kernels_h200.json"), record("judge_references_h200.json")
    for saved in (bundled, references):
        assert saved["passed"] == saved["total"]
    assert all(len(case["run_s"]) == 2 for task in bundled["tasks"] for case in task["cases"])
