"""docs/write.md: its commands, run on two kernels and a local server that replies with what was recorded."""

import json
import re
import shlex

import yaml
from curation_steps import lines
from typer.testing import CliRunner
from written_tasks import Writers, put_kernels

from cuset_stage.cli import app
from cuset_stage.curate.questions import ANSWERER
from cuset_stage.curate.settings import RunSettings


def test_the_commands_of_the_page_make_a_data_set_of_kernels(request, tmp_path, monkeypatch):
    page = (request.config.rootpath / "docs" / "write.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", page, re.DOTALL)
    commands = [
        line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.startswith("cuset ")
    ]
    put_kernels(tmp_path / "my_kernels")
    monkeypatch.chdir(tmp_path)
    server = Writers()
    try:
        for line in commands:
            words = shlex.split(line.replace("http://localhost:8000/v1", server.url), comments=True)[1:]
            if "run" in words and "compile_only=true" not in words:
                words.append("compile_only=true")  # this machine has no GPU
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{line}\n{done.output}"
    finally:
        server.close()
    assert len(commands) == 3 and len(server.bodies) == 4  # of each kernel both questions, once
    rows = lines(tmp_path / "outputs" / "written" / "write" / "rows.jsonl")
    said = {row["task"]["prompt"]: row["code"] for row in rows}
    dataset = tmp_path / "outputs" / "written" / "dataset"
    info = json.loads((dataset / "dataset_info.json").read_text())
    made = [
        row
        for name in ("curated", "curated_eval")
        for row in json.loads((dataset / info[name]["file_name"]).read_text())
    ]
    assert {row["instruction"]: row["output"].strip() for row in made} == {
        prompt: f"```cpp\n{code.strip()}\n```" for prompt, code in said.items()
    }
    assert {row["system"] for row in made} == {ANSWERER}  # prompts say what to compute, and not that it is CUDA
    run, train = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    assert RunSettings.checked(run).write.concurrency == 32 and train["dataset"] in info
