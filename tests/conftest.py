"""Fixtures and settings for all tests.

They provide a tiny model made from local files, runs of llamafactory-cli, a browser, and the built documentation.
Tests stay offline, and nothing that a test starts runs without a time limit.
"""

import functools
import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import make_tiny_model
import pytest
import yaml
from worker_folders import shared_folder

from cuset_stage import attention


ROOT = Path(__file__).parent.parent
pytest_plugins = ["eight_samples", "judge_fixtures"]

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
RUN_SECONDS = 600  # limit of every process that a test starts; what takes longer hangs


def pytest_configure() -> None:
    """Check CUSET_TEST_WEIGHTS, give every `subprocess.run` a time limit, and set the cache for compiled extensions.

    Operators that DeepSpeed compiles go into a cache of the test suite's own. A build that was killed leaves a lock
    file there, and every later run would wait for it, so stale locks are removed at the start.
    """
    weights = os.environ.get("CUSET_TEST_WEIGHTS")
    if weights and not ((Path(weights) / "config.json").is_file() and any(Path(weights).glob("*.safetensors"))):
        raise pytest.UsageError(
            f"CUSET_TEST_WEIGHTS={weights}: no model lies there. Expected a Hugging Face folder with config.json, a tokenizer and "
            "*.safetensors; unset the variable to leave out the tests on real weights."
        )
    subprocess.run = functools.partial(limited_run, subprocess.run)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        cache = ROOT / ".pytest_cache" / "torch_extensions"
        cache.mkdir(parents=True, exist_ok=True)
        for lock in cache.rglob("lock"):
            lock.unlink(missing_ok=True)
        os.environ["TORCH_EXTENSIONS_DIR"] = str(cache)  # workers inherit it


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from everything that is imported and collected.

    These objects stay until the end. Walking them would take a third of the time of the collection, and later runs of
    the collector, here or in a fork, need not see them either.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def limited_run(run: Callable[..., Any], *args: Any, timeout: float | None = None, **options: Any) -> Any:
    """Call `run`, which is subprocess.run, with the limit RUN_SECONDS if none is given."""
    return run(*args, timeout=RUN_SECONDS if timeout is None else timeout, **options)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    """A folder with a two-layer Qwen2 model and a byte-level tokenizer."""

    def make(folder: Path) -> None:
        make_tiny_model.make_model(folder / "tiny", hidden_size=32, layers=2, vocab_size=1024)

    return shared_folder(tmp_path_factory, "model", make) / "tiny"


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium, headless (on Debian: apt-get install chromium).

    It does not live for the whole session: while Playwright is up, the process has a running event loop, and
    asyncio.run would fail in other tests.
    """
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the built documentation."""

    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return shared_folder(tmp_path_factory, "site", build)


@dataclass
class Run:
    """A finished run of llamafactory-cli."""

    output_dir: Path  # the recipe's
    output: str  # standard output followed by standard error
    returncode: int

    @property
    def adapter(self) -> bytes:
        """The bytes of the adapter's weights file."""
        return (self.output_dir / "adapter_model.safetensors").read_bytes()

    @property
    def history(self) -> list[dict]:
        return json.loads((self.output_dir / "trainer_state.json").read_text())["log_history"]

    @property
    def steps(self) -> list[dict]:
        """The log entries of the training steps."""
        return [entry for entry in self.history if "loss" in entry]

    @property
    def losses(self) -> list[float]:
        return [step["loss"] for step in self.steps]

    @property
    def losses_and_norms(self) -> list[float]:
        """Loss and gradient norm of each step, alternating."""
        return [step[key] for step in self.steps for key in ("loss", "grad_norm")]

    @property
    def evaluations(self) -> list[dict]:
        """The log entries of the evaluations."""
        return [entry for entry in self.history if "eval_loss" in entry]

    @property
    def results(self) -> dict[str, float]:
        return json.loads((self.output_dir / "all_results.json").read_text())

    def sentence(self, part: str) -> str:
        """Return the first line of the output that contains `part`."""
        return next(line for line in self.output.splitlines() if part in line)


