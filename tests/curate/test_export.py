"""What `export` leaves for LLaMA-Factory: both formats, a merged dataset_info.json, a split by task, a data card."""

import json
from pathlib import Path

import pytest
from curation_steps import export as export_set
from curation_steps import put

from cuset_stage.answers import extract_code
from cuset_stage.curate.folders import locked
from cuset_stage.curate.funnel import read_funnel
from cuset_stage.curate.settings import ExportSettings
from cuset_stage.curate.stage import Kept, run_stage
from cuset_stage.curate.stage_rows import CurationError, StageRows
from cuset_stage.curate.training_text import length_report
from cuset_stage.settings import SettingsError
from cuset_stage.spans import find_spans


def rows(count: int, answers: int = 2) -> list[dict]:
    """`count` tasks with `answers` rows each."""
    return [
        {
            "key": f"{task:016x}{answer:016x}",
            "id": f"src:{task}.{answer}",
            "kind": "program",
            "family": "scan" if task % 2 else "sort",
            "program": f"__global__ void k{task}_{answer}() {{}}\n",
            "reasoning": "because",
            "task": {"id": f"task{task}", "prompt": f"Write program number {task}.", "split": None},
            "verified": {"verdict": "passed"},
            "source": {"name": "src", "revision": "abc", "licence": "MIT"},
            "provenance": [],
        }
        for task in range(count)
        for answer in range(answers)
    ]


def export(tmp_path, given: list[dict], **options):
    folder = tmp_path / "dataset"
    return export_set(tmp_path / "work", put(tmp_path / "rows.jsonl", given), output=folder, **options), folder


def both_sides(folder: Path, key: str = "instruction") -> list[set[str]]:
    """What is trained on and what is held out: the prompts, or the tasks of `rows` by `id`."""
    sides = (json.loads((folder / name).read_text()) for name in ("curated.json", "curated_eval.json"))
    return [{row[key].split(".")[0] for row in side} for side in sides]


def test_rows_of_one_task_are_on_one_side(tmp_path):
    summary, folder = export(tmp_path, rows(40), validation=0.25)
    train, held_out = (json.loads((folder / name).read_text()) for name in ("curated.json", "curated_eval.json"))
    assert summary.kept == 80 and (len(train), len(held_out)) == (60, 20)
    assert not set.intersection(*both_sides(folder))
    again, _ = export(tmp_path, rows(40), validation=0.25)
    assert json.loads((folder / "curated_eval.json").read_text()) == held_out and again.kept == 80
    export(tmp_path, rows(40), validation=0.25, seed=1)
    assert json.loads((folder / "curated_eval.json").read_text()) != held_out


def test_the_card_names_the_model_that_wrote_an_answer_or_the_program_around_a_kernel(tmp_path):
    one, two, three = rows(3, answers=1)
    given = [
        {**one, "written": {"model": "writer"}},
        {**two, "written": {"model": "writer"}, "sample": {"model": "m"}},
        three,
    ]
    _, folder = export(tmp_path, given)
    card = (folder / "curated.md").read_text()
    assert all(f"| {who} | 1 |" in card for who in ("writer, around a kernel of the source", "m", "the source"))


@pytest.mark.parametrize("word", ["eval", "test", "validation", "Dev "])
def test_a_task_that_says_its_split_keeps_it(tmp_path, word):
    given = rows(6)
    for row in given:
        row["task"]["split"] = word if row["task"]["id"] in ("task1", "task4") else "train"
    summary, folder = export(tmp_path, given, validation=0.5)
    assert both_sides(folder)[1] == {"Write program number 1", "Write program number 4"} and not summary.notes


def test_a_split_that_nobody_knows_is_said(tmp_path):
    given = rows(6)
    given[0]["task"]["split"] = "fold3"
    summary, _ = export(tmp_path, given, validation=0.0)
    assert "1 rows say split 'fold3'" in summary.notes[0]


def test_rows_of_one_description_are_one_task_whatever_their_files_are_called(tmp_path):
    given = rows(10)
    for row in given:
        row["description"] = f"Compute number {row['task']['id']} of the list."
        row["task"]["prompt"] = f"{row['description']}\n\nFiles: data/{row['id'].replace(':', '_')}.bin"
        row["task"]["id"] = row["id"]
    _, folder = export(tmp_path, given, validation=0.5)
    train, held_out = both_sides(folder, "id")
    assert not train & held_out and len(held_out) == 5


