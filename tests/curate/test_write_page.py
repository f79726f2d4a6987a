"""docs/write.md: its commands, run on two kernels and a local server that replies with what was recorded."""

import json
import re
import shlex

from curation_steps import lines, run
from written_tasks import Writers, put_kernels

from cuset_stage.curate.questions import ANSWERER


def test_the_commands_of_the_page_make_a_data_set_of_kernels(request, tmp_path, monkeypatch):
    page = (request.config.rootpath / "docs" / "write.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", page, re.DOTALL)
    lines_of = (block.replace("\\\n", " ").splitlines() for block in blocks)
    write, funnel = (shlex.split(line)[1:] for each in lines_of for line in each if line.startswith("cuset "))
    put_kernels(tmp_path / "my_kernels")
    monkeypatch.chdir(tmp_path)
    server = Writers()
    try:
        write[-1] = write[-1].replace("http://localhost:8000/v1", server.url)
        again = [*write[:-1], "write={model: Qwen3-Coder}"]  # without the endpoint it takes the kept replies
        for words in (write, funnel, again):
            run(*words[1:])
    finally:
        server.close()
    assert len(server.bodies) == 4  # of each kernel both questions, once
    rows = lines(tmp_path / "outputs" / "written" / "write" / "rows.jsonl")
    said = {row["task"]["prompt"]: f"```cpp\n{row['code'].strip()}\n```" for row in rows}
    dataset = tmp_path / "outputs" / "written" / "dataset"
    made = [row for name in ("curated", "curated_eval") for row in json.loads((dataset / f"{name}.json").read_text())]
    assert {row["instruction"]: row["output"].strip() for row in made} == said
    assert {row["system"] for row in made} == {ANSWERER}  # prompts say what to compute, and not that it is CUDA
