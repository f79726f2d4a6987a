"""scripts/study_results.py: pieces of a study that ran on two machines give the results and the report of the whole."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from cuset_stage.jsonl import to_line
from cuset_stage.study.plan import StudyError, jobs_of
from cuset_stage.study.report import write_report
from cuset_stage.study.run import write_study
from cuset_stage.study.settings import StudySettings


ROOT = Path(__file__).parents[2]
STUDY = "yaml_configs/studies/cpu.yaml"

sys.path.insert(0, str(ROOT / "scripts"))
import study_results  # noqa: E402 - scripts are no package


def fill(output, seeds, unfinished=()):
    """What a machine leaves of runs with these seeds."""
    settings = StudySettings.read([STUDY, f"output={output}"])
    jobs = [job for job in jobs_of(settings) if job.run.seed in seeds]
    write_study(settings, jobs_of(settings))
    for job in jobs:
        folder = output / "runs" / job.run.name
        if job.kind == "evaluate":
            folder.mkdir(parents=True, exist_ok=True)
            lines = [
                {
                    "type": "sample",
                    "task": f"t{task}",
                    "family": "f",
                    "sample": 0,
                    "verdict": "passed" if right else "mismatch",
                }
                | {"compiled": True, "passed": right, "tokens": 10 + task, "build_s": 0.1}
                for task, right in (
                    (task, len(job.run.name) * (task + 1 + job.run.seed) % 3 > 0) for task in (2, 1, 0)
                )
            ]
            (folder / "results.jsonl").write_text(to_line({"type": "run"}) + "".join(map(to_line, lines)))
        if job.kind == "train":
            (folder / "model").mkdir(parents=True, exist_ok=True)
            logged = [{"cuset/cuda_confidence": 0.5, "cuset/other_confidence": 0.25 + job.run.seed}, {"elapsed": 1}]
            (folder / "model" / "trainer_log.jsonl").write_text("".join(map(to_line, logged)))
        if job.run.name not in unfinished or job.kind == "train":
            record = output / "done" / f"{job.name}.json"
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(json.dumps({"job": job.name, "seconds": 36.0, "waited_s": 0.0, "gpus": 0.5}))
    return settings


@pytest.fixture
def add(monkeypatch):
    """add(output, folder): the script, in this process, as each start of it would import for seconds."""
    monkeypatch.chdir(ROOT)

    def run(output, folder):
        monkeypatch.setattr(sys, "argv", ["study_results.py", STUDY, str(output), str(folder)])
        study_results.main()

    return run


def test_pieces_make_the_whole(tmp_path, add):
    first, second, whole, folder = (tmp_path / name for name in ("first", "second", "whole/same", "published/same"))
    fill(first, [0], unfinished=["tiny/sft/seed0"])
    add(first, folder)
    assert "sft" not in (folder / "results.jsonl").read_text()
    fill(first, [0])
    fill(second, [1])
    settings = fill(whole, [0, 1])
    write_report(settings)
    for piece in (second, first, second):
        add(piece, folder)
    assert (folder / "results.jsonl").read_text() == (whole / "results.jsonl").read_text()
    tables = sorted(file.name for file in (whole / "report").iterdir() if file.suffix != ".html")
    assert tables and all(
        (folder / "report" / name).read_bytes() == (whole / "report" / name).read_bytes() for name in tables
    )
    jobs = {job["job"]: job for job in map(json.loads, (folder / "jobs.jsonl").read_text().splitlines())}
    assert jobs.keys() == {job.name for job in jobs_of(settings)}
    assert jobs["train/tiny/sft/seed1"] == {
        "job": "train/tiny/sft/seed1",
        "seconds": 36.0,
        "waited_s": 0.0,
        "gpus": 0.5,
        "cuset/cuda_confidence": 0.5,
        "cuset/other_confidence": 1.25,
    }


def test_other_results_of_the_same_run_are_refused(tmp_path, add, capsys):
    output, folder = tmp_path / "output", tmp_path / "published"
    fill(output, [0])
    add(output, folder)
    before = (folder / "results.jsonl").read_text()
    file = output / "runs/tiny/sft/seed0/results.jsonl"
    file.write_text(file.read_text().replace('"tokens": 11', '"tokens": 12').replace('"tokens":11', '"tokens":12'))
    with pytest.raises(SystemExit, match="has other results of tiny/sft/seed0"):
        add(output, folder)
    assert (folder / "results.jsonl").read_text() == before
    shutil.rmtree(output / "done")
    add(output, folder)
    assert "0 runs added or the same" in capsys.readouterr().out


def test_a_sample_without_its_outcome_is_refused(tmp_path, add):
    output, folder = tmp_path / "output", tmp_path / "published"
    fill(output, [0])
    file = output / "runs/tiny/sft/seed0/results.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    del lines[2]["passed"]
    file.write_text("".join(map(to_line, lines)))
    with pytest.raises(
        StudyError, match=r"sft/seed0/results\.jsonl, line 3: no passed; expected what `cuset evaluate`"
    ):
        add(output, folder)
    assert not folder.exists()


def test_other_models_or_data_are_refused(tmp_path, add):
    first, second, folder = (tmp_path / name for name in ("first", "second", "published"))
    fill(first, [0])
    fill(second, [1])
    (first / "checksums.txt").write_text("aa  data/train.json\nbb  base-0/model.safetensors\n")
    (second / "checksums.txt").write_text("aa  data/train.json\ncc  base-1/model.safetensors\n")
    for piece in (first, second, first):
        add(piece, folder)
    assert (folder / "checksums.txt").read_text() == (
        "bb  base-0/model.safetensors\ncc  base-1/model.safetensors\naa  data/train.json\n"
    )
    (second / "checksums.txt").write_text("aa  data/train.json\ndd  base-0/model.safetensors\n")
    with pytest.raises(SystemExit, match=r"ran with another base-0/model\.safetensors than"):
        add(second, folder)


def test_no_published_run_is_lost(tmp_path, add):
    output, folder = tmp_path / "output", tmp_path / "published"
    fill(output, [0])
    add(output, folder)
    file = folder / "results.jsonl"
    file.write_text(file.read_text().replace('"sft"', '"dft"'))
    with pytest.raises(SystemExit, match="has no run tiny/dft/seed0; its results would be lost"):
        add(output, folder)


def test_what_answers_hold_is_counted_in_a_study_s_folder(tmp_path, load_script):
    run = tmp_path / "runs" / "m" / "sft" / "seed0"
    run.mkdir(parents=True)
    kernel = "__global__ void k(int* x, int n) {{\n    // in it\n    if (threadIdx.x {sign} n) x[0] = 1;\n}}\n"
    twice = (
        f"// before\n__global__ void k(int* x, int n);\n{kernel.format(sign='<=')}/* two */ {kernel.format(sign='<')}"
    )
    lines = [{"answer": f"```cpp\n{code}```"} for code in (twice, kernel.format(sign="<"))]
    (run / "answers.jsonl").write_text("".join(map(to_line, [{"type": "run"}, *lines])))
    messages = [
        'program.cu(7): warning: a\nprogram.cu(9): error: function "k" has already been defined',
        'a.cu(3): error: identifier "y" is undefined',
    ]
    failed = [{"verdict": "compile_error", "message": message} for message in messages]
    (run / "results.jsonl").write_text("".join(map(to_line, [*failed, {"verdict": "passed", "message": ""}])))
    assert load_script("answer_counts").count(run) == {
        "answers": 2,
        "comments_outside_an_answer": 1.0,
        "names_of_kernels": 1,
        "most_frequent": {"k": 3},
        "answers_with_a_kernel_defined_twice": 1,
        "answers_with_<=_in_a_kernel": 1,
        "first_error": {"a kernel or function defined twice": 1, "a name that is not defined": 1},
    }