def test_a_second_run_leaves_no_held_out_rows_of_the_first(tmp_path):
    _, folder = export(tmp_path, rows(8), validation=0.25)
    assert (folder / "curated_eval.json").exists() and (folder / "curated_sharegpt_eval.json").exists()
    (folder / "own_eval.json").write_text("[]", encoding="utf-8")
    export(tmp_path, rows(8), validation=0.0)  # all of them are trained on now
    assert set(json.loads((folder / "dataset_info.json").read_text())) == {"curated", "curated_sharegpt"}
    assert {path.name for path in folder.glob("*_eval.json")} == {"own_eval.json"}


def test_answers_to_one_module_are_on_one_side_whatever_they_are_asked_with(tmp_path):
    given = rows(20)
    for row in given:
        row |= {"kind": "module", "module_code": row["task"]["id"], "answer_code": "class ModelNew: pass"}
        row["prompt"] = row["task"]["prompt"] = f"In the words of {row['id']}."
    _, folder = export(tmp_path, given, validation=0.25)
    train, held_out = both_sides(folder, "id")
    assert not train & held_out and len(held_out) == 5


@pytest.mark.parametrize(
    "comment",
    ["/*\n```\nnvcc a.cu\n```\n*/\n", "/** See\n * ```cpp\n * k<<<1, 1>>>(p);\n * ```\n */\n", "int x;  // ````\n"],
)
@pytest.mark.parametrize("reasoning", [False, True])
def test_the_judge_reads_the_program_that_was_verified_from_the_answer(tmp_path, comment, reasoning):
    program = f"{comment}__global__ void k(int* p) {{ *p = 1; }}\nint main() {{ k<<<1, 1>>>(0); }}\n"
    given = rows(1, 1)
    given[0] |= {"program": program, "reasoning": "<think>\nFirst\n<think>\nthen."}
    _, folder = export(tmp_path, given, reasoning=reasoning)
    (row,) = json.loads((folder / "curated.json").read_text())
    assert extract_code(row["output"]).strip() == program.strip()
    labelled = [row["output"][span.start : span.end] for span in find_spans(row["output"])]
    assert labelled == ["{ *p = 1; }", "<<<1, 1>>>"]
    assert row["output"].count("<think>") == reasoning


def test_an_answer_that_shows_other_code_first_is_dropped(tmp_path):
    given = rows(2, 1)
    given[0]["intro"] = "Like\n```cpp\nint main() {}\n```\nbut better:"
    summary, folder = export(tmp_path, given, validation=0.0)
    assert summary.reasons == {"not_read_back": 1} and len(json.loads((folder / "curated.json").read_text())) == 1


def test_both_formats_say_the_same_and_other_entries_stay(tmp_path):
    (tmp_path / "dataset").mkdir()
    info = tmp_path / "dataset" / "dataset_info.json"
    info.write_text(json.dumps({"mine": {"file_name": "mine.json"}}), encoding="utf-8")
    _, folder = export(tmp_path, rows(3), validation=0.0, reasoning=True)
    entries = json.loads(info.read_text())
    assert entries["mine"] == {"file_name": "mine.json"} and set(entries) == {"mine", "curated", "curated_sharegpt"}
    alpaca = json.loads((folder / entries["curated"]["file_name"]).read_text())
    sharegpt = json.loads((folder / entries["curated_sharegpt"]["file_name"]).read_text())
    assert [row["output"] for row in alpaca] == [row["conversations"][1]["value"] for row in sharegpt]
    assert alpaca[0]["output"] == "<think>\nbecause\n</think>\n\n```cpp\n__global__ void k0_0() {}\n```"
    assert entries["curated_sharegpt"]["formatting"] == "sharegpt"


