"""A study becomes jobs: every run once, recipes as they are typed by hand, and what has begun keeps its settings."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import cuset
from results_factory import write_results

from cuset_stage.files import file_lock, file_sha256, write_atomically
from cuset_stage.settings import SettingsError
from cuset_stage.study.job import lock_of
from cuset_stage.study.plan import OUTPUTS, StudyError, jobs_of, runs_of, wanted
from cuset_stage.study.run import check_begun, forecast, jobs_left, prepare, records_of, run_study, write_study
from cuset_stage.study.settings import StudySettings


ROOT = Path(__file__).parents[2]
PAPER = "yaml_configs/studies/paper.yaml"
PYTHON = sys.executable
NO_MASK = {"no_mask": {"cuset_confidence_mask": False}}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of one model on a machine with two GPUs; keys change it, of_model its model."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("stage: cuset\ntemplate: qwen\nlearning_rate: 0.1\noutput_dir: elsewhere\n")

    def make(of_model=(), **keys):
        model = {"model": "base", "recipe": str(recipe), "gpus": {"train": 2}, "hours": {"train": 3.0}}
        model |= dict(of_model)
        methods = {"vanilla": None, "sft": {"stage": "sft"}, "cuset": {"cuset_tau": 0.1}}
        given = {"models": {"m": model}, "methods": methods, "seeds": [3, 4], "tasks": "tasks.jsonl", **keys}
        return StudySettings.checked({"output": tmp_path / "out", **given})

    return make


def settings_of(study):
    """By job."""
    return {job.name: job.settings for job in jobs_of(study)}


def entries(study):
    """The jobs as Snakemake reads them."""
    write_study(study, jobs_of(study))
    return json.loads((study.output / "study.json").read_text())["jobs"]


def test_every_run_is_trained_sampled_and_judged(study):
    jobs = settings_of(study())
    assert len(jobs) == 4 + 6 + 6  # vanilla is not trained
    trained, sampled, judged = (jobs[f"{kind}/m/sft/seed4"] for kind in ("train", "generate", "evaluate"))
    expected = {"stage": "sft", "seed": 4, "learning_rate": 0.1, "model_name_or_path": "base"}
    assert expected.items() <= trained.items()
    expected = {"model": "base", "adapter": trained["output_dir"], "seed": 4, "template": "qwen"}
    assert expected.items() <= sampled.items() and judged["answers"] == sampled["output"]
    assert "adapter" not in jobs["generate/m/vanilla/seed4"]
    needs = {job.name: job.needs for job in jobs_of(study())}
    assert (needs["evaluate/m/sft/seed4"], needs["generate/m/vanilla/seed4"]) == (("generate",), ())
    full = settings_of(study(methods={"sft": {"finetuning_type": "full"}}))
    sampled = full["generate/m/sft/seed3"]
    assert sampled["model"] == full["train/m/sft/seed3"]["output_dir"] and "adapter" not in sampled


def test_a_method_s_keys_win_over_the_model_s_over_the_study_s_over_the_recipe_s(study):
    keys = {"dataset": "mine", "learning_rate": 0.2, "cutoff_len": 64, "template": "llama3"}
    methods = {"vanilla": None, "sft": {"cutoff_len": 128, "template": "gemma"}}
    jobs = settings_of(study({"keys": {"learning_rate": 0.3}}, keys=keys, methods=methods, pairs={}))
    expected = {"dataset": "mine", "learning_rate": 0.3, "cutoff_len": 128}
    assert expected.items() <= jobs["train/m/sft/seed3"].items()
    # sampled with the template that it was trained with
    found = {name.removesuffix("/seed3"): keys["template"] for name, keys in jobs.items() if "template" in keys}
    assert {name: template for name, template in found.items() if "seed4" not in name} == {
        "train/m/sft": "gemma", "generate/m/sft": "gemma", "pairs/m/sft": "gemma",
        "generate/m/vanilla": "llama3", "pairs/m/vanilla": "llama3",
    }  # fmt: skip


def test_ablations_and_sweeps_change_their_method_and_repeat_no_run(study):
    sweeps = {"seeds": [3], "runs": {"cuset_tau": [0.1, 0.5]}}
    varied = study(ablations={"seeds": [3], "runs": NO_MASK}, sweeps=sweeps)
    keys = {run.name: run.keys for run in runs_of(varied)}
    assert keys["m/no_mask/seed3"] == {"cuset_tau": 0.1, "cuset_confidence_mask": False}
    assert keys["m/cuset_cuset_tau=0.5/seed3"] == {"cuset_tau": 0.5}
    assert len(keys) == 8  # a tau of 0.1 is the method itself


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ablations": {"of": "cust", "runs": {"a": {}}}}, "of: cust: no method that trains; did you mean cuset"),
        ({"ablations": {"of": "vanilla", "runs": {"a": {}}}}, "of: vanilla: no method that trains; known are cuset, sft"),
        ({"ablations": {"models": ["n"], "runs": {"a": {}}}}, "models: n: not in the study"),
        ({"ablations": {"runs": {"sft": {}}}}, "sft: two methods of this name"),
        ({"methods": {"a/b": {}}}, "'a/b': a name has letters"),
        ({"sweeps": {"runs": {"dataset": ["a/b"]}}}, "'cuset_dataset=a/b': a name has letters"),
        ({"sweeps": {"runs": {"cuset_tau": 0.5}}}, "cuset_tau=0.5: expected a valid list"),
        ({"only": []}, "only=.*: expected at least 1 item, not 0"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(study, keys, message):
    with pytest.raises((StudyError, SettingsError), match=message):
        runs_of(study(**keys))


def test_a_study_may_grow_and_what_has_begun_keeps_its_settings(study):
    first = study(generate={"batch_size": 64, "samples": 3})
    write_study(first, jobs_of(first))
    written = yaml.safe_load((first.output / "jobs/train/m/cuset/seed3.yaml").read_text())
    assert written == settings_of(first)["train/m/cuset/seed3"]

    def check(**changes):
        other = study(**{"generate": {"batch_size": 64, "samples": 3}, **changes})
        check_begun(other, jobs_of(other))

    another_rate = {"methods": {"sft": {"stage": "sft", "learning_rate": 0.2}}}
    (first.output / "logs" / "train/m/sft/seed3.log").touch()
    check(**another_rate)  # it has failed at once: what was wrong may be put right
    (first.output / "runs/m/sft/seed3/model/checkpoint-5").mkdir(parents=True)
    (first.output / "runs/m/sft/seed3/answers.jsonl").touch()
    check(generate={"batch_size": 64, "samples": 2})  # the model could not be loaded
    (first.output / "runs/m/sft/seed3/answers.jsonl").write_text("{}\n")
    check(seeds=[3, 4, 5])
    check(generate={"batch_size": 16, "samples": 3})  # which changes no answer
    check(generate={"batch_size": 64, "samples": 4})  # the first three stay
    begun = r"sft/seed3\.yaml: this job has begun with another "
    with pytest.raises(StudyError, match=begun + r"learning_rate \(0\.1, now 0\.2\)"):
        check(**another_rate)
    with pytest.raises(
        StudyError, match=begun + r"samples \(3, now 2\)\. Give .* remove \S+/answers.jsonl and \S+/results.jsonl when"
    ):
        check(generate={"batch_size": 64, "samples": 2})
    running = pytest.raises(StudyError, match=r"is running with samples=3\. Once it has ended, the same command makes")
    with file_lock(lock_of(first.output, "generate/m/sft/seed3")), running:
        check(generate={"batch_size": 64, "samples": 4})
    lower_tau = study(generate={"batch_size": 64, "samples": 3}, methods={"cuset": {"cuset_tau": 0.05}})
    check_begun(lower_tau, jobs_of(lower_tau))
    refused = pytest.raises(StudyError, match=r"cuset/seed4\.yaml: .* another cuset_tau")
    # A process holds it that has written nothing yet. The second study may have waited for the one that began it.
    with file_lock(lock_of(first.output, "train/m/cuset/seed4")), refused:
        run_study(lower_tau, jobs_of(lower_tau))


def test_what_the_judge_failed_on_is_judged_again_where_it_is_chosen(study):
    settings, record = study(), '{"seconds": 1, "gpus": 0, "infra_error": true}'
    jobs = jobs_of(settings)
    for kind in ("generate", "evaluate"):
        for seed in (3, 4):
            run = settings.output / "runs" / "m" / "vanilla" / f"seed{seed}"
            for file in (run / OUTPUTS[kind], settings.output / "done" / kind / "m" / "vanilla" / f"seed{seed}.json"):
                write_atomically(file, record if kind == "evaluate" else '{"seconds": 1, "gpus": 0}')
    assert {"evaluate/m/vanilla/seed3", "evaluate/m/vanilla/seed4"} <= {job.name for job in jobs_left(settings, jobs)}
    prepare(settings.model_copy(update={"only": ("*/seed3",)}), jobs)
    done = records_of(settings, jobs)
    assert set(done) == {"generate/m/vanilla/seed3", "generate/m/vanilla/seed4", "evaluate/m/vanilla/seed4"}


def test_plain_sft_trains_without_cudnn_attention_as_cuset_does(study):
    environments = {name: job["environment"] for name, job in entries(study()).items() if job["environment"]}
    off = {"TORCH_CUDNN_SDPA_DEPRIORITIZED": "1"}
    assert environments == {"train/m/sft/seed3": off, "train/m/sft/seed4": off}


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Run a study with a Python that only writes down which jobs begin, in their order, and makes their outputs."""

    def run(given):
        python, order = tmp_path / "python", given.output / "order"
        python.write_text(
            f'#!/bin/bash\n[ "$2" = cuset_stage.study.job ] || exec {PYTHON} "$@"\n'
            'echo "$3" >>order\nsleep 0.5\n'
            'mkdir -p "runs/${3#*/}" && touch "runs/${3#*/}/"{answers,results}.jsonl\n'
            'echo {\\"seconds\\": 1, \\"gpus\\": 0} >"done/$3.json"\n'
        )
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))
        order.unlink(missing_ok=True)
        assert run_study(given, jobs_of(given)) == 0
        return [line.partition("/")[0] for line in order.read_text().split()] if order.exists() else []

    return run


