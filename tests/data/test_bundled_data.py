"""The bundled data are frozen by their SHA-256, which holds all of their content, and every program has passed on a GPU as it stands."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import build_data
import yaml

from cuset_stage import bundled
from cuset_stage.tasks import load_tasks


ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
CASES = ["power_of_two", "odd", "small", "large", "special"]


KERNELS = build_data.read_kernels()
PROGRAMS = {(name, file) for name, kernel in KERNELS.items() for file in build_data.PROGRAMS if file in kernel}
RECORD = json.loads(gzip.decompress((ROOT / "benchmarks" / "bundled_kernels_h200.json.gz").read_bytes()))
CLOSED = {  # beside what the study trains on: the beginning of the SHA-256
    "cuset_kernels_hard.json": "9fb2b62b4dbc8673",
    "cuset_kernels_eval.json": "04f1a836f7c6d34d",
    "cuset_train_tasks.jsonl": "f93f6ef83ebcebea",
    "cuset_mini.jsonl": "7bb6b356b0cc9c6f",
    "cuset_pairs.jsonl": "aa736fce1d074921",
}


def test_the_data_of_the_study_are_frozen() -> None:
    rounds = yaml.safe_load((ROOT / "benchmarks" / "data_rounds.yaml").read_text(encoding="utf-8"))
    built = {name: hashlib.sha256((bundled.data() / name).read_bytes()).hexdigest() for name in bundled.BUILT}
    frozen = rounds[3]["frozen"]
    assert {name: built[name] for name in frozen} == frozen
    assert {name: digest[:16] for name, digest in built.items() if name not in frozen} == CLOSED


# ----------------------------------------------------------------------------------------------------- built files


def test_dataset_info_names_the_rows():
    info = json.loads((DATA / "dataset_info.json").read_text(encoding="utf-8"))
    assert {f"{name}.json" for name in info} == {name for name in bundled.BUILT if name.endswith(".json")}
    columns = {"prompt": "instruction", "query": "input", "response": "output", "system": "system"}
    for name, entry in info.items():
        assert entry["file_name"] == f"{name}.json" and entry["columns"] == columns


# -------------------------------------------------------------------------------------------------------- the records


def test_the_audit_of_every_task_is_clean_and_of_the_task_as_it_stands():
    lines = [json.loads(line) for line in (ROOT / "benchmarks" / "audit_kernels.jsonl").read_text().splitlines()]
    audits = {audit["task"]: audit for audit in lines[1:]}
    tasks = {task.id: task.fingerprint for task in load_tasks(DATA / "kernels").tasks}
    stale = sorted(name for name in tasks if audits.get(name, {}).get("fingerprint") != tasks[name])
    command = "cuset audit-tasks data/kernels output=benchmarks/audit_kernels.jsonl strict=true"
    assert not stale and audits.keys() == tasks.keys(), f"audit the tasks anew: {command}: {', '.join(stale)}"
    assert all(audit["complete"] and not audit["findings"] for audit in audits.values())


def test_every_program_has_passed_on_a_gpu_as_it_stands():
    assert {(result["name"], result["program"]) for result in RECORD["tasks"]} == PROGRAMS
    for result in RECORD["tasks"]:
        folder = DATA / "kernels" / result["name"]
        now = {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in result["sha256"]}
        assert now == result["sha256"], f"{folder} is not what the record is of: the harder tasks are closed"
        assert result["verdict"] == "passed" and [case["name"] for case in result["cases"]] == CASES
        assert all(len(case["run_s"]) == RECORD["repeats"] == 2 for case in result["cases"])
    card = (DATA / "README.md").read_text(encoding="utf-8")
    machine = f"{RECORD['gpu']} ({RECORD['arch']}), driver {RECORD['driver']}"
    assert machine in card and f"nvcc {RECORD['nvcc']}" in card, "the data card names another machine than the record"


# ---------------------------------------------------------------------------------------------------- the scripts


def test_a_checkout_builds_what_is_missing_and_nothing_that_is_current(tmp_path, monkeypatch):
    """Of the operations, which take most of the time, it has those that begin with a."""
    scripts = ("scripts/build_data.py", "src/cuset_stage/bundled.py")
    for name in ("data/dataset_info.json", "data/pairs.jsonl", *scripts):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    operations = [path for path in DATA.glob("operations/*") if path.is_file() or path.name.startswith("a")]
    for source in (*operations, *DATA.glob("kernels/*")):
        (tmp_path / "data" / source.parent.name).mkdir(exist_ok=True)
        (tmp_path / "data" / source.parent.name / source.name).symlink_to(source)
    monkeypatch.setattr(bundled, "folder", lambda: tmp_path)
    bundled.found(Path("data/cuset_mini_2.jsonl"))
    assert all((tmp_path / "data" / name).is_file() for name in bundled.BUILT)
    for name in ("cuset_kernels_hard.json", "cuset_mini.jsonl", "cuset_pairs.jsonl"):  # of kernels alone
        assert (tmp_path / "data" / name).read_bytes() == (DATA / name).read_bytes()
    script = [sys.executable, "-c", "import build_data; print(build_data.is_current())"]
    for is_current in (True, False):
        said = subprocess.run(script, cwd=tmp_path / "scripts", capture_output=True, text=True, check=True).stdout
        assert said == f"{is_current}\n"
        (tmp_path / "data" / "operations" / "added.txt").touch()
