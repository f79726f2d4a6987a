"""What `export` leaves for LLaMA-Factory: both formats, a merged dataset_info.json, a split by task, a data card."""

import json
from pathlib import Path

import pytest
from curation_steps import export as export_set
from curation_steps import put

from cuset_stage.answers import extract_code
from cuset_stage.curate.rows import CurationError
from cuset_stage.curate.stage import run_stage
from cuset_stage.curate.training_rows import length_report, task_groups
from cuset_stage.spans import find_spans


def rows(count: int, answers: int = 2) -> list[dict]:
    """`count` tasks with `answers` rows each."""

    def row(task: int, answer: int) -> dict:
        source = {"name": "src", "revision": "abc", "licence": "MIT"}
        made = {"id": f"src:{task}.{answer}", "kind": "program", "source": source, "verified": {"verdict": "passed"}}
        made |= {"task": {"id": f"task{task}", "prompt": f"Write program number {task}."}}
        made |= {"program": f"__global__ void k{task}_{answer}() {{}}\n", "family": "scan" if task % 2 else "sort"}
        return made

    return [row(task, answer) for task in range(count) for answer in range(answers)]


def export(tmp_path, given: list[dict], **options):
    folder = tmp_path / "dataset"
    return export_set(tmp_path / "work", put(tmp_path / "rows.jsonl", given), output=folder, **options), folder


def exported(folder: Path, name: str = "curated") -> list[dict]:
    return json.loads((folder / f"{name}.json").read_text())


def test_rows_of_one_task_are_on_one_side(tmp_path):
    summary, folder = export(tmp_path, rows(40), validation=0.25)
    train, held_out = exported(folder), exported(folder, "curated_eval")
    assert summary.kept == 80 and (len(train), len(held_out)) == (60, 20) and not summary.notes
    assert not {row["instruction"] for row in train} & {row["instruction"] for row in held_out}
    export(tmp_path, rows(40), validation=0.25)
    assert exported(folder, "curated_eval") == held_out
    export(tmp_path, rows(40), validation=0.25, seed=1)
    assert exported(folder, "curated_eval") != held_out
    (folder / "own_eval.json").write_text("[]", encoding="utf-8")
    export(tmp_path, rows(40), validation=0.0)  # all of them are trained on now
    assert set(json.loads((folder / "dataset_info.json").read_text())) == {"curated"}
    assert {path.name for path in folder.glob("*_eval.json")} == {"own_eval.json"}


@pytest.mark.parametrize("word", ["eval", "test", "validation", "Dev "])
def test_a_task_that_says_its_split_keeps_it(tmp_path, word):
    given = rows(6)
    for row in given:
        row["task"]["split"] = word if row["task"]["id"] in ("task1", "task4") else "train"
    summary, folder = export(tmp_path, given, validation=0.5)
    held_out = {row["instruction"] for row in exported(folder, "curated_eval")}
    assert held_out == {"Write program number 1.", "Write program number 4."} and not summary.notes


@pytest.mark.parametrize(("tasks", "share"), [(1, 0.6), (2, 0.99), (1, 0.99)])
def test_one_task_is_always_left_to_train_on(tmp_path, tasks, share):
    summary, folder = export(tmp_path, rows(tasks), validation=share)
    assert len(exported(folder)) == 2
    assert any("validation=" in note and "left to train on" in note for note in summary.notes)


@pytest.mark.parametrize(
    "comment",
    ["/*\n```\nnvcc a.cu\n```\n*/\n", "/** See\n * ```cpp\n * k<<<1, 1>>>(p);\n * ```\n */\n", "int x;  // ````\n"],
)
@pytest.mark.parametrize("reasoning", [False, True])
def test_the_judge_reads_the_program_that_was_verified_from_the_answer(tmp_path, comment, reasoning):
    program = f"{comment}__global__ void k(int* p) {{ *p = 1; }}\nint main() {{ k<<<1, 1>>>(0); }}\n"
    given = [rows(1, 1)[0] | {"program": program, "reasoning": "<think>\nFirst\n<think>\nthen."}]
    _, folder = export(tmp_path, given, reasoning=reasoning)
    (row,) = exported(folder)
    assert extract_code(row["output"]).strip() == program.strip()
    labelled = [row["output"][span.start : span.end] for span in find_spans(row["output"])]
    assert labelled == ["{ *p = 1; }", "<<<1, 1>>>"]
    assert row["output"].startswith("<think>\nFirst\n\nthen.\n</think>\n\n`") is reasoning


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"intro": "Like\n```cpp\nint main() {}\n```\nbut better:"}, "not_read_back"),
        ({"program": "__global__ void k() {}  // \ud83d\n"}, "not_utf8"),
        ({"program": None, "code": "__global__ void k() {}"}, "no_answer"),  # a row of a stage before `adapt`
    ],
)
def test_an_answer_that_nothing_is_learned_from_costs_itself_alone(tmp_path, change, reason):
    given = rows(2, 1)
    given[0] |= change
    summary, folder = export(tmp_path, given, validation=0.0)
    assert summary.reasons == {reason: 1} and len(exported(folder)) == 1
    assert not export(tmp_path, given[:1])[0].kept and len(exported(folder)) == 1  # the data set of before stays


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
    info.write_text(json.dumps({"mine": {"file_name": "mine.json"}}), encoding="utf-8")
    export(tmp_path, rows(4))
    assert set(json.loads(info.read_text())) == {"mine", "curated", "curated_eval"}  # others stay
    (folder / "curated.json").unlink()
    info.write_text(json.dumps({name: entry}), encoding="utf-8")
    (folder / "curated_eval.json").write_text('[{"q": "mine"}]', encoding="utf-8")
    with pytest.raises(CurationError, match=said):
        export(tmp_path, rows(4))
    assert json.loads(info.read_text()) == {name: entry} and "mine" in (folder / "curated_eval.json").read_text()
    assert not (folder / "curated.json").exists()  # nothing is written before that is known
    info.write_text("{", encoding="utf-8")
    with pytest.raises(CurationError, match="not JSON"):
        export(tmp_path, rows(1))