def test_what_is_lost_or_asked_for_again_is_done_again(study, begun):
    given = study(methods={"sft": {}}, seeds=[0], generate={"temperature": 1})
    assert begun(given) == ["train", "generate", "evaluate"] and begun(given) == []
    (given.output / "runs/m/sft/seed0/results.jsonl").unlink()
    assert begun(given) == ["evaluate"]
    (given.output / "runs/m/sft/seed0/answers.jsonl").unlink()
    assert [job.kind for job in jobs_left(given, jobs_of(given))] == ["train", "generate", "evaluate"]
    write_atomically(given.output / "runs/m/sft/seed0/model/adapter_model.safetensors", "")
    assert begun(given) == ["generate", "evaluate"]
    more = study(methods={"sft": {}}, seeds=[0], generate={"temperature": 1, "samples": 3})
    assert [job.kind for job in jobs_left(more, jobs_of(more))] == begun(more) == ["generate", "evaluate"]


def test_what_is_left_stays_so_once_its_settings_are_written(study, monkeypatch):
    def given(samples):
        return study(methods={"sft": {}}, seeds=[0], generate={"temperature": 1, "samples": samples})

    def finish(kind):
        write_atomically(first.output / "done" / kind / "m/sft/seed0.json", '{"seconds": 1, "gpus": 0}')

    first, more = given(1), given(3)
    prepare(first, jobs_of(first))
    for output in ("model", "answers.jsonl", "results.jsonl"):
        write_atomically(first.output / "runs/m/sft/seed0" / output, "")
    finish("train")
    finish("generate")

    def meanwhile(*args):
        records = records_of(*args)
        finish("evaluate")  # by a job that a killed study has left
        return records

    monkeypatch.setattr("cuset_stage.study.run.records_of", meanwhile)
    prepare(first, jobs_of(first))
    monkeypatch.undo()
    assert not jobs_left(first, jobs_of(first))
    prepare(more, jobs_of(more))
    assert [job.kind for job in jobs_left(more, jobs_of(more))] == ["generate", "evaluate"]


