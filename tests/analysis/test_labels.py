"""`cuset label`: its numbers are those of the rows that training gets, whatever the number of processes."""

import json
from pathlib import Path

import pytest
from commands import cuset
from data_sets import write_data_set
from typer.testing import CliRunner

from cuset_stage.analysis.labels import figures, render, summarise
from cuset_stage.analysis.requests import LabelSettings
from cuset_stage.cli import app
from cuset_stage.curate.settings import ImportSettings
from cuset_stage.settings import SettingsError, read_yaml
from cuset_stage.stage.loading import OneProcess, open_tokenizer
from cuset_stage.stage.processors import LabelRules, labelling
from cuset_stage.text import InputError


KERNEL = "```cpp\n__global__ void k(int* p) {\n    __shared__ int s[32];\n    p[threadIdx.x] = s[0];\n}\nvoid f(int* p) { k<<<1, 32>>>(p); }\n```"


def write_turns(folder, *turns):
    row = {"conversations": [{"from": who, "value": what} for who, what in turns]}
    write_data_set(folder, "rows", [row], formatting="sharegpt", columns={"messages": "conversations"})


@pytest.fixture
def dataset(tmp_path):
    """100 rows: a third of them prose, two without a response, one far longer than the rest."""
    rows = [
        {"instruction": f"Write kernel {i}.", "input": "", "output": KERNEL if i % 3 else f"No code in answer {i}."}
        for i in range(97)
    ]
    rows += [{"instruction": "x", "input": "", "output": ""}] * 2
    rows.append({"instruction": "Long.", "input": "", "output": "word " * 3000 + KERNEL})
    write_data_set(tmp_path, "rows", rows)
    return tmp_path


def labels_of(tiny_model, folder, **changes):
    settings = {"model": tiny_model, "dataset": "rows", "dataset_dir": folder, "cutoff_len": 512, "workers": 1}
    return summarise(LabelSettings.read([f"{key}={value}" for key, value in (settings | changes).items()]))


def rows_of_training(tiny_model, dataset, **options):
    """The rows that LLaMA-Factory's own `get_dataset` gives a run."""
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, ModelArguments

    tokenizer = open_tokenizer(str(tiny_model))
    data_args = DataArguments(template="qwen", dataset="rows", dataset_dir=str(dataset), cutoff_len=512, **options)
    run = OneProcess()
    run.should_save = run.predict_with_generate = False
    with labelling(LabelRules(("kernel_body", "launch_config"))):
        template = get_template_and_fix_tokenizer(tokenizer, data_args)
        arguments = (template, ModelArguments(model_name_or_path=str(tiny_model)), data_args, run)
        return list(get_dataset(*arguments, stage="sft", tokenizer=tokenizer)["train_dataset"])


def test_the_numbers_are_those_of_the_rows_that_training_gets(tiny_model, dataset):
    record, _ = labels_of(tiny_model, dataset)
    rows = rows_of_training(tiny_model, dataset)
    supervised = sum(sum(sample > 0 for sample in row["sample_ids"]) for row in rows)
    cuda = sum(sum(m and s > 0 for m, s in zip(row["cuda_mask"], row["sample_ids"], strict=True)) for row in rows)
    assert (record["supervised_tokens"], record["cuda_tokens"]) == (supervised, cuda) and cuda > 0
    assert (record["rows"], record["unusable_rows"], len(rows)) == (100, 2, 98)
    without = sum(not any(row["cuda_mask"]) for row in rows)
    assert record["rows_without_cuda"] == without == 33 + 1  # the long row's kernel lies behind the cut
    named = record["row_numbers"]
    told = dict(figures(record))["rows without CUDA"]
    assert told.startswith("34 of 98 (rows ") and told.endswith(" ...)") and told.count(", ") == 9
    assert dict(figures(record))["rows that training drops"] == "2 (rows 98, 99)"
    assert named["rows_truncated"] == [100] == named["rows_cuda_lost"] and named["unusable"] == [98, 99]
    # Of the 64 rows with a kernel that is whole, each has as many.
    assert record["truncation"]["lost_cuda_tokens"] == cuda // 64
    assert record["spans"]["kernel_body"] == record["spans"]["shared_memory"] == {"spans": 65, "rows": 65}
    assert record["spans"]["launch_config"]["rows"] == 65


def test_every_turn_that_is_trained_counts(tiny_model, tmp_path):
    write_turns(tmp_path, ("human", "Write it."), ("gpt", KERNEL), ("human", "Thanks."), ("gpt", "You are welcome."))
    record, (example,) = labels_of(tiny_model, tmp_path)
    assert record["cuda_tokens"] and record["rows_without_cuda"] == 0
    assert all(record["spans"][kind]["spans"] == 1 for kind in ("kernel_body", "launch_config"))
    shown = [example.response[start:end] for start, end, _ in example.spans]
    assert shown[1] == "<<<1, 32>>>" and shown[0].startswith("{") and shown[0].endswith("}")
    assert example.response.endswith("You are welcome.") and example.prompt == "Write it.\n\nThanks."


@pytest.mark.parametrize("cutoff_len", [12, 600])
def test_an_end_token_that_llamafactory_adds_itself_is_counted(tiny_model, tmp_path, cutoff_len):
    write_turns(tmp_path, ("human", "Write it."), ("gpt", KERNEL), ("human", "Again."), ("gpt", KERNEL))

    def counts(cutoff: int):
        record, _ = labels_of(tiny_model, tmp_path, template="solar", cutoff_len=cutoff)
        cut = record["truncation"]
        return record["longest_row"], record["supervised_tokens"], cut["lost_tokens"], cut["rows"]

    longest, supervised, *lost = counts(4096)
    assert lost == [0, 0]
    cut = counts(cutoff_len)
    assert cut[0] == longest and cut[1] + cut[2] == supervised
    # One token too few is one that is lost.
    assert counts(longest)[3] == 0 and counts(longest - 1)[3] == 1