@pytest.mark.parametrize("name", ["curated.json", "curated_eval.json", "curated.md"])
def test_a_file_that_the_export_has_not_written_stays(tmp_path, name):
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(CurationError, match=rf"{name}: the data set would overwrite this file"):
        export(tmp_path, rows(4))
    assert [file.name for file in folder.iterdir()] == [name] and (folder / name).read_text() == "mine"


def test_a_file_of_the_user_s_stays_beside_an_earlier_export(tmp_path):
    export(tmp_path, rows(4), validation=0.0)
    (tmp_path / "dataset" / "curated_eval.json").write_text("mine")
    with pytest.raises(CurationError, match=r"curated_eval\.json: the data set would overwrite this file"):
        export(tmp_path, rows(4), validation=0.0)


def test_two_exports_into_one_folder_keep_both_entries(tmp_path, monkeypatch):
    def beside(*arguments, **keys):
        monkeypatch.undo()
        export_set(tmp_path / "other", tmp_path / "rows.jsonl", output=tmp_path / "dataset", name="other")
        return run_stage(*arguments, **keys)

    monkeypatch.setattr("cuset_stage.curate.export.run_stage", beside)
    export(tmp_path, rows(4))
    made = {"curated", "curated_eval", "other", "other_eval"}
    assert set(json.loads((tmp_path / "dataset" / "dataset_info.json").read_text())) == made


def test_the_card_counts_rows_families_licences_and_lengths(tmp_path):
    _, folder = export(tmp_path, rows(4), validation=0.25, cutoff_len=50)
    card = (folder / "curated.md").read_text()
    counts = ("train | 6 | 3", "eval | 2 | 1", "sort | 4", "scan | 4", "MIT | 8", "src @ abc | 8")
    assert all(f"| {count} |" in card for count in counts)
    assert "not held against any benchmark" in card and "were not verified" in card
    assert "8 rows are longer than cutoff_len 50" in card
    given = rows(4, 1)
    given[0]["task"]["prompt"] = " "  # a row that is dropped, and its task with it
    export(tmp_path, given, validation=0.0)
    assert "| train | 3 | 3 |" in (folder / "curated.md").read_text()
    # Which rows no wrong version was tried on.
    settings = {"gpu": "H200", "mutants": 6, "compile_only": False}
    run_stage(tmp_path / "work", "prove", (), lambda row: [row], settings=settings)
    given = rows(2)
    for row, found in zip(given, ("wrong index", "wrong index", None, None), strict=True):
        row["verified"]["mutants"] = {"tried": 6, "compiled": 1 if found else 0, "found": found}
    export(tmp_path, given)
    assert "found out by its cases; 2 rows have none" in (folder / "curated.md").read_text()
    export(tmp_path, given[:2])
    assert "found out by its cases.\n" in (folder / "curated.md").read_text()


def test_llamafactory_reads_what_was_written(tmp_path, tiny_model):
    from cuset_stage.analysis.labels import summarise
    from cuset_stage.analysis.requests import LabelSettings

    _, folder = export(tmp_path, rows(8), validation=0.0)
    model = {"model": str(tiny_model), "dataset_dir": str(folder), "workers": 1}
    record, _ = summarise(LabelSettings(**model, dataset="curated"))
    assert record["rows"] == 16 and record["cuda_tokens"] > 0


def program(asked: str, identity: str = "", **more) -> dict:
    return {"id": asked, "kind": "program", "task": {"id": identity, "prompt": asked}, **more}


def module(code: str, prompt: str) -> dict:
    return {"id": prompt, "kind": "module", "module_code": code, "task": {"prompt": prompt}}


@pytest.mark.parametrize(
    ("rows", "same"),
    [
        ([program("Double a."), program("double  a")], True),  # but for punctuation, case and spaces
        ([program("Double a."), program("Halve a.")], False),
        ([program("Files of 1", description="Sort."), program("Files of 2", description="Sort.")], True),
        ([program("Files of 1", prompt="Sort."), program("Files of 2", prompt="Sort.")], True),
        ([program("Files of 1", prompt="Sort."), program("Files of 1", prompt="Scan.")], False),
        ([program("Write 1.", "t", form="task"), program("Give me 1.", "t", form="task")], True),  # as its set says
        ([program("Write 1.", "t"), program("Give me 1.", "t")], False),
        ([program("a", "1", form="task"), program("b", "2", form="task"), program("a", "2", form="task")], True),
        ([module("def f(x):  # y\n    return x // 2\n", "a"), module("def f(x):\n    return x // 2\n", "b")], True),
        ([module("def f(x):\n    return x // 2\n", "a"), module("def f(x):\n    return x // 4\n", "a")], False),
    ],
)
def test_answers_to_one_task_are_known_whatever_they_are_asked_with(rows, same):
    assert (len(set(task_groups(rows))) == 1) is same
    assert sorted(task_groups(rows[::-1])) == sorted(task_groups(rows))


def test_the_lengths_of_rows_are_reported():
    report = length_report([7, 3, 3, 12, 5, 3, 40], 10)
    assert (report["over"], report["tokens"], report["tokens_lost"]) == (2, 73, 32)
    assert report["quantiles"] == {"5%": 3, "25%": 3, "50%": 5, "75%": 7, "95%": 12, "99%": 12, "100%": 40}
    assert length_report([], 10)["quantiles"] == {}
