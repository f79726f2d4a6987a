"""README and docs/: commands parse, files exist, the page of benchmarks is what the records give, and the records keep their bounds."""

import ast
import gzip
import json
import re
import shlex
from pathlib import Path

import data_rounds
import numpy as np
import pytest
import write_docs
from written_docs import real_study, record
from written_docs.real_study import METHODS, REAL, crossed, paired, read_rows, scores
from written_docs.security import ATTACKS, CHEATS

from cuset_stage.cli._app import COMMANDS


ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "data" / "README.md", *(ROOT / "docs").glob("*.md")])


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
    text = re.sub(r"`[^`]+`\s+of\s+commit\s+\w+", "", page.read_text(encoding="utf-8"))  # what history has alone
    names = set(re.findall(r"`((?:benchmarks|yaml_configs|scripts|tests|requirements|data|docs)/[\w./-]+)`", text))
    names |= set(re.findall(r"(?:bash|python|train) ((?:scripts|yaml_configs)/[\w./-]+)", text))
    links = [name.split("#")[0] for name in re.findall(r"\]\(([^)\s]+)\)", text) if not name.startswith("http")]
    missing = [name for name in sorted(names) if not (ROOT / name).exists() and not name.endswith(".bin")]
    missing += [name for name in links if name and not (page.parent / name).exists()]
    assert not missing


def test_written_pages_are_what_records_and_settings_give():
    for path, write in write_docs.PAGES.items():
        assert path.read_text(encoding="utf-8") == write(), "run python scripts/write_docs.py"


def test_readme_and_page_say_what_the_study_s_rows_give():
    rows = read_rows()
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/real_study.md"))
    of_small = read_rows(model=real_study.SMALL)
    for some, method in (*((rows, method) for method in METHODS), (of_small, "sft"), (of_small, "cuset")):
        assert f"{100 * scores(some, method, 'right').to_numpy().mean():.1f} %" in readme
    again = read_rows(real_study.REPEATED)
    of_all = real_study.all_trainings(rows, again)
    first = page.partition("\n## ")[0]
    for difference in (crossed(paired(some, "cuset", "sft")) for some in (rows, of_all, of_small)):
        value, low, high = (f"{100 * end:.1f}" for end in (difference.value, *difference.interval()))
        assert f"{value} points ({low} to {high})" in readme
        assert all(number.lstrip("-") in first for number in (value, low, high))
    by_seed = [paired(again[again.seed == seed], "cuset", "sft").mean() for seed in range(3)]
    assert "CuSeT minus SFT is {:.1f}, {:.1f} and {:.1f} points".format(*(100 * value for value in by_seed)) in first
    small = record("real/training_0.5b.json")["seeds"].values()
    for method in ("sft", "cuset"):
        losses = np.mean([seed[method]["training"]["other_nll"] for seed in small], axis=0)
        assert f"from {losses[:10].mean():.2f} to {losses[-10:].mean():.2f}" in page


def test_an_answer_that_was_not_judged_counts_for_nobody(tmp_path, monkeypatch):
    rows = [{"model": REAL, "verdict": verdict, "compiled": True} for verdict in ("passed", "infra_error", "mismatch")]
    rows.append({"model": "another", "verdict": "passed", "compiled": True})
    (tmp_path / "rows.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    monkeypatch.setattr(real_study, "ROWS", tmp_path / "rows.gz")
    assert list(read_rows().right) == [1.0, 0.0]
    assert list(read_rows(model="another").right) == [1.0]


def test_methods_are_compared_on_the_seeds_that_both_have():
    rows = read_rows()
    some = rows.query("method in ['vanilla', 'sft', 'cuset'] or method == 'dft' and seed == 1")
    assert np.array_equal(paired(some, "cuset", "dft"), paired(rows, "cuset", "dft")[[1]])
    assert np.array_equal(paired(some, "cuset", "vanilla"), paired(rows, "cuset", "vanilla"))
    table = real_study.differences(some, is_primary=False)
    assert [line.count("|") for line in table.splitlines()[:5]] == [5] * 5 and "ProFit" not in table
    assert f"DFT | {real_study.interval(crossed(paired(some, 'cuset', 'dft')))} |" in table
    without = some[some.method != "cuset"]
    assert real_study.differences(without, is_primary=False) == "CuSeT is not judged so far."
    assert "| DFT | 1e-4 | 1 x 500 |" in real_study.rates(without, is_primary=False)


def test_the_rounds_of_the_data_are_what_their_verdicts_give():
    assert record("data_rounds.json")["rounds"] == data_rounds.rounds()


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
        ours = methods["ours, cuset"]["error"]
        assert all(error <= 1.1 * readable[name] for name, error in ours.items() if name != "loss")


def test_nothing_escaped_and_nothing_was_paid():
    for name in ATTACKS | CHEATS:
        assert all(attack["contained"] for attack in record(name)["attacks"])


def test_every_behaviour_of_the_list_names_a_test_that_exists():
    held = (ROOT / "tests" / "README.md").read_text(encoding="utf-8").partition("## Not held by a test")[0]
    entries = [line for line in held.splitlines() if line.startswith("- ")]
    named = [re.fullmatch(r"- .+ -> `(tests/[\w/]+\.py)::(test_\w+)`", line) for line in entries]
    assert len(entries) > 100 and all(named), "- behaviour -> `tests/path.py::test_name`"
    tests = {
        path: {node.name for node in ast.parse(Path(ROOT, path).read_text()).body if isinstance(node, ast.FunctionDef)}
        for path in {entry[1] for entry in named}
    }
    assert not [entry[0] for entry in named if entry[2] not in tests[entry[1]]]