def test_runs_that_are_compared_have_the_same_rows_and_weights(study, tmp_path, monkeypatch):
    (tmp_path / "dataset_info.json").write_text('{"mine": {"file_name": "mine.json"}}')
    (tmp_path / "base").mkdir()
    of_model = {"model": str(tmp_path / "base"), "keys": {"dataset": "mine", "dataset_dir": str(tmp_path)}}
    given, alone = study(of_model), study(of_model, methods={"sft": {"stage": "sft"}}, seeds=[3])
    monkeypatch.setattr(sys, "executable", "/bin/true")  # as a training it has ended at once
    for key, name in (("dataset", "mine.json"), ("model_name_or_path", "base/model.safetensors")):
        (tmp_path / name).write_text("before")
        prepare(given, jobs_of(given))
        for text in ("after", "later"):  # the second time it goes on from its checkpoint
            job = [PYTHON, "-m", "cuset_stage.study.job", "train/m/sft/seed3"]
            subprocess.run(job, cwd=given.output, check=True)
            write_atomically(given.output / "runs/m/sft/seed3/model/checkpoint-5/trainer_state.json", "{}")
            (tmp_path / name).write_text(text)
            (given.output / "done/train/m/sft/seed3.json").unlink()
        with pytest.raises(StudyError, match=rf"{key}=\S*: has changed since m/sft/seed3 began, and .* or remove"):
            check_begun(given, jobs_of(given))
        check_begun(alone, jobs_of(alone))
        shutil.rmtree(given.output)
    for method in ("sft", "vanilla"):
        check_begun(given, jobs_of(given))
        write_atomically(given.output / "runs/m" / method / "seed3/answers.jsonl", '{"weights": "1"}\n')
    with pytest.raises(StudyError, match=r"path=\S+/base: has changed since m/vanilla/seed3 began"):
        check_begun(given, jobs_of(given))


