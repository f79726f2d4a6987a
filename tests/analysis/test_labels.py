"""`cuset label`: its numbers are those of the rows that training gets, whatever the number of processes."""

import json

import pytest
from typer.testing import CliRunner

from cuset_stage.analysis.collect import AnalysisError
from cuset_stage.analysis.labels import LabelRequest, summarise
from cuset_stage.cli import app
from cuset_stage.stage.inspect import labelled_rows, open_tokenizer
from cuset_stage.stage.processors import LabelRules


KERNEL = "```cpp\n__global__ void k(int* p) {\n    __shared__ int s[32];\n    p[threadIdx.x] = s[0];\n}\nvoid f(int* p) { k<<<1, 32>>>(p); }\n```"


@pytest.fixture
def dataset(tmp_path):
    """100 rows: a third of them prose, two without a response, one far longer than the rest."""
    rows = [
        {"instruction": f"Write kernel {i}.", "input": "", "output": KERNEL if i % 3 else f"No code in answer {i}."}
        for i in range(97)
    ]
    rows += [{"instruction": "x", "input": "", "output": ""}] * 2
    rows.append({"instruction": "Long.", "input": "", "output": "word " * 3000 + KERNEL})
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "dataset_info.json").write_text(json.dumps({"rows": {"file_name": "rows.json"}}), encoding="utf-8")
    return tmp_path


def request(tiny_model, dataset, **options) -> LabelRequest:
    return LabelRequest(str(tiny_model), ("rows",), dataset_dir=str(dataset), cutoff_len=512, **options)


def test_the_numbers_are_those_of_the_rows_that_training_gets(tiny_model, dataset):
    summary = summarise(request(tiny_model, dataset, workers=1))
    rules = LabelRules(("kernel_body", "launch_config"))
    tokenizer = open_tokenizer(str(tiny_model))
    rows = labelled_rows(tokenizer, str(tiny_model), "rows", str(dataset), "qwen", 512, 100, rules)
    supervised = sum(sum(sample > 0 for sample in row["sample_ids"]) for row in rows)
    cuda = sum(sum(m and s > 0 for m, s in zip(row["cuda_mask"], row["sample_ids"], strict=True)) for row in rows)
    assert (summary.supervised_tokens, summary.cuda_tokens) == (supervised, cuda) and cuda > 0
    assert (summary.rows, summary.unusable, len(rows)) == (100, 2, 98)
    without = sum(not any(row["cuda_mask"]) for row in rows)
    assert summary.rows_without_cuda == without == 33 + 1  # the long row's kernel lies behind the cut
    assert summary.named["rows_truncated"] == [99] == summary.named["rows_cuda_lost"] and summary.named[
        "unusable"
    ] == [97, 98]
    kernel_tokens = cuda // 64
    assert summary.lost_cuda_tokens == kernel_tokens  # of the 64 rows with a kernel that is whole, each has as many
    assert (
        summary.spans["kernel_body"] == summary.rows_with_kind["launch_config"] == 65
        and summary.spans["shared_memory"] == 65
    )


def test_every_turn_that_is_trained_counts(tiny_model, tmp_path):
    turns = [("human", "Write it."), ("gpt", KERNEL), ("human", "Thanks."), ("gpt", "You are welcome.")]
    row = {"conversations": [{"from": who, "value": what} for who, what in turns]}
    (tmp_path / "rows.json").write_text(json.dumps([row]), encoding="utf-8")
    entry = {"file_name": "rows.json", "formatting": "sharegpt", "columns": {"messages": "conversations"}}
    (tmp_path / "dataset_info.json").write_text(json.dumps({"rows": entry}), encoding="utf-8")
    summary = summarise(request(tiny_model, tmp_path, workers=1))
    assert summary.cuda_tokens and summary.rows_without_cuda == 0
    assert summary.spans["kernel_body"] == summary.spans["launch_config"] == 1
    (example,) = summary.examples
    shown = [example.response[start:end] for start, end, _ in example.spans]
    assert shown[1] == "<<<1, 32>>>" and shown[0].startswith("{") and shown[0].endswith("}")
    assert example.response.endswith("You are welcome.") and example.prompt == "Write it.\n\nThanks."


