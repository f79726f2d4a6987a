"""docs/write.md: its commands, run on two kernels and a local server that replies with what was recorded."""

import json
import re
import shlex

from curation_steps import lines
from typer.testing import CliRunner
from written_tasks import Writers, put_kernels

from cuset_stage.cli import app
from cuset_stage.curate.questions import ANSWERER


def test_the_commands_of_the_page_make_a_data_set_of_kernels(request, tmp_path, monkeypatch):
    page = (request.config.rootpath / "docs" / "write.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", page, re.DOTALL)
    commands = [
        line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.startswith("cuset ")
    ]
    assert len(commands) == 2
    put_kernels(tmp_path / "my_kernels")
    monkeypatch.chdir(tmp_path)
    server = Writers()
    try:
        written, funnel = (shlex.split(line.replace("http://localhost:8000/v1", server.url))[1:] for line in commands)
        # Without the endpoint it takes the kept replies.
        again = [*written[:-1], "write={model: Qwen3-Coder}"]
        for words in (written, funnel, again):
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{words}\n{done.output}"
    finally:
        server.close()
    assert len(server.bodies) == 4  # of each kernel both questions, once
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