def test_runs_that_are_left_are_judged_on_the_same_tasks(study, tmp_path):
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_bytes((ROOT / "data/cuset_mini_2.jsonl").read_bytes())
    given, alone = study(tasks=str(tasks)), study(tasks=str(tasks), methods={"sft": {}}, seeds=[3])
    write_results(given.output / "runs/m/sft/seed3/results.jsonl", "sft", {}, tasks={"sha256": file_sha256(tasks)})
    check_begun(given, jobs_of(given))
    tasks.write_text("\n".join(tasks.read_text().splitlines()[:-1]))
    with pytest.raises(StudyError, match=rf"^tasks={tasks}: has changed since m/sft/seed3 began"):
        check_begun(given, jobs_of(given))
    check_begun(alone, jobs_of(alone))  # which leaves nothing to compare with
    tasks.unlink()
    check_begun(given, jobs_of(given))  # `missing` names it


@pytest.fixture
def order_of(study, begun, monkeypatch):
    """The order in which Snakemake begins the jobs of four runs on so many processors."""

    def run(cores, gpus, **gpus_of_a_job):
        monkeypatch.setattr("os.sched_getaffinity", lambda _: range(cores))
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
        given = study({"gpus": gpus_of_a_job}, methods={"sft": {}}, seeds=[0, 1, 2, 3])
        order = begun(given)
        assert len(order) == 12
        return order, entries(given)["evaluate/m/sft/seed0"]

    return run


@pytest.mark.parametrize(
    ("gpus", "train", "trainings_first"),
    # with the first an answer on one GPU would keep seven idle
    [("0,1,2,3,4,5,6,7", 8, True), ("0,1", 1, False), pytest.param("", 0, False, marks=pytest.mark.slow)],
)
def test_answers_come_before_further_trainings_where_those_need_not_the_whole_machine(
    order_of, gpus, train, trainings_first
):
    other = min(train, 1)
    order, judging = order_of(2, gpus, train=train, generate=other, evaluate=other)
    trained = [place for place, kind in enumerate(order) if kind == "train"]
    assert trained == [0, 1, 2, 3] if trainings_first else order.index("evaluate") < trained[2]
    assert judging["module"][-1] == f"jobs={judging['cores']}" == "jobs=1"


def test_no_more_large_jobs_begin_than_there_are_gpus(order_of):
    order, _ = order_of(16, "0,1,2", train=0.75, generate=0.75, evaluate=0.25)
    assert order[:3] == ["train"] * 3
    assert order.index("generate") == 3  # and not the fourth training, which would wait for its GPU