@pytest.mark.parametrize("cutoff_len", [12, 600])
def test_an_end_token_that_llamafactory_adds_itself_is_counted(tiny_model, tmp_path, cutoff_len):
    turns = [("human", "Write it."), ("gpt", KERNEL), ("human", "Again."), ("gpt", KERNEL)]
    row = {"conversations": [{"from": who, "value": what} for who, what in turns]}
    (tmp_path / "rows.json").write_text(json.dumps([row]), encoding="utf-8")
    entry = {"file_name": "rows.json", "formatting": "sharegpt", "columns": {"messages": "conversations"}}
    (tmp_path / "dataset_info.json").write_text(json.dumps({"rows": entry}), encoding="utf-8")

    def counts(cutoff: int):
        return summarise(
            LabelRequest(str(tiny_model), ("rows",), str(tmp_path), "solar", cutoff_len=cutoff, examples=0, workers=1)
        )

    whole, cut = counts(4096), counts(cutoff_len)
    assert whole.lost_tokens == whole.rows_truncated == 0
    assert cut.longest == whole.longest and cut.supervised_tokens + cut.lost_tokens == whole.supervised_tokens
    # One token too few is one that is lost.
    assert counts(whole.longest).rows_truncated == 0 and counts(whole.longest - 1).rows_truncated == 1


def test_processes_change_nothing(tiny_model, dataset):
    one, two = (summarise(request(tiny_model, dataset, workers=workers)).as_json() for workers in (1, 2))
    assert one == two


def test_the_command_writes_a_page_and_a_summary(tiny_model, dataset, tmp_path):
    page, numbers = tmp_path / "out" / "page.html", tmp_path / "out" / "numbers.json"
    arguments = [
        "label",
        "--model",
        str(tiny_model),
        "--dataset",
        "rows",
        "--dataset-dir",
        str(dataset),
        "--cutoff-len",
        "512",
    ]
    done = CliRunner().invoke(app, [*arguments, "--output", str(page), "--json", str(numbers), "--workers", "1"])
    assert done.exit_code == 0, done.output
    record = json.loads(numbers.read_text())
    assert record["truncation"]["rows"] == 1 and sum(each["rows"] for each in record["length_histogram"]) == 98
    assert f"CUDA tokens: {record['cuda_tokens']:,}" in done.output
    html = page.read_text(encoding="utf-8")
    assert '<mark class="launch_config" title="launch_config">&lt;&lt;&lt;1, 32&gt;&gt;&gt;</mark>' in html
    assert "<script" not in html and "http" not in html


def test_a_data_set_without_cuda_is_said_loudly(tiny_model, tmp_path):
    (tmp_path / "rows.json").write_text(
        json.dumps([{"instruction": "Hi", "input": "", "output": "Hello."}]), encoding="utf-8"
    )
    (tmp_path / "dataset_info.json").write_text(json.dumps({"rows": {"file_name": "rows.json"}}), encoding="utf-8")
    done = CliRunner().invoke(
        app, ["label", "--model", str(tiny_model), "--dataset", "rows", "--dataset-dir", str(tmp_path)]
    )
    assert done.exit_code == 1 and "not one CUDA token" in done.output


def test_faults_name_the_option(tiny_model, dataset, tmp_path):
    for options, word in (
        (dict(datasets=("other",)), "rows"),
        (dict(template="qwne"), "did you mean"),
        (dict(model=str(tmp_path / "no")), "--model"),
        (dict(kinds=("nothing",)), "kernel_body"),
    ):
        with pytest.raises(AnalysisError, match=word):
            summarise(
                LabelRequest(
                    **{"model": str(tiny_model), "datasets": ("rows",), "dataset_dir": str(dataset), **options}
                )
            )
    with pytest.raises(AnalysisError, match="--cutoff-len 1"):
        LabelRequest("m", ("rows",), cutoff_len=1)


@pytest.mark.parametrize(
    "data", [b'[{"instruction": "x", "input": "", "output": "y\xff"}]', b'[{"instruction": 1}, {"instruction": "x"}]']
)
def test_a_file_that_cannot_be_read_ends_with_a_sentence(tiny_model, dataset, data):
    (dataset / "rows.json").write_bytes(data)
    with pytest.raises(AnalysisError, match="--dataset rows: a file of it cannot be read"):
        summarise(request(tiny_model, dataset, workers=1))
