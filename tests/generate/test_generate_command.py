"""`cuset generate` with a model of our own."""

import json

import pytest
import torch

from cuset_stage.generate import backend
from cuset_stage.generate.settings import BackendSettings


def test_command_writes_and_goes_on(command, tmp_path, tiny_model):
    sampled = ("samples=2", "temperature=0.8", "top_p=0.95", "batch_size=3", "seed=3")
    said = command("only=tiled_sgemm,row_argmax", *sampled)
    assert "(4 made, 0 there before, 0 failed)" in said
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    cut = sum(line["finish_reason"] == "length" for line in lines)
    assert cut and f"note: {cut} of 4 answers were cut at max_tokens=8" in said
    made = {(task, sample) for task in ("tiled_sgemm", "row_argmax") for sample in (0, 1)}
    assert {(line["task"], line["sample"]) for line in lines} == made
    recorded = {"model": str(tiny_model), "adapter": None, "level": 1, "temperature": 0.8, "top_p": 0.95, "seed": 3,
                "max_tokens": 8, "dtype": "float32", "backend": "hf", "system": None, "template": None}  # fmt: skip
    recorded["chosen_tasks"] = {"only": ["tiled_sgemm", "row_argmax"]}
    assert all(recorded.items() <= line.items() for line in lines)
    said = command("split=eval", "limit=3", *sampled)
    assert "(6 made, 0 there before, 0 failed)" in said or "(4 made, 2 there before, 0 failed)" in said


@pytest.mark.parametrize(("device", "size"), [("cpu", 8), ("cuda", 128)])
def test_the_device_decides_how_many_are_written_at_a_time(device, size, tiny_model, monkeypatch):
    monkeypatch.setattr(backend, "chosen_device", lambda *_, **__: device)
    _, opened = backend.choose_backend(BackendSettings(model=str(tiny_model), dtype="float32"))
    assert opened.keywords["batch_size"] == size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["samples=2"], "greedy decoding writes the same answer every time"),
        (["samples=0"], "samples='0': expected greater than 0"),
        (["only=tiled_sgem"], "tiled_sgemm"),
        (["dtype=bf16"], "dtype='bf16': expected 'auto', 'bfloat16', 'float16' or 'float32'"),
        (["extra_body={}"], "extra_body is not for a model of our own"),
        (["template_args=[1]"], "template_args=[1]: expected a valid dictionary"),
        (["--max-tokens", "9"], "max_tokens=9"),
        (["endpoint=localhost:8000"], "expected an address such as"),
        (["endpoint=http://localhost:1/v1", "adapter=a"], "adapter is not for an endpoint"),
        (["endpoint=http://localhost:1/v1", "extra_body={temperature: 1}"], "'temperature' is not for it"),
        (["endpoint=http://localhost:1/v1", "extra_body={a: .nan}"], "no JSON (Out of range float"),
        (["endpoint=http://localhost:1/v1", "extra_body={a: 2026-01-01}"], "no JSON (Object of type date"),
        (["endpoint=http://localhost:1/v1", "api_key_env=NO_SUCH_KEY"], "NO_SUCH_KEY: this environment variable"),
        (["model=/nowhere/model"], "model=/nowhere/model: there is no such folder"),
        (["model=ADAPTER"], "this is an adapter; give its base as model=... and this as adapter"),
        (["model=EMPTY"], "no config.json there"),
        (["adapter=EMPTY"], "no adapter_config.json there"),
        (["device=cuda"], "torch sees no CUDA GPU here"),
    ],
)
def test_command_refuses_with_a_sentence(command, adapter, tmp_path, options, message):
    if options == ["device=cuda"] and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    given = [option.replace("ADAPTER", str(adapter)).replace("EMPTY", str(tmp_path)) for option in options]
    said = command(*given, exit_code=2)
    assert message in said and "Traceback" not in said


def test_the_tasks_are_not_overwritten(command, tmp_path):
    file = tmp_path / "tasks.jsonl"
    file.write_text("mine")
    assert "the command reads this file" in command(f"tasks={file}", f"output={file}", exit_code=2)
    assert file.read_text() == "mine"
