"""LLaMA-Factory's features under `stage: cuset`: with all parts off they train as under SFT, fail as under SFT, or are
refused.

The list is in helpers/features.yaml. docs/features.md is written from it.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from cli_server import free_port
from features import FEATURES, OFF, ROOT, Feature, Outcome, write_chats
from safetensors.torch import load_file


STAGES = {"sft": {"stage": "sft"}, "cuset": {"stage": "cuset", **OFF}}
BASE = {"cutoff_len": 128, "max_samples": 8, "max_steps": 3}
BASE |= {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2}
ENTRIES = {name: feature for group in FEATURES.values() for name, feature in group.items()}
RUN = {name: one for name, one in ENTRIES.items() if not one.held and one.outcome is not Outcome.UNTESTED}


def evaluations(run):
    """Return the results of a run's evaluations, without times and without the numbers that only cuset reports."""
    left_out = ("_cuset_loss", "_runtime", "_per_second")
    return [
        {key: value for key, value in entry.items() if not key.endswith(left_out)}
        for entry in run.history
        if any(key.startswith("eval_") for key in entry)
    ]


@pytest.fixture(scope="session")
def train(llamafactory, tmp_path_factory):
    """A function that trains with a feature under a stage.

    It returns the run and the folder that {folder} stands for.
    """
    chats = tmp_path_factory.mktemp("chats")
    write_chats(chats)

    def run(feature: Feature, stage: str):
        places = {"chats": str(chats), "folder": str(tmp_path_factory.mktemp(stage))}

        def filled(keys):
            text = json.dumps(keys)
            for name, place in places.items():
                text = text.replace(f"{{{name}}}", place)
            return json.loads(text)

        environment = filled(feature.environment)
        if feature.first is not None:
            first = llamafactory(filled({**BASE, **feature.first, **STAGES[stage]}))
            places["first"] = str(first.output_dir)
        keys = filled({**BASE, **feature.keys, **feature.more, **STAGES[stage]})
        return llamafactory(keys, ranks=feature.ranks, check=False, **environment), Path(places["folder"])

    return run


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if one.is_quick else pytest.mark.slow) for name, one in RUN.items()]
)
def test_feature(train, llamafactory, name):
    feature = RUN[name]
    if missing := [package for package in feature.packages if importlib.util.find_spec(package) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    assert feature.says or feature.outcome is Outcome.WORKS
    ours, our_folder = train(feature, "cuset")
    if feature.outcome is Outcome.REFUSED:
        assert ours.returncode != 0
        assert feature.says in ours.output.strip().splitlines()[-1]
        return
    theirs, their_folder = train(feature, "sft")
    if feature.outcome is Outcome.FAILS:  # if this assertion fails, the feature works now: change its entry
        for run in (ours, theirs):
            assert run.returncode != 0
            assert feature.says in run.output.strip().splitlines()[-1], run.output[-3000:]
        return
    for run, folder in ((ours, our_folder), (theirs, their_folder)):
        assert run.returncode == 0, run.output[-6000:]
        assert feature.says in run.output
        for pattern in feature.leaves:
            assert [*folder.glob(pattern), *run.output_dir.glob(pattern)], pattern
    if feature.keys.get("predict_with_generate"):
        predictions = [(run.output_dir / "generated_predictions.jsonl").read_text() for run in (ours, theirs)]
        assert predictions[0] == predictions[1]
    assert len(theirs.steps) == feature.steps
    assert ours.losses_and_norms == pytest.approx(theirs.losses_and_norms, rel=feature.rel)
    assert len(evaluations(ours)) == len(evaluations(theirs))
    for found, expected in zip(evaluations(ours), evaluations(theirs), strict=True):
        assert found == pytest.approx(expected, rel=1e-5)
    # Nothing else shows that the feature was on, so it has to change SFT's numbers.
    if not feature.says and not feature.leaves and not evaluations(theirs):
        without = llamafactory({**BASE, "stage": "sft"})
        assert theirs.losses_and_norms != pytest.approx(without.losses_and_norms, rel=1e-4)


def recipe_of(run, **changes):
    """Return the recipe file of a run of the command line, with these keys changed."""
    return yaml.safe_load((run.output_dir.parent / "recipe.yaml").read_text()) | changes


@pytest.mark.slow
def test_an_adapter_is_exported(train, tiny_model, tmp_path):
    from llamafactory.train.tuner import export_model

    merged = {}
    for stage in STAGES:
        run, _ = train(ENTRIES["LoRA"], stage)
        keys = {"model_name_or_path": str(tiny_model), "adapter_name_or_path": str(run.output_dir), "template": "qwen"}
        export_model({**keys, "export_dir": str(tmp_path / stage), "infer_dtype": "float32"})
        merged[stage] = load_file(tmp_path / stage / "model.safetensors")
    base = load_file(tiny_model / "model.safetensors")
    assert set(merged["cuset"]) == set(base)
    for name, tensor in merged["sft"].items():
        torch.testing.assert_close(merged["cuset"][name], tensor, rtol=1e-4, atol=1e-5)
    assert any((merged["cuset"][name] - base[name]).abs().max() > 1e-3 for name in base)


def start_ray(ray, tries=5, **keys):
    """Start Ray, with several tries.

    Its processes have to start within 30 s, which cannot be set and is short on a busy machine.
    """
    for left in reversed(range(tries)):
        try:
            return ray.init(**keys)
        except Exception as error:  # Ray has no exception class for this
            if not left or "timed out during startup" not in str(error):
                raise
            ray.shutdown()


@pytest.mark.slow
def test_a_worker_of_ray(train, tmp_path):
    """Training in LLaMA-Factory's Ray worker gives the losses of a run without Ray.

    The test places the worker itself. LLaMA-Factory would do so only in a cluster with ten cores for each device.
    """
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install ray")
    from llamafactory.train.tuner import Worker

    plain, _ = train(ENTRIES["LoRA"], "cuset")
    recipe = recipe_of(plain, output_dir=str(tmp_path / "out"))
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    start_ray(ray, num_cpus=1, include_dashboard=False)
    try:
        options = {"num_cpus": 1, "runtime_env": {"env_vars": {"RANK": "0", "WORLD_SIZE": "1", **place}}}
        worker = ray.remote(Worker).options(**options).remote()
        ray.get(worker._training_function.remote(config={"args": recipe, "callbacks": []}))
    finally:
        ray.shutdown()
    assert type(plain)(tmp_path / "out", "", 0).losses_and_norms == pytest.approx(plain.losses_and_norms, rel=1e-5)


@pytest.mark.slow
def test_two_nodes(train, tmp_path):
    """Two nodes, started by the console script and torchrun as on two machines, train as two ranks of one machine do."""
    plain, _ = train(ENTRIES["DDP"], "cuset")
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    binaries = Path(sys.executable).parent
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    nodes = []
    for node in range(2):
        file = tmp_path / f"{node}.yaml"
        file.write_text(yaml.safe_dump(recipe_of(plain, output_dir=str(tmp_path / f"node-{node}"))))
        ranks = {"FORCE_TORCHRUN": "1", "NNODES": "2", "NODE_RANK": str(node), "NPROC_PER_NODE": "1", **place}
        environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", **ranks}
        with (tmp_path / f"{node}.log").open("w") as log:
            command = [binaries / "llamafactory-cli", "train", file]
            nodes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=tmp_path))
    try:
        for node in nodes:  # their status says nothing: gloo's threads may abort a finished rank
            node.wait(timeout=300)
    finally:
        for node in nodes:
            node.kill()
    assert (tmp_path / "node-0" / "trainer_state.json").exists(), (tmp_path / "0.log").read_text()[-4000:]
    assert type(plain)(tmp_path / "node-0", "", 0).losses_and_norms == pytest.approx(plain.losses_and_norms, rel=1e-5)


@pytest.mark.parametrize("held", sorted({one.held for one in ENTRIES.values() if one.held}))
def test_another_test_holds_it(held):
    path, _, test = held.partition("::")
    assert f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8")