@pytest.fixture
def recipe(tiny_model, tmp_path):
    """The recipe of a short run, for tests that train in their own process."""
    recipe = {"stage": "cuset", "model_name_or_path": str(tiny_model), "output_dir": str(tmp_path / "out")}
    recipe |= {"dataset_dir": str(ROOT / "data"), "dataset": "cuset_kernels", "template": "qwen", "do_train": True}
    recipe |= {"finetuning_type": "full", "max_samples": 8, "cutoff_len": 128, "max_steps": 1, "save_strategy": "no"}
    return recipe | {"report_to": "none", "use_cpu": True, "overwrite_cache": True}


@pytest.fixture(scope="session")
def cli_server(tmp_path_factory) -> Path:
    """The folder of the server that runs llamafactory-cli (helpers/cli_server.py), which all workers share."""
    import cli_server

    return shared_folder(tmp_path_factory, "cli-server", cli_server.start)


@pytest.fixture(scope="session")
def llamafactory(tiny_model, tmp_path_factory, request):
    """A function that runs a recipe as llamafactory-cli does and returns the `Run`.

    The recipe is completed with the keys of a short LoRA run on the CPU. Runs are remembered: the same recipe with the
    same options returns the earlier run, unless `anew` is set. If `check` is set, a run that fails also fails the
    test. With `real`, and for runs on GPUs, the console script itself runs and torchrun starts the ranks. Otherwise
    children of a server (helpers/cli_server.py) do the same without importing LLaMA-Factory each time.
    """
    known: dict[str, Run] = {}
    cache = tmp_path_factory.mktemp("datasets")

    def run(
        recipe: dict, *, ranks: int = 1, check: bool = True, real: bool = False, anew: bool = False, **environment: str
    ) -> Run:
        key = json.dumps([recipe, ranks, real, environment], sort_keys=True, default=str)
        if key not in known or anew:
            known[key] = execute(recipe, ranks, real or not recipe.get("use_cpu", True), environment)
        if check and known[key].returncode:
            pytest.fail(f"llamafactory-cli ended with {known[key].returncode}:\n{known[key].output[-6000:]}")
        return known[key]

    def execute(recipe: dict, ranks: int, real: bool, environment: dict[str, str]) -> Run:
        folder = tmp_path_factory.mktemp("run")
        known = {"model_name_or_path": str(tiny_model), "do_train": True, "finetuning_type": "lora"}
        known |= {"lora_target": "all", "lora_dropout": 0.0, "dataset_dir": str(ROOT / "data")}
        known |= {"dataset": "cuset_kernels", "max_samples": 24}
        known |= {"template": "qwen", "cutoff_len": 512, "overwrite_cache": True, "output_dir": str(folder / "out")}
        known |= {"logging_steps": 1, "save_strategy": "no", "report_to": "none", "use_cpu": True, "max_steps": 3}
        known |= {"disable_shuffling": True, "learning_rate": 1.0e-2, "lr_scheduler_type": "constant", "seed": 1}
        recipe = {**known, "ddp_timeout": 600, **recipe}
        file = folder / "recipe.yaml"
        file.write_text(yaml.safe_dump(recipe))
        binaries = str(Path(sys.executable).parent)
        env = {**os.environ, "PATH": binaries + os.pathsep + os.environ["PATH"], "HF_DATASETS_CACHE": str(cache)}
        env |= {"OMP_NUM_THREADS": "1", **environment}
        # stage: cuset switches cuDNN attention off where it gives wrong gradients. SFT runs must do the same to be
        # comparable.
        if recipe.get("stage", "sft") == "sft":
            env = {**attention.OFF_IN_SFT, **env}
        if not real:
            import cli_server

            server = request.getfixturevalue("cli_server")
            torchrun = ranks * (ranks > 1 or "FORCE_TORCHRUN" in env)
            status, output = cli_server.ask(server, file, env, torchrun, RUN_SECONDS)
            return Run(Path(recipe["output_dir"]), output, status)

        if ranks > 1:
            env |= {"FORCE_TORCHRUN": "1", "NPROC_PER_NODE": str(ranks)}
        command = [str(Path(binaries) / "llamafactory-cli"), "train", str(file)]
        for _ in range(4):
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=RUN_SECONDS, cwd=folder)
            # gloo's threads can outlive their process group. A rank that has finished its work then aborts while it
            # exits: try again.
            if ranks == 1 or "terminate called without an active exception" not in done.stderr:
                break
            shutil.rmtree(recipe["output_dir"], ignore_errors=True)
        return Run(Path(recipe["output_dir"]), done.stdout + done.stderr, done.returncode)

    return run
