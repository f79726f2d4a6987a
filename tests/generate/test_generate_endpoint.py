"""What an endpoint is asked, and what is kept of its answers: a real HTTP server in a thread."""

import time

import chat_server
import pytest
from chat_server import ENDPOINT, KEY, sends_completion

from cuset_stage.generate import GenerationError
from cuset_stage.generate.completion import base_url
from cuset_stage.generate.plan import make_plan
from cuset_stage.tasks.messages import chat_messages


def test_every_sample_is_a_request_with_its_own_seed(server, fill, kernels):
    summary, lines = fill(tasks=2, samples=3, concurrency=4)
    assert (summary.made, len(lines)) == (6, 6)
    plan = make_plan(kernels.tasks[:2], ENDPOINT, 3)
    assert len({request.seed for request in plan}) == 6
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
        until = time.monotonic() + 60
        while server.most_in_flight < 3 and time.monotonic() < until:
            time.sleep(0.01)
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
    _, lines = fill(samples=4, settings=ENDPOINT.model_copy(update={"extra_body": {"top_k": -1}}))
    assert server.bodies[0]["top_k"] == -1 and lines[0]["extra_body"] == {"top_k": -1}
    kept = [(line["answer"], line.get("reasoning"), line["finish_reason"]) for line in lines]
    assert kept[:2] == [("fine", "hm", "stop"), ("", "hmm", "length")]
    assert kept[2:] == [("fine", None, "stop"), ("", None, "content_filter")]


@pytest.mark.parametrize("usage", [None, {"completion_tokens": -1}, {"completion_tokens": 0}, "7"])
def test_server_without_token_counts(server, fill, usage):
    server.always = sends_completion(usage=usage)
    _, (line,) = fill(samples=1)
    assert (line["tokens"], line["prompt_tokens"]) == (None, None)


def test_addresses_people_give():
    assert base_url("http://localhost:8000") == base_url("http://localhost:8000/v1/") == "http://localhost:8000/v1"
    assert base_url("https://host/api/v1/chat/completions") == "https://host/api/v1"


@pytest.mark.parametrize(
    "given",
    ["localhost:8000", "ftp://host", "http://", "http://h:99999", "http://[", f"http://{KEY}@h", f"http://h?k={KEY}"],
)
def test_addresses_that_are_none(given):
    with pytest.raises(GenerationError, match="expected an address such as") as error:
        base_url(given)
    assert KEY not in str(error.value)