@pytest.mark.parametrize(
    ("name", "entry", "said"),
    [
        ("curated", {"file_name": "other.json"}, r"other\.json.*name="),
        ("curated_eval", {"file_name": "curated_eval.json", "columns": {"prompt": "q"}}, r"another data set.*name="),
    ],
)
def test_an_entry_of_the_same_name_is_not_taken_over(tmp_path, name, entry, said):
    folder = tmp_path / "dataset"
    folder.mkdir()
    info = folder / "dataset_info.json"
    info.write_text(json.dumps({name: entry}), encoding="utf-8")
    (folder / "curated_eval.json").write_text('[{"q": "mine"}]', encoding="utf-8")
    with pytest.raises(CurationError, match=said):
        export(tmp_path, rows(4))
    assert json.loads(info.read_text()) == {name: entry} and "mine" in (folder / "curated_eval.json").read_text()
    assert not (folder / "curated.json").exists()  # nothing is written before that is known
    info.write_text("{", encoding="utf-8")
    with pytest.raises(CurationError, match="not JSON"):
        export(tmp_path, rows(1))


def test_the_card_counts_rows_families_and_licences(tmp_path):
    _, folder = export(tmp_path, rows(4), validation=0.25, tokenizer=None)
    card = (folder / "curated.md").read_text()
    expected = (
        "| train | 6 | 3 |",
        "| eval | 2 | 1 |",
        "| sort | 4 |",
        "| scan | 4 |",
        "| MIT | 8 |",
        "| src @ abc | 8 |",
    )
    assert all(line in card for line in expected)
    assert "not held against any benchmark" in card and "were not verified" in card
    given = rows(4, 1)
    given[0]["task"]["prompt"] = " "  # a row that is dropped, and its task with it
    export(tmp_path, given, validation=0.0)
    assert "| train | 3 | 3 |" in (folder / "curated.md").read_text()


def test_llamafactory_reads_what_was_written(tmp_path, tiny_model):
    from cuset_stage.analysis.labels import summarise
    from cuset_stage.analysis.requests import LabelSettings

    _, folder = export(tmp_path, rows(8), validation=0.0)
    model = {"model": str(tiny_model), "dataset_dir": str(folder), "workers": 1}
    one, two = (summarise(LabelSettings(**model, dataset=name)).record for name in ("curated", "curated_sharegpt"))
    assert one["rows"] == two["rows"] == 16
    assert one["cuda_tokens"] == two["cuda_tokens"] > 0 and one["supervised_tokens"] == two["supervised_tokens"]


def test_a_verification_that_was_stopped_is_said_to_be(tmp_path):
    work = tmp_path / "work"
    (work / "prove").mkdir(parents=True)
    settings = {
        "gpu": "H200",
        "driver": "1",
        "toolkit": "13.0",
        "arch": "sm_90",
        "flags": [],
        "times": 2,
        "mutants": 0,
    }
    (work / "prove" / "settings.json").write_text(json.dumps(settings | {"compile_only": False}))
    put(work / "prove" / "rows.jsonl", rows(4))
    (work / "prove" / "dropped.jsonl").write_text(
        f'{{"key": "{"e" * 32}", "reason": "mismatch"}}\n{{"key": "{"f" * 32}", "reason": "timeout"}}\n{{"key'
    )
    stage_rows = StageRows([put(tmp_path / "given.jsonl", rows(6))])
    run_stage(work / "adapt", "adapt", stage_rows, Kept, settings={})
    step = read_funnel(work)[-1]
    assert (step.stage, step.read, step.kept, step.dropped, step.unsettled) == ("prove", 12, 8, 2, 2)
    assert step.stopped and step.reasons == {"mismatch": 1, "timeout": 1}
    _, folder = export(tmp_path, rows(4))
    card = (folder / "curated.md").read_text()
    assert "The verification was stopped: 2 of 12 rows are still to come." in card and "H200" in card


def test_the_card_says_which_rows_no_wrong_version_was_tried_on(tmp_path):
    (tmp_path / "work" / "prove").mkdir(parents=True)
    settings = {"gpu": "H200", "mutants": 6, "compile_only": False}
    (tmp_path / "work" / "prove" / "settings.json").write_text(json.dumps(settings))
    given = rows(2)
    for row, found in zip(given, ("wrong index", "wrong index", None, None), strict=True):
        row["verified"]["mutants"] = {"tried": 6, "compiled": 1 if found else 0, "found": found}
    _, folder = export(tmp_path, given)
    assert "found out by its cases; 2 rows have none" in (folder / "curated.md").read_text()
    _, folder = export(tmp_path, given[:2])
    assert "found out by its cases.\n" in (folder / "curated.md").read_text()


