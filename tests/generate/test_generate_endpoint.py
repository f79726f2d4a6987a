"""What an endpoint is asked, and what is kept of its answers: a real HTTP server in a thread, and `llamafactory-cli api`."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import chat_server
import httpx
import pytest
import yaml
from chat_server import ENDPOINT, KEY, sends, sends_completion
from cli_server import free_port
from processes import until

from cuset_stage.generate import GenerationError, RecordedSettings
from cuset_stage.generate.completion import base_url
from cuset_stage.generate.hf import HFBackend
from cuset_stage.generate.plan import make_plan
from cuset_stage.tasks.answers_file import read_answers
from cuset_stage.tasks.messages import chat_messages

from .conftest import by_sample


def test_every_sample_is_a_request_with_its_own_seed(server, fill, kernels):
    summary, lines = fill(tasks=2, samples=3, concurrency=4)
    assert (summary.made, len(lines)) == (6, 6)
    plan = make_plan(kernels.tasks[:2], ENDPOINT, 3)
    both = [*plan, *make_plan(kernels.tasks[:2], ENDPOINT.model_copy(update={"seed": 4}), 3)]
    assert len({request.seed for request in both}) == 12 and all(0 <= request.seed < 2**31 for request in both)
    assert sorted(body["seed"] for body in server.bodies) == sorted(request.seed for request in plan)
    for body in server.bodies:
        task = next(request.task for request in plan if request.seed == body["seed"])
        assert body == {
            "model": "m", "messages": chat_messages(kernels.by_id(task)), "max_tokens": 64, "temperature": 0.8,
            "top_p": 0.95, "seed": body["seed"], "n": 1, "stream": False,
        }  # fmt: skip
    seeds = {(request.task, request.sample): request.seed for request in plan}
    for line in lines:
        assert line["answer"] == f"seed {seeds[line['task'], line['sample']]}"
        expected = {"tokens": 7, "prompt_tokens": 31, "finish_reason": "stop", "tries": 1,
                    "model": "m", "temperature": 0.8, "seed": 3, "endpoint": server.url}  # fmt: skip
        assert expected.items() <= line.items()


def test_so_many_requests_in_flight_and_no_more(server, fill):
    def takes_a_while(handler, body):
        until(lambda: server.most_in_flight >= 3, 60)
        time.sleep(0.02)
        chat_server.answer(handler, body)

    server.always = takes_a_while
    assert fill(tasks=4, samples=4, concurrency=3)[0].made == 16
    assert server.most_in_flight == 3


def test_what_a_completion_holds_is_kept(server, fill):
    parts = [{"type": "text", "text": "fi"}, {"type": "text", "text": "ne"}]
    completions = (
        ({"content": "fine", "reasoning_content": "hm"}, "stop"),
        ({"content": None, "reasoning": "hmm"}, "length"),
        ({"content": parts}, "stop"),
        ({"content": None}, "content_filter"),
    )
    server.troubles = [sends_completion(choices=[{"message": m, "finish_reason": end}]) for m, end in completions]
    _, lines = fill(samples=4, settings=ENDPOINT.model_copy(update={"extra_body": {"stop": "\ud83d"}}))
    assert server.bodies[0]["stop"] == "\ud83d" and lines[0]["extra_body"] == {"stop": "\ud83d"}
    kept = [(line["answer"], line.get("reasoning"), line["finish_reason"]) for line in lines]
    assert kept[:2] == [("fine", "hm", "stop"), ("", "hmm", "length")]
    assert kept[2:] == [("fine", None, "stop"), ("", None, "content_filter")]


@pytest.mark.parametrize(
    "usage", [None, {"completion_tokens": -1}, {"prompt_tokens": 2**53}, {"completion_tokens": 0}, "7"]
)
def test_server_without_token_counts(server, fill, usage):
    server.always = sends_completion(usage=usage)
    _, (line,) = fill(samples=1)
    assert (line["tokens"], line["prompt_tokens"]) == (None, None)


def test_addresses_people_give():
    assert base_url("http://localhost:8000") == base_url("http://localhost:8000/v1/") == "http://localhost:8000/v1"
    assert base_url("https://host/api/v1/chat/completions") == "https://host/api/v1"


@pytest.mark.parametrize("given", [
    "localhost:8000", "ftp://h", "http://", "http://h:99999", "http://[", "http://[::]x", f"http://{KEY}@h", f"http://h?k={KEY}",
])  # fmt: skip
def test_addresses_that_are_none(given):
    with pytest.raises(GenerationError, match="expected an address such as") as error:
        base_url(given)
    assert KEY not in str(error.value)


# ---- the command


ONE = "only=tiled_sgemm"


def test_key_comes_from_the_environment_and_goes_nowhere_else(server, command, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", KEY)
    said = command(ONE, f"endpoint={server.url}", "api_key_env=MY_KEY")
    assert server.requests[0][2]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in said + (tmp_path / "answers.jsonl").read_text()


def test_missing_samples_end_with_1(server, command, tmp_path):
    server.troubles = [sends({"error": "no"}, 422)]
    said = command(ONE, f"endpoint={server.url}", exit_code=1)
    assert "samples that are missing: 1; the first, tiled_sgemm sample 0: status 422: no." in said
    command(ONE, f"endpoint={server.url}")
    assert len(read_answers(tmp_path / "answers.jsonl")) == 1


# ---- a server that people run


@pytest.fixture(scope="module")
def factory_server(tiny_model, tmp_path_factory):
    """`llamafactory-cli api` with the tiny model; the server asks for a key."""
    folder = tmp_path_factory.mktemp("api")
    config = {"template": "qwen", "infer_backend": "huggingface", "infer_dtype": "float32"}
    (folder / "api.yaml").write_text(yaml.safe_dump({"model_name_or_path": str(tiny_model), **config}))
    port = free_port()
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
def test_llamafactorys_own_server(factory_server, command, tiny_model, kernels, monkeypatch, tmp_path):
    """Greedily, its answer and counts are those of the same model and template in our own process."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    given = ONE, f"endpoint={factory_server}", "model=tiny", "max_tokens=24"
    assert "the API key is missing or wrong" in command(*given, exit_code=2)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    command(*given)
    theirs = read_answers(tmp_path / "answers.jsonl")
    settings = RecordedSettings(backend="hf", model=str(tiny_model), max_tokens=24, dtype="float32", template="qwen")
    plan = make_plan([kernels.by_id("tiled_sgemm")], settings, 1)
    assert by_sample(theirs) == by_sample(HFBackend(settings, batch_size=1).replies(plan))
