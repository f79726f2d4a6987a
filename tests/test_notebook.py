"""notebooks/: every cell runs on a CPU with a tiny model, and asks a GPU for 4 bits in the type that the card computes in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch
import yaml
from commands import cuset

from cuset_stage.cli._app import COMMANDS


ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "notebooks" / "qlora_15gib.ipynb"


def cells() -> list[str]:
    return [cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Where the notebook is told to write; what it sets in the environment goes with the test."""
    for name in ("PATH", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setenv("CUSET_NOTEBOOK_FOLDER", str(tmp_path / "run"))
    return tmp_path / "run"


def test_it_is_valid_and_holds_no_output():
    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs or cell.execution_count for cell in code)


@pytest.mark.slow
def test_every_cell_runs_on_a_cpu(tiny_model, folder, tmp_path, monkeypatch, capsys):
    few = {"MODEL": tiny_model, "ROWS": 4, "HELD_OUT": 2, "PAIRS": 4}
    for name, value in few.items():
        monkeypatch.setenv(f"CUSET_NOTEBOOK_{name}", str(value))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    names = {}

    for source in cells():
        exec(source, names)
        if "llamafactory-cli" in source:
            # In processes of their own were `cuset init` and the training; what is imported already need not be imported again.
            names["run"] = lambda _, *command: cuset(*command)
    table = capsys.readouterr().out.rpartition("right preferred")[2].splitlines()
    before, after = ([float(number) for number in line.split()[1:]] for line in table[1:3])
    assert len(before) == len(after) == 3 and all(0 <= number <= 1 for number in before + after)
    assert json.loads((folder / "pairs.json").read_text())["comparisons"], "before and after on the same pairs"
    assert (folder / "output" / "adapter_model.safetensors").is_file() and (folder / "heatmap.html").is_file()


@pytest.mark.parametrize(("capability", "half"), [((7, 5), "fp16"), ((9, 0), "bf16")])
def test_a_gpu_gets_4_bits_and_the_type_that_it_computes_in(capability, half, folder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a card")
    (folder / "output").mkdir(parents=True)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (folder / "output" / name).write_text("{}")  # as the training would
    names, commands = {}, []
    for source in cells()[:-1]:  # the last one reads what was measured
        exec(source, names)
        if "train.yaml" in source and not commands:  # written by `cuset init`; what follows needs the GPU
            names["run"] = lambda *command: commands.append(command)
    recipe = yaml.safe_load((folder / "train.yaml").read_text())
    assert recipe["quantization_bit"] == 4 and recipe["model_name_or_path"].endswith("1.5B-Instruct")
    (train, *measured) = commands
    assert {"bf16=true", "fp16=true"} & {*train} == {f"{half}=true"}
    assert [command[1] for command in measured] == ["analyze", "heatmap", "pairs"]
    for _, name, *keys in measured:
        settings = COMMANDS[name].read(keys)
        asked = getattr(settings, "models", None) or {"the model": settings}
        assert {request.quantization_bit for request in asked.values()} == {4}


@pytest.mark.parametrize("works", [True, False])
def test_the_script_records_what_the_cells_print(works, tmp_path):
    sources = ["import os\nprint('in', os.getcwd())", "x = 1" if works else "x = 1 / 0", "print(x)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbformat.write(notebook, tmp_path / "small.ipynb")
    script, paths = ROOT / "scripts" / "run_notebook.py", [tmp_path / "small.ipynb", "--json", tmp_path / "record"]
    assert subprocess.run([sys.executable, script, *paths]).returncode == (0 if works else 1)
    record = json.loads((tmp_path / "record").read_text())
    printed = [cell["printed"] for cell in record["cells"]]
    assert record["complete"] == works and printed[0] == f"in {tmp_path}\n"
    assert printed[1:] == ["", "1\n"] if works else "ZeroDivisionError" in printed[1] and len(printed) == 2