def test_the_name_of_the_list_is_no_name_of_a_set(tmp_path):
    with pytest.raises(SettingsError, match=r"name='dataset_info': dataset_info\.json is the list"):
        ExportSettings.read(["work", "name=dataset_info"])


def test_a_format_given_twice_is_written_once(tmp_path):
    _, folder = export(tmp_path, rows(2), validation=0.0, formats=("alpaca", "alpaca"))
    assert len(json.loads((folder / "curated.json").read_text())) == 4


@pytest.mark.parametrize(("tasks", "share"), [(1, 0.6), (2, 0.99), (1, 0.99)])
def test_one_task_is_always_left_to_train_on(tmp_path, tasks, share):
    summary, folder = export(tmp_path, rows(tasks), validation=share)
    assert len(json.loads((folder / "curated.json").read_text())) == 2
    assert any("validation=" in note and "left to train on" in note for note in summary.notes)
    assert not export(tmp_path, rows(8), validation=0.25)[0].notes


def test_a_task_is_one_behind_comments_and_punctuation(tmp_path):
    programs, modules = rows(20), rows(20)
    for row in programs:
        row["prompt"] = row["task"]["prompt"] = (
            f"Double vector {row['task']['id']}" + (".", "")[int(row["id"].endswith("1"))]
        )
    for row in modules:
        comment = "  # the answer" if row["id"].endswith("1") else ""
        row |= {"kind": "module", "answer_code": "class ModelNew: pass", "id": row["id"].replace("src", "mod")}
        row["module_code"] = f"def value(x):{comment}\n    return x // {row['task']['id'][4:]}\n"
        row["prompt"] = row["task"]["prompt"] = row["id"]
    _, folder = export(tmp_path, programs + modules, validation=0.25)
    train, held_out = both_sides(folder, "id")
    assert not train & held_out and len(held_out) == 10  # of 40 tasks


def test_a_declared_task_is_one_in_two_wordings_and_a_wording_one_under_two_names(tmp_path):
    given = rows(20)
    for row in given:
        number = int(row["task"]["id"][4:])
        row["form"] = "task"
        row["task"]["prompt"] = f"{'Write' if row['id'].endswith('.0') else 'Give me'} program {number}."
        row["task"]["id"] = f"task{number}"
    chained = {**given[-1], "id": "src:19.2", "key": "f" * 32, "form": "task"}
    chained["task"] = {"id": "task0", "prompt": given[-1]["task"]["prompt"]}  # joins the tasks 0 and 19
    _, folder = export(tmp_path, [*given, chained], validation=0.3)
    train, held_out = both_sides(folder, "id")
    assert not train & held_out
    assert len({"src:0", "src:19"} & train) in (0, 2) and len(train | held_out) == 20


def test_what_a_killed_process_left_goes(tmp_path):
    (tmp_path / "dataset").mkdir()
    left = tmp_path / "dataset" / ".curated_eval.json.17.1.part"
    left.write_text("[")
    export(tmp_path, rows(4), validation=0.0)
    assert not left.exists()


def test_two_processes_do_not_write_into_one_folder(tmp_path):
    _, folder = export(tmp_path, rows(4))
    before = (folder / "curated.json").read_bytes()
    with locked(folder), pytest.raises(CurationError, match="another process"):
        export(tmp_path, rows(8))
    assert (folder / "curated.json").read_bytes() == before


def test_the_lengths_of_rows_are_reported():
    settings = ExportSettings(folder="work", cutoff_len=10)
    report = length_report([7, 3, 3, 12, 5, 3, 40], settings)
    assert (report["rows"], report["over"], report["tokens"], report["tokens_lost"]) == (7, 2, 73, 32)
    assert report["quantiles"] == {"0.05": 3, "0.25": 3, "0.5": 5, "0.75": 7, "0.95": 12, "0.99": 12}
    assert report["longest"] == 40 and "quantiles" not in length_report([], settings)