def test_processes_change_nothing(tiny_model, dataset):
    one, two = (labels_of(tiny_model, dataset, workers=workers)[0] for workers in (1, 2))
    assert one == two


def test_the_command_writes_a_page_and_a_summary(tiny_model, dataset, tmp_path):
    page, numbers = tmp_path / "out" / "page.html", tmp_path / "out" / "numbers.json"
    keys = {"model": tiny_model, "dataset": "rows", "dataset_dir": dataset, "cutoff_len": 512, "workers": 1}
    said = cuset("label", **keys, output=page, numbers=numbers)
    record = json.loads(numbers.read_text())
    assert record["truncation"]["rows"] == 1
    assert f"CUDA tokens: {record['cuda_tokens']:,}" in said
    html = page.read_text(encoding="utf-8")
    assert '<mark class="launch_config" title="launch_config">&lt;&lt;&lt;1, 32&gt;&gt;&gt;</mark>' in html
    assert "<script" not in html and "http" not in html


def test_the_package_s_data_are_found_from_any_folder(tiny_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "rows: 2\n" in cuset("label", model=tiny_model, dataset="cuset_kernels_eval", max_samples=2, workers=1)
    source = ImportSettings.read([str(tmp_path / "made"), "data/cuset_train_tasks.jsonl", "preset=cuset"])
    assert source.path.is_file() and read_yaml(Path("yaml_configs/studies/cpu.yaml"))["tasks"]
    with pytest.raises(SettingsError, match=r"none/data\.yaml: cannot be read"):
        read_yaml(Path("none/data.yaml"))


@pytest.mark.parametrize(("response", "said"), [("Hello.", "not one CUDA token"), ("", "not one row with a response")])
def test_a_data_set_without_cuda_is_said_loudly(tiny_model, tmp_path, response, said):
    data = write_data_set(tmp_path, "rows", [{"instruction": "Hi", "input": "", "output": response}])
    keys = [f"{key}={value}" for key, value in {"model": tiny_model, **data, "numbers": "-"}.items()]
    done = CliRunner().invoke(app, ["label", *keys])
    assert not json.loads(done.stdout)["cuda_share"]
    assert done.exit_code == 1 and said in done.stderr


@pytest.mark.parametrize(
    ("language", "spans"), [("cuda", []), ("triton", ["f(x)", "[(1,)]"]), ("auto", ["f(x)", "[(1,)]"])]
)
def test_another_language_is_labelled_and_shown(tiny_model, tmp_path, language, spans):
    output = "```python\nimport triton\n\n\n@triton.jit\ndef k(x):\n    f(x)\n\n\nk[(1,)](x)\n```"
    write_data_set(tmp_path, "rows", [{"instruction": "Write it.", "input": "", "output": output}])
    record, examples = labels_of(tiny_model, tmp_path, language=language)
    (example,) = examples
    assert [example.response[start:end] for start, end, _ in example.spans] == spans
    assert bool(record["cuda_tokens"]) == bool(spans) and record["language"] == language
    assert all(f">{span}<" in render(record, examples) for span in spans)


def test_a_folder_without_a_tokenizer_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"model=.*no tokenizer there"):
        labels_of(tmp_path, tmp_path)


def test_a_message_that_no_template_takes_is_named(tiny_model, tmp_path):
    """LLaMA-Factory reads it, and fails where it is tokenized."""
    write_turns(tmp_path, ("human", None), ("gpt", KERNEL))
    with pytest.raises(InputError, match=r"rows\.json: row 1: entry 1 of 'conversations' is {'from': 'human', "):
        labels_of(tiny_model, tmp_path)


def test_a_process_whose_rows_are_all_dropped_does_not_stop_training(tiny_model, tmp_path):
    rows = [{"instruction": "Go.", "output": output} for output in (None, KERNEL)]
    write_data_set(tmp_path, "rows", rows, columns={"prompt": "instruction", "response": "output"})
    (trained,) = rows_of_training(tiny_model, tmp_path, preprocessing_num_workers=2)
    assert any(trained["cuda_mask"])


def test_weights_that_the_data_give_are_counted_and_shown(tiny_model, tmp_path):
    said = "Sure! " + KERNEL
    start = said.index("__shared__")
    spans = [
        {"start": 0, "end": 5, "weight": 0},
        {"start": start, "end": start + 10, "weight": 4, "kind": "kernel_body"},
        {"start": 0, "end": 4, "kind": "launch_config"},
    ]
    rows = [{"instruction": "Go.", "output": said, "w": 0.5, "s": spans}]
    rows.append({"instruction": "Why?", "output": "So.", "w": 1, "s": []})
    columns = {"prompt": "instruction", "response": "output", "weight": "w", "spans": "s"}
    write_data_set(tmp_path, "rows", rows, columns=columns)
    record, examples = labels_of(tiny_model, tmp_path)
    trained = rows_of_training(tiny_model, tmp_path)
    weights = [w for row in trained for w, s in zip(row["token_weights"], row["sample_ids"], strict=True) if s]
    assert record["weights"]["mean"] == pytest.approx(sum(weights) / len(weights))
    assert record["weights"]["share_of_0"] == weights.count(0.0) / len(weights) > 0
    page = render(record, examples)
    for kind, style, weight, text in (("launch_config", "none", 0, "Sure"), ("kernel_body", "heavy", 2, "__shared__")):
        mark = f'<mark class="{kind}" title="{kind}">{text}</mark>'
        assert f'<span class="{style}" title="weight {weight}">{mark}</span>' in page
    assert "0 for " in dict(figures(record))["weight of a supervised token"]
