"""Fixtures for the tests of generation: the bundled tasks, a tiny model with an adapter, requests, and a chat server."""

import json
import shutil

import pytest
from chat_server import ENDPOINT, ChatServer
from commands import cuset
from tiny_models import make_adapter

from cuset_stage.generate import RecordedSettings
from cuset_stage.generate.endpoint import EndpointBackend
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.plan import Request, generate
from cuset_stage.tasks import load_tasks


def ask(text="Write a kernel.", sample=0, seed=1, task="t"):
    return Request(task, sample, ({"role": "user", "content": text},), seed, "")


def by_sample(replies):
    """Return of replies what must not depend on the batch, by (task, sample)."""
    kept = ("answer", "tokens", "prompt_tokens", "finish_reason")
    return {(reply.task, reply.sample): tuple(getattr(reply, name) for name in kept) for reply in replies}


@pytest.fixture(scope="session")
def task_folder(request, tmp_path_factory):
    """A folder with some of the bundled tasks: to read all of them takes half a second."""
    folder = tmp_path_factory.mktemp("tasks")
    for task in (request.config.rootpath / "data" / "kernels").glob("[art]*"):
        (folder / task.name).symlink_to(task)
    return folder


@pytest.fixture(scope="session")
def kernels(task_folder):
    return load_tasks(task_folder)


@pytest.fixture(scope="session")
def settings(tiny_model):
    sampling = {"temperature": 1.0, "top_p": 0.9, "seed": 5, "max_tokens": 12}
    return RecordedSettings(backend="hf", model=str(tiny_model), dtype="float32", **sampling)


@pytest.fixture(scope="session")
def backend(settings):
    return HFBackend(settings, batch_size=8)


@pytest.fixture
def model_copy(tiny_model, tmp_path):
    """A copy of the tiny model that the test may change."""
    return shutil.copytree(tiny_model, tmp_path / "model")


@pytest.fixture(scope="session")
def adapter(tiny_model, tmp_path_factory):
    return make_adapter(tiny_model, tmp_path_factory.mktemp("adapter"))


@pytest.fixture
def server():
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture
def command(task_folder, tmp_path, tiny_model):
    """A function that runs `cuset generate` on bundled tasks.

    It asks the tiny model, unless other settings are given, and returns what the command printed.
    """

    def run(*options, exit_code=0):
        usual = f"output={tmp_path / 'answers.jsonl'}", f"model={tiny_model}", "device=cpu", "max_tokens=8"
        return cuset("generate", task_folder, *usual, *options, exit_code=exit_code)

    return run


@pytest.fixture
def fill(server, kernels, tmp_path):
    """A function that generates samples of the first tasks with the server.

    It returns the summary and the answers file's rows.
    """

    def run(tasks=1, samples=1, settings=ENDPOINT, **options):
        options = {"backoff_s": 0.01, "timeout_s": 10.0, "concurrency": 1, **options}
        output = tmp_path / "answers.jsonl"
        asked = {"samples": samples, "output": output}
        asked["open_backend"] = lambda: EndpointBackend(settings, server.url, **options)
        summary = generate(kernels.tasks[:tasks], settings, **asked)
        return summary, [json.loads(line) for line in output.read_text().splitlines()]

    return run
