"""Answers of a model to tasks that have none: asked, judged by running them, counted by task, and trained on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml
from chat_server import ChatServer, sends_completion
from curation_steps import lines, put, run
from curation_tree import MODULE, PROGRAM, task_columns
from host_programs import AS_HOST


SQUARE, CUBE = (f"```cpp\n{PROGRAM % {'expression': each}}```" for each in ("x * x", "x * x * x"))
NO_CODE = "I would rather not."
NEW = (MODULE % "x + x").replace("class Model", "class ModelNew")
# What the server says to the first question about each task, and to the others.
SAID = {"square": (f"<think>A product.</think>\n{SQUARE}", CUBE), "cube": (CUBE, CUBE), "halve": (SQUARE, NO_CODE)}


def tasks(folder: Path, names=("square", "cube", "halve")) -> Path:
    """Prompts with a check, and no answer."""
    of = {"square": "x * x", "cube": "x * x * x", "halve": "0.5 * x"}
    prompt = "Read data/x.bin, write {} of every element to data/y.bin."
    rows = [{**task_columns(prompt.format(name), of[name]), "name": name, "licence": "MIT"} for name in names]
    return put(folder / "tasks.jsonl", rows)


def says(text: str):
    return sends_completion(choices=[{"message": {"content": text}, "finish_reason": "stop"}])


@pytest.fixture
def server():
    """Answers as SAID has them, by the task's name in the prompt."""
    server, asked = ChatServer(), Counter()

    def say(handler, body):
        name = re.search(r"write (\w+) of", body["messages"][-1]["content"])[1]
        with server.lock:
            asked[name] += 1
            text = SAID[name][min(asked[name], 2) - 1]
        says(text)(handler, body)

    server.always = say
    yield server
    server.close()


def test_right_samples_are_kept_and_every_task_is_counted(tmp_path, server):
    asked = {"endpoint": server.url, "model": "m", "samples": 2}
    recipe = {"folder": str(tmp_path / "work"), "sources": str(tasks(tmp_path)), "answer": asked}
    recipe |= {"no_gpu": True, "validation": 0, "reasoning": True}
    (tmp_path / "curate.yaml").write_text(yaml.safe_dump(recipe))
    out = run("run", tmp_path / "curate.yaml", AS_HOST)
    prove = tmp_path / "work" / "prove"
    assert not lines(prove / "unsettled.jsonl")
    keys = ("samples", "passed", "reasons")
    rates = {each["name"]: tuple(each[key] for key in keys) for each in lines(prove / "pass_rates.jsonl")}
    found = {"halve": (2, 0, {"mismatch": 1, "no_code": 1}), "square": (2, 1, {"mismatch": 1}), "cube": (2, 2, {})}
    assert rates == found
    assert "3 of 6 samples passed; of 3 tasks 1 were always solved, 1 never\n" in out
    assert re.search(r"never solved: halve \((mismatch 1, no_code 1|no_code 1, mismatch 1)\)", out)
    assert "always solved: cube" in out
    rows = json.loads((tmp_path / "work" / "dataset" / "curated.json").read_text())
    assert len(rows) == 2  # the two answers to cube are one
    (square,) = (row for row in rows if row["name"] == "square")
    assert square["output"].startswith("<think>\nA product.\n</think>\n\n```cpp\n")
    assert "return x * x;" in square["output"]
    assert all(each["sample"]["model"] == "m" for each in lines(prove / "rows.jsonl"))
    assert "| m | 2 |" in (tmp_path / "work" / "dataset" / "curated.md").read_text()
    run("run", tmp_path / "curate.yaml", AS_HOST)
    assert len(server.requests) == 6  # what is there is not asked again


def asked(work: Path, source: Path, *keys: str) -> list[dict]:
    """What `answer` makes of a source."""
    for stage in (["import", source], ["split"], ["deduplicate"], ["write"], ["adapt"], ["answer", *keys]):
        run(stage[0], work, *stage[1:])
    return lines(work / "answer" / "rows.jsonl")


def test_an_answer_that_is_there_is_kept_or_left_out_as_asked(tmp_path, server):
    rows = lines(tasks(tmp_path, ["cube"]))
    path = put(tmp_path / "answered.jsonl", [{**rows[0], "code": PROGRAM % {"expression": "x * x * x * 1.0f"}}])
    asking = [f"endpoint={server.url}", "model=m", "samples=1"]
    found = asked(tmp_path / "work", path, *asking)
    assert [each["id"] for each in found] == ["answered.jsonl:000001"] and not server.requests
    found = asked(tmp_path / "work", path, "answered=add", *asking)
    assert [each["id"] for each in found] == ["answered.jsonl:000001", "answered.jsonl:000001#0"]
    (row,) = asked(tmp_path / "work", path, "answered=replace", *asking)
    assert "* 1.0f" not in json.dumps(row) and row["sample"]["of"] == "answered.jsonl:000001"
    assert len(server.requests) == 1


def test_a_module_is_answered_in_python(tmp_path, server):
    server.always = says(f"```python\n{NEW}```")
    source = put(tmp_path / "modules.jsonl", [{"module_code": MODULE % "2 * x", "name": "double", "licence": "MIT"}])
    found = asked(tmp_path / "work", source, f"endpoint={server.url}", "model=m", "samples=2")
    assert [row["answer_code"] for row in found] == [NEW, NEW]
    assert all(MODULE % "2 * x" in body["messages"][-1]["content"] + "\n" for body in server.bodies)