def test_a_cluster_gives_whole_gpus_and_cores_that_this_machine_need_not_have(study, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def asked(gpus, **keys):
        jobs = entries(study({"gpus": gpus}, methods={"sft": {}}, seeds=[3], **keys))
        return [(job["shares"] / 4, job["cores"]) for job in jobs.values()]

    large = {"train": 8, "generate": 0.25}
    small = {"train": 0, "generate": 0.125, "evaluate": 0}
    assert asked(large, executor="slurm") == [(8, 64), (1, 8), (1, 8)]
    assert asked(small, executor="slurm") == [(0, 8), (1, 8), (0, 8)]
    assert asked(large, executor="slurm", evaluate={"jobs": 32})[2] == (1, 32)
    assert asked(large) == [(8, 1), (0.25, 1), (1, 2)]
    assert asked(small) == [(0, 1), (0.25, 1), (0, 2)]
    assert asked(large, evaluate={"jobs": 32})[2] == (1, 4)
    assert asked(large, evaluate={"jobs": 2}, cores=3)[2] == (1, 2)


def test_a_job_takes_quarters_of_a_gpu_or_whole_ones(study):
    given = study({"gpus": {"train": 0.375, "generate": 0.75, "evaluate": 3, "pairs": 1.5, "analyze": 0}})
    assert given.models["m"].gpus == {"train": 0.5, "generate": 0.75, "evaluate": 3, "pairs": 2, "analyze": 0}


def test_what_is_left_counts_the_forecast_until_jobs_are_measured(study):
    given = study()
    jobs = jobs_of(given)

    def lines(of=given, **options):
        table, said = forecast(of, jobs, **options)
        return {row[1].text: [cell.text for cell in row[2:]] for row in table.rows}, said

    def done(*names):
        for name in names:
            write_atomically(given.output / "done" / f"{name}.json", '{"seconds": 900, "gpus": 2}')
            model = given.output / "runs" / name.partition("/")[2] / "model"
            write_atomically(model / "adapter_model.safetensors", "")

    assert lines()[0] == {
        "train": ["0", "4", "4", "2.00", "3.00", "24.0", "–"],
        "generate": ["0", "6", "6", "1.00", "–", "–", "0.0"],
        "evaluate": ["0", "6", "6", "1.00", "–", "–", "0.0"],
    }
    done("train/m/sft/seed3")
    table, said = lines(gpus=4)
    assert table["train"] == ["1", "4", "3", "2.00", "0.25", "1.5", "–"]
    assert said == [
        "left: 15 jobs, 1.5 GPU hours and those of 12 jobs that no `hours` are known of, ? GiB of models",
        "On 4 GPUs that is at least 0.4 hours.",
    ]
    assert lines(study({"disk_gib": 0.5}))[1][0].endswith(", 1.5 GiB of models")
    done(*(job.name for job in jobs if job.kind == "train"))
    assert lines()[1][0].endswith(", 0.0 GiB of models")


def test_a_part_of_a_study_is_asked_for_by_patterns(study):
    given = study(only=["m/sft/*", "*/cuset/seed4"])
    jobs = jobs_of(given)
    assert {job.run.name for job in wanted(given, jobs)} == {"m/sft/seed3", "m/sft/seed4", "m/cuset/seed4"}
    with pytest.raises(StudyError, match=r"only: m/sfd/seed3: no run has such a name.*did you mean m/sft/seed3"):
        wanted(study(only=["m/sfd/seed3"]), jobs)


def shown_studies():
    """The arguments of every `cuset study run` that docs/study.md shows, and the studies that come with the package."""
    text = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", text, re.DOTALL)
    shown = re.findall(r"cuset study run (.*)", "\n".join(blocks).replace("\\\n", ""))
    studies = [path for path in (ROOT / "yaml_configs" / "studies").glob("*.yaml") if "methods:" in path.read_text()]
    return [*map(shlex.split, shown), *([str(path.relative_to(ROOT))] for path in sorted(studies))]


@pytest.mark.parametrize("arguments", shown_studies(), ids=lambda words: words[0] + str(len(words)))
def test_a_study_that_is_shown_is_not_refused(arguments, monkeypatch):
    monkeypatch.chdir(ROOT)
    dry = [] if "dry_run=true" in arguments else ["dry_run=true"]
    assert "left: " in cuset("study", "run", *arguments, *dry)


def test_the_docs_say_what_the_paper_s_study_takes(monkeypatch):
    monkeypatch.chdir(ROOT)
    trainings = 6 * 6 * 3 + 3 * 3 + 4 + 3 + 3  # methods, Table 5, Fig. 4
    assert sum(job.kind == "train" for job in jobs_of(StudySettings.read([PAPER]))) == trainings
    said = cuset("study", "run", PAPER, "dry_run=true", "gpus=8")
    assert "On 8 GPUs that is at least 90.9 hours." in said  # on a machine without one
    left = re.search(r"left: (\d+ jobs), ([\d.]+ GPU hours), ([\d.]+ GiB of models)", said).groups()
    assert "{}, {} and {}".format(*left) in (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
