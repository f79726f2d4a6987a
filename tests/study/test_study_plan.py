"""A study becomes jobs: every run once, recipes as they are typed by hand, and what has begun keeps its settings."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.settings import SettingsError
from cuset_stage.study.plan import StudyError, jobs_of, runs_of, wanted
from cuset_stage.study.run import check_begun, forecast, run_study, short_of_gpus, write_study
from cuset_stage.study.settings import StudySettings


ROOT = Path(__file__).parents[2]
PAPER = ROOT / "yaml_configs" / "studies" / "paper.yaml"


def a_study(tmp_path, **keys):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("stage: cuset\ntemplate: qwen\nlearning_rate: 0.1\noutput_dir: elsewhere\n")
    given = {
        "output": tmp_path / "out",
        "models": {"m": {"model": "base", "recipe": str(recipe), "gpus": {"train": 2}, "hours": {"train": 3.0}}},
        "methods": {"vanilla": None, "sft": {"stage": "sft"}, "cuset": {"cuset_tau": 0.1}},
        "seeds": [3, 4],
        "tasks": "tasks.jsonl",
        **keys,
    }
    return StudySettings.checked(given)


def test_every_run_is_trained_sampled_and_judged(tmp_path):
    jobs = {job.name: job for job in jobs_of(a_study(tmp_path))}
    assert len(jobs) == 4 + 6 + 6  # vanilla is not trained
    trained = jobs["train/m/sft/seed4"].settings
    assert (trained["stage"], trained["seed"], trained["learning_rate"], trained["model_name_or_path"]) == (
        "sft",
        4,
        0.1,
        "base",
    )
    sampled = jobs["generate/m/sft/seed4"].settings
    assert (sampled["model"], sampled["adapter"], sampled["seed"]) == ("base", trained["output_dir"], 4)
    assert "adapter" not in jobs["generate/m/vanilla/seed4"].settings and not jobs["generate/m/vanilla/seed4"].needs
    assert jobs["evaluate/m/sft/seed4"].settings["answers"] == sampled["output"]
    assert jobs["evaluate/m/sft/seed4"].needs == ("generate",)


def test_keys_of_the_study_are_those_of_all_trainings(tmp_path):
    study = a_study(tmp_path, keys={"dataset": "mine", "learning_rate": 0.2, "cutoff_len": 64})
    model = study.models["m"].model_copy(update={"keys": {"learning_rate": 0.3}})
    methods = {"sft": {"cutoff_len": 128}}
    [train] = [
        job.settings
        for job in jobs_of(study.model_copy(update={"models": {"m": model}, "methods": methods, "seeds": (3,)}))
        if job.kind == "train"
    ]
    assert (train["dataset"], train["learning_rate"], train["cutoff_len"]) == ("mine", 0.3, 128)


def test_a_model_is_sampled_with_the_template_that_it_was_trained_with(tmp_path):
    study = a_study(
        tmp_path, keys={"template": "llama3"}, methods={"vanilla": None, "sft": {"template": "gemma"}}, pairs={}
    )
    found = {
        (job.kind, job.run.method): job.settings["template"] for job in jobs_of(study) if "template" in job.settings
    }
    assert found == {
        ("train", "sft"): "gemma", ("generate", "sft"): "gemma", ("pairs", "sft"): "gemma",
        ("generate", "vanilla"): "llama3", ("pairs", "vanilla"): "llama3",
    }  # fmt: skip


def test_a_full_training_is_sampled_without_an_adapter(tmp_path):
    jobs = {job.name: job for job in jobs_of(a_study(tmp_path, methods={"sft": {"finetuning_type": "full"}}))}
    given = jobs["generate/m/sft/seed3"].settings
    assert given["model"] == jobs["train/m/sft/seed3"].settings["output_dir"] and "adapter" not in given


def test_ablations_and_sweeps_change_their_method_and_repeat_no_run(tmp_path):
    study = a_study(
        tmp_path,
        ablations={"seeds": [3], "runs": {"no_mask": {"cuset_confidence_mask": False}}},
        sweeps={"seeds": [3], "runs": {"cuset_tau": [0.1, 0.5]}},
    )
    keys = {run.name: run.keys for run in runs_of(study)}
    assert keys["m/no_mask/seed3"] == {"cuset_tau": 0.1, "cuset_confidence_mask": False}
    assert keys["m/cuset_cuset_tau=0.5/seed3"] == {"cuset_tau": 0.5}
    assert runs_of(study.model_copy(update={"baseline": "no_mask"}))
    assert len(keys) == 8  # a tau of 0.1 is the method itself


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ablations": {"of": "cust", "runs": {"a": {}}}}, "of: cust: no method that trains; did you mean cuset"),
        (
            {"ablations": {"of": "vanilla", "runs": {"a": {}}}},
            "of: vanilla: no method that trains; known are cuset, sft",
        ),
        ({"ablations": {"models": ["n"], "runs": {"a": {}}}}, "models: n: not in the study"),
        (
            {"models": {"m": {"model": "b", "recipe": "r", "methods": ["stf"]}}},
            "models: m: methods: stf: .* did you mean sft",
        ),
        ({"ablations": {"runs": {"sft": {}}}}, "sft: two methods of this name"),
        ({"methods": {"a/b": {}}}, "'a/b': a name has letters"),
        ({"sweeps": {"runs": {"dataset": ["a/b"]}}}, "'cuset_dataset=a/b': a name has letters"),
        ({"baseline": "stf"}, "baseline: stf: not in the study; did you mean sft"),
        ({"sweeps": {"runs": {"cuset_tau": 0.5}}}, "cuset_tau=0.5: expected a valid list"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, keys, message):
    with pytest.raises((StudyError, SettingsError), match=message):
        runs_of(a_study(tmp_path, **keys))


def test_a_study_may_grow_and_what_has_begun_keeps_its_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    study = a_study(tmp_path)
    write_study(study, jobs_of(study))
    other = a_study(tmp_path, methods={"sft": {"stage": "sft", "learning_rate": 0.2}})
    (study.output / "logs" / "train/m/sft/seed3.log").touch()
    check_begun(other, jobs_of(other))  # it has failed at once: what was wrong may be put right
    (study.output / "runs/m/sft/seed3/model/checkpoint-5").mkdir(parents=True)
    grown = a_study(tmp_path, seeds=[3, 4, 5])
    check_begun(grown, jobs_of(grown))
    with pytest.raises(
        StudyError, match=r"sft/seed3\.yaml: this job has begun with another learning_rate \(0\.1, now 0\.2\)"
    ):
        check_begun(other, jobs_of(other))
    written = yaml.safe_load((study.output / "jobs/train/m/cuset/seed3.yaml").read_text())
    assert written == dict(jobs_of(study)[[job.name for job in jobs_of(study)].index("train/m/cuset/seed3")].settings)


def test_a_batch_may_shrink_after_its_job_has_begun(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    study = a_study(tmp_path, generate={"batch_size": 64, "samples": 3})
    write_study(study, jobs_of(study))
    answers = study.output / "runs/m/sft/seed3/answers.jsonl"
    answers.parent.mkdir(parents=True)
    answers.touch()
    smaller, fewer = (a_study(tmp_path, generate={"batch_size": 16, "samples": count}) for count in (3, 2))
    check_begun(smaller, jobs_of(smaller))
    with pytest.raises(StudyError, match=r"begun with another samples \(3, now 2\)\. Give"):
        check_begun(fewer, jobs_of(fewer))


@pytest.mark.parametrize("given", ["only=", "only=[]"])
def test_no_pattern_is_not_all_of_them(given):
    with pytest.raises(SettingsError, match=r"only=.*: expected at least 1 item, not 0"):
        StudySettings.read(["yaml_configs/studies/cpu.yaml", "output=x", given])


def test_plain_sft_trains_without_cudnn_attention_as_cuset_does(tmp_path):
    study = a_study(tmp_path)
    write_study(study, jobs_of(study))
    jobs = json.loads((study.output / "study.json").read_text())["jobs"]
    assert {name for name, job in jobs.items() if job["environment"]} == {"train/m/sft/seed3", "train/m/sft/seed4"}
    assert jobs["train/m/sft/seed3"]["environment"] == {"TORCH_CUDNN_SDPA_DEPRIORITIZED": "1"}


@pytest.fixture
def order_of(tmp_path, monkeypatch):
    """The order in which Snakemake begins the jobs of four runs on so many processors, with a Python that only writes it down."""

    def run(cores, gpus, **gpus_of_a_job):
        monkeypatch.setattr("os.sched_getaffinity", lambda _: range(cores))
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
        python = tmp_path / "python"
        python.write_text(
            f'#!/bin/bash\n[ "$2" = cuset_stage.study.job ] || exec {sys.executable} "$@"\n'
            'echo "$3" >>order\nsleep 0.5\necho {} >"done/$3.json"\n'
        )
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))
        models = {"m": {"model": "base", "recipe": str(tmp_path / "recipe.yaml"), "gpus": gpus_of_a_job}}
        study = a_study(tmp_path, models=models, methods={"sft": {}}, seeds=[0, 1, 2, 3])
        assert run_study(study, jobs_of(study), jobs_of(study)) == 0
        order = [line.partition("/")[0] for line in (study.output / "order").read_text().split()]
        assert len(order) == 12
        return order, json.loads((study.output / "study.json").read_text())["jobs"]

    return run


@pytest.mark.parametrize(
    ("gpus", "train", "trainings_first"),
    # with the first an answer on one GPU would keep seven idle
    [("0,1,2,3,4,5,6,7", 8, True), ("0,1", 1, False), ("", 0, False)],
)
def test_answers_come_before_further_trainings_where_those_need_not_the_whole_machine(
    order_of, gpus, train, trainings_first
):
    other = 1 if train else 0
    order, jobs = order_of(2, gpus, train=train, generate=other, evaluate=other)
    trained = [place for place, kind in enumerate(order) if kind == "train"]
    assert trained == [0, 1, 2, 3] if trainings_first else order.index("evaluate") < trained[2]
    judging = jobs["evaluate/m/sft/seed0"]
    assert judging["module"][-1] == f"jobs={judging['cores']}" == "jobs=1"


def test_no_more_large_jobs_begin_than_there_are_gpus(order_of):
    order, _ = order_of(16, "0,1,2", train=0.75, generate=0.75, evaluate=0.25)
    assert order[:3] == ["train"] * 3
    assert order.index("generate") == 3  # and not the fourth training, which would wait for its GPU


def test_a_cluster_gives_whole_gpus_and_cores_that_this_machine_need_not_have(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    models = {"m": {"model": "base", "recipe": str(tmp_path / "recipe.yaml"), "gpus": {"train": 8, "generate": 0.25}}}
    models["c"] = {**models["m"], "gpus": {"train": 0, "generate": 0.125, "evaluate": 0}}

    def asked(**keys):
        study = a_study(tmp_path, models=models, methods={"sft": {}}, seeds=[3], **keys)
        write_study(study, jobs_of(study))
        jobs = json.loads((study.output / "study.json").read_text())["jobs"]
        jobs = [{**job, "name": name.removesuffix("/sft/seed3")} for name, job in jobs.items()]
        return {job["name"]: (job["shares"] / 4, job["cores"]) for job in jobs}

    assert asked(executor="slurm") == {
        "train/m": (8, 64), "generate/m": (1, 8), "evaluate/m": (1, 8),
        "train/c": (0, 8), "generate/c": (1, 8), "evaluate/c": (0, 8),
    }  # fmt: skip
    assert asked(executor="slurm", evaluate={"jobs": 32})["evaluate/m"] == (1, 32)
    assert asked() == {
        "train/m": (8, 1), "generate/m": (0.25, 1), "evaluate/m": (1, 2),
        "train/c": (0, 1), "generate/c": (0.25, 1), "evaluate/c": (0, 2),
    }  # fmt: skip
    assert asked(evaluate={"jobs": 32})["evaluate/m"] == (1, 4)
    assert asked(evaluate={"jobs": 2}, cores=3)["evaluate/m"] == (1, 2)


def test_a_job_takes_quarters_of_a_gpu_or_whole_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    gpus = {"train": 0.375, "generate": 0.75, "evaluate": 3, "pairs": 1.5, "analyze": 0}
    models = {"m": {"model": "base", "recipe": str(tmp_path / "recipe.yaml"), "gpus": gpus}}
    study = a_study(tmp_path, models=models)
    assert study.models["m"].gpus == {"train": 0.5, "generate": 0.75, "evaluate": 3, "pairs": 2, "analyze": 0}
    [short] = short_of_gpus(study, jobs_of(study))
    assert short.startswith("evaluate/m/vanilla/seed3 needs 3 GPUs, but only 2 are available. Lower")
    with pytest.raises(SettingsError, match="judge_gpus: no longer a key: give judging a whole GPU"):
        a_study(tmp_path, judge_gpus=1)
    with pytest.raises(SettingsError, match="published: no longer a key: the report has this study's numbers"):
        a_study(tmp_path, models={"m": {**models["m"], "published": {}}})


def test_what_is_left_counts_the_forecast_until_jobs_are_measured(tmp_path):
    study = a_study(tmp_path)
    jobs = jobs_of(study)

    def lines(of=study, **options):
        table, said = forecast(of, jobs, **options)
        return {row[1].text: [cell.text for cell in row[2:]] for row in table.rows}, said

    assert lines()[0] == {
        "train": ["0", "4", "4", "2.00", "3.00", "24.0", "–"],
        "generate": ["0", "6", "6", "1.00", "–", "–", "0.0"],
        "evaluate": ["0", "6", "6", "1.00", "–", "–", "0.0"],
    }
    done = study.output / "done"
    (done / "train/m/sft").mkdir(parents=True)
    (done / "train/m/sft/seed3.json").write_text(json.dumps({"seconds": 900, "gpus": 2}))
    table, said = lines(gpus=4)
    assert table["train"] == ["1", "4", "3", "2.00", "0.25", "1.5", "–"]
    assert said == [
        "left: 15 jobs, 1.5 GPU hours and those of 12 jobs that no `hours` are known of, ? GiB of models",
        "On 4 GPUs that is at least 0.4 hours.",
    ]
    known = study.models["m"].model_copy(update={"disk_gib": 0.5})
    assert lines(study.model_copy(update={"models": {"m": known}}))[1][0].endswith(", 1.5 GiB of models")
    for job in jobs:
        if job.kind == "train":
            (done / job.name).parent.mkdir(parents=True, exist_ok=True)
            (done / f"{job.name}.json").write_text(json.dumps({"seconds": 900, "gpus": 2}))
    assert lines()[1][0].endswith(", 0.0 GiB of models")


def test_a_model_may_have_methods_and_seeds_of_its_own(tmp_path):
    study = a_study(tmp_path, ablations={"runs": {"no_mask": {"cuset_confidence_mask": False}}})
    of_model = {"model": "base", "recipe": str(tmp_path / "recipe.yaml")}
    models = {"all": of_model, "few": {**of_model, "methods": ["sft", "no_mask"], "seeds": [9]}}
    names = {run.name for run in runs_of(a_study(tmp_path, ablations=study.ablations, models=models))}
    assert {name for name in names if name.startswith("few")} == {"few/sft/seed9", "few/no_mask/seed9"}
    assert len(names) == 2 + 4 * 2


def test_a_seed_may_have_a_model_of_its_own(tmp_path):
    models = {"m": {"model": "base-{seed}", "recipe": str(tmp_path / "recipe.yaml")}}
    jobs = {job.name: job.settings for job in jobs_of(a_study(tmp_path, models=models))}
    assert jobs["train/m/sft/seed4"]["model_name_or_path"] == "base-4"
    assert jobs["generate/m/sft/seed4"]["model"] == jobs["generate/m/vanilla/seed4"]["model"] == "base-4"
    assert jobs["generate/m/vanilla/seed3"]["model"] == "base-3"


def test_a_part_of_a_study_is_asked_for_by_patterns(tmp_path):
    study = a_study(tmp_path, only=["m/sft/*", "*/cuset/seed4"])
    jobs = jobs_of(study)
    assert {job.run.name for job in wanted(study, jobs)} == {"m/sft/seed3", "m/sft/seed4", "m/cuset/seed4"}
    with pytest.raises(StudyError, match=r"only: m/sfd/seed3: no run has such a name.*did you mean m/sft/seed3"):
        wanted(study.model_copy(update={"only": ("m/sfd/seed3",)}), jobs)


def test_the_paper_s_study_is_planned(monkeypatch):
    monkeypatch.chdir(ROOT)
    study = StudySettings.read([str(PAPER), "dry_run=true"])
    jobs = jobs_of(study)
    [left] = forecast(study, jobs)[1]
    trainings = 6 * 6 * 3 + 3 * 3 + 4 + 3 + 3  # methods, Table 5, Fig. 4
    assert sum(job.kind == "train" for job in jobs) == trainings
    assert re.fullmatch(rf"left: {len(jobs):,} jobs, [\d.]+ GPU hours, [\d.]+ GiB of models", left)


def studies_of_the_docs():
    """The arguments of every `cuset study run` that docs/study.md shows."""
    text = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", text, re.DOTALL)
    shown = re.findall(r"cuset study run (.*)", "\n".join(blocks).replace("\\\n", ""))
    return [shlex.split(arguments) for arguments in shown]


@pytest.mark.parametrize("arguments", studies_of_the_docs(), ids=lambda words: words[0] + str(len(words)))
def test_a_study_that_the_docs_show_is_not_refused(arguments, monkeypatch):
    monkeypatch.chdir(ROOT)
    dry = [] if "dry_run=true" in arguments else ["dry_run=true"]
    result = CliRunner().invoke(app, ["study", "run", *arguments, *dry])
    assert result.exit_code == 0 and "left: " in result.output, result.output


def test_the_docs_say_what_the_paper_s_study_takes(monkeypatch):
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["study", "run", str(PAPER), "dry_run=true", "gpus=8"])
    assert "On 8 GPUs that is at least 90.9 hours." in result.output  # on a machine without one
    jobs, hours, disk = re.search(
        r"left: (\d+) jobs, ([\d.]+) GPU hours, ([\d.]+) GiB of models", result.output
    ).groups()
    said = f"{jobs} jobs, {hours} GPU hours and {disk} GiB of models"
    assert said in (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