def test_what_answers_is_checked_and_without_a_model_tasks_end_with_the_fix(tmp_path):
    given = ["run", tmp_path / "work", tasks(tmp_path), "no_gpu=true"]
    out = run(*given, exit_code=1)
    assert "no_answer (3)" in out and "answer={model: FOLDER, samples: 4}" in out
    assert "temprature: no such key; did you mean temperature" in run(*given, "answer={temprature: 1}", exit_code=2)
    assert "no config.json" in run(*given, f"answer={{model: {tmp_path}}}", exit_code=2)
    (tmp_path / "recipe.yaml").write_text("stage: sft\n")
    rounds = ["rounds", *given[1:], f"recipe={tmp_path / 'recipe.yaml'}", "rounds=2"]
    assert "nobody answers" in run(*rounds, exit_code=2)
    asking = "answer={endpoint: 'http://h/v1', model: m}"
    assert "endpoint serves the same model" in run(*rounds, asking, exit_code=2)


FEW = ("square", "cube")
LEARNT = "```cpp\n__global__ void k() {}\nint main() { return 0; }\n```"
RECIPE = {
    "stage": "sft", "do_train": True, "do_eval": True, "finetuning_type": "lora", "lora_rank": 2, "lora_target": "all",
    "template": "qwen", "cutoff_len": 512, "eval_dataset": "of_the_recipe", "per_device_train_batch_size": 1,
    "learning_rate": 1e-6, "max_steps": 4, "save_steps": 1, "use_cpu": True, "report_to": "none",
}  # fmt: skip


@pytest.fixture(scope="module")
def learnt_model(tiny_model, tmp_path_factory):
    """A tiny model that has learnt one answer, which compiles, by heart."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.manual_seed(0)
    model, tokenizer = (kind.from_pretrained(tiny_model) for kind in (AutoModelForCausalLM, AutoTokenizer))
    batch = []
    for row in lines(tasks(tmp_path_factory.mktemp("tasks"), FEW)):
        messages = [{"role": "user", "content": row["prompt"]}]
        asked = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        start = len(tokenizer(asked)["input_ids"])
        ids = torch.tensor([tokenizer(f"{asked}{LEARNT}<|im_end|>")["input_ids"]])
        batch.append((ids, ids.masked_fill(torch.arange(ids.shape[1]) < start, -100)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(400):
        losses = [model(input_ids=ids, labels=labels).loss for ids, labels in batch]
        sum(losses).backward()
        optimizer.step()
        optimizer.zero_grad()
        if max(losses) < 0.01:
            break
    path = tmp_path_factory.mktemp("learnt")
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def test_a_model_of_our_own_answers_on_the_cpu(tmp_path, learnt_model):
    asking = f"answer={{model: {learnt_model}, samples: 2, temperature: 0.2, max_tokens: 64}}"
    out = run("run", tmp_path / "work", tasks(tmp_path, FEW), "compile_only=true", asking)
    assert "of 2 tasks 2 were always solved" in out and "of those that passed were compiled and not run" in out
    assert {row["program"] for row in lines(tmp_path / "work" / "select" / "rows.jsonl")} == {LEARNT[7:-3]}


@pytest.mark.slow
def test_rounds_sample_train_and_sample_from_what_was_trained(tmp_path, learnt_model):
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump({"model_name_or_path": str(learnt_model), **RECIPE}))
    work, asking = tmp_path / "work", f"answer={{model: {learnt_model}, samples: 2, temperature: 0.2, max_tokens: 64}}"
    given = ["rounds", str(work), str(tasks(tmp_path, FEW)), "compile_only=true", asking, "validation=0.4"]
    command = [*given, f"recipe={tmp_path / 'recipe.yaml'}", "rounds=2"]

    def start() -> subprocess.Popen:
        whole = [sys.executable, "-m", "cuset_stage.cli", "curate", *command]
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(whole, start_new_session=True, **output)

    process, first = start(), work / "round1"
    while not (first / "model" / "checkpoint-2").exists():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)  # and not the training, which it began
    process.stdout.close()
    process.wait()
    assert "another process is working in it" in run(*command, exit_code=2)
    os.killpg(process.pid, signal.SIGKILL)
    process = start()
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    assert "Resuming training from" in out
    assert len(re.findall(r"round [12]: 4 of 4 samples passed; of 2 tasks 2 were always solved", out)) == 2
    for number in (1, 2):
        folder = work / f"round{number}"
        assert "eval_loss" in (folder / "model" / "all_results.json").read_text()
        adapters = {row["sample"]["adapter"] for row in lines(folder / "prove" / "rows.jsonl")}
        assert adapters == {None if number == 1 else str(first / "model")}
        funnel = {each["stage"]: each["kept"] for each in json.loads(run("funnel", folder, "format=json"))}
        assert funnel["import"] == 2 and funnel["answer"] == 4
    settings = json.loads((work / "round2" / "training.json").read_text())["command"]
    assert f"adapter_name_or_path={first / 'model'}" in settings
    trained = {path: path.stat().st_mtime_ns for path in work.glob("round*/model/*.safetensors")}
    assert len(trained) == 2
    run(*command)
    assert trained == {path: path.stat().st_mtime_ns for path in trained}
