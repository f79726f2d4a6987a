"""`cuset generate` with an endpoint: a server of our own, and `llamafactory-cli api`."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml
from chat_server import KEY, sends
from typer.testing import CliRunner

from cuset_stage.cli._app import app
from cuset_stage.generate import RecordedSettings
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.plan import make_plan
from cuset_stage.tasks.answers_file import read_answers


@pytest.fixture
def command(request, tmp_path):
    def run(url, *options, model="m"):
        tasks = request.config.rootpath / "data" / "kernels"
        fixed = [str(tasks), "only=tiled_sgemm", f"output={tmp_path / 'answers.jsonl'}"]
        return CliRunner().invoke(app, ["generate", *fixed, f"endpoint={url}", f"model={model}", *options])

    return run


def test_key_comes_from_the_environment_and_goes_nowhere_else(server, command, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", KEY)
    done = command(server.url, "api_key_env=MY_KEY")
    assert done.exit_code == 0, done.output
    assert server.requests[0][2]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in done.output
    assert KEY not in (tmp_path / "answers.jsonl").read_text()


def test_missing_samples_end_with_1(server, command, tmp_path):
    server.troubles = [sends({"error": "no"}, 422)]
    done = command(server.url)
    assert done.exit_code == 1
    assert "samples that are missing: 1; the first, tiled_sgemm sample 0: status 422: no." in done.output
    done = command(server.url)
    assert done.exit_code == 0
    assert len(read_answers(tmp_path / "answers.jsonl")) == 1


# ---- a server that people run


@pytest.fixture(scope="module")
def factory_server(tiny_model, tmp_path_factory):
    """`llamafactory-cli api` with the tiny model; the server asks for a key."""
    folder = tmp_path_factory.mktemp("api")
    config = {"template": "qwen", "infer_backend": "huggingface", "infer_dtype": "float32"}
    (folder / "api.yaml").write_text(yaml.safe_dump({"model_name_or_path": str(tiny_model), **config}))
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    environment = {**os.environ, "API_HOST": "127.0.0.1", "API_PORT": str(port), "API_KEY": KEY,
                   "API_MODEL_NAME": "tiny", "API_VERBOSE": "0", "CUDA_VISIBLE_DEVICES": ""}  # fmt: skip
    command, url = [Path(sys.executable).parent / "llamafactory-cli", "api", "api.yaml"], f"http://127.0.0.1:{port}/v1"
    with subprocess.Popen(command, cwd=folder, env=environment) as process:
        while process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{url}/models")
                break
            time.sleep(0.1)
        yield url
        process.kill()


@pytest.mark.slow  # importing LLaMA-Factory and its server takes ten seconds
def test_llamafactorys_own_server(factory_server, command, tiny_model, kernels, by_sample, monkeypatch, tmp_path):
    """Greedily, its answer and counts are those of the same model and template in our own process."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    refused = command(factory_server, "max_tokens=24", model="tiny")
    assert refused.exit_code == 2
    assert "the API key is missing or wrong" in refused.output
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    done = command(factory_server, "max_tokens=24", model="tiny")
    assert done.exit_code == 0, done.output
    theirs = read_answers(tmp_path / "answers.jsonl")
    settings = RecordedSettings(backend="hf", model=str(tiny_model), max_tokens=24, dtype="float32", template="qwen")
    plan = make_plan([kernels.by_id("tiled_sgemm")], settings, 1)
    assert by_sample(theirs) == by_sample(HFBackend(settings, batch_size=1).replies(plan))
