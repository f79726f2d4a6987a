"""A real HTTP server that misbehaves in every way servers do: nothing is lost, nothing is asked twice without need."""

import base64
import itertools
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import chat_server
import pytest
from chat_server import ENDPOINT, KEY, sends

from cuset_stage.generate import GenerationError
from cuset_stage.generate.endpoint import EndpointBackend
from cuset_stage.generate.plan import make_plan
from cuset_stage.tasks.answers_file import read_answers


# ---- what goes wrong once


@pytest.mark.parametrize(
    ("trouble", "options"),
    [
        (chat_server.slow, {"timeout_s": 1.0}),
        (chat_server.trickles, {"timeout_s": 1.0}),
        (chat_server.hangs_up, {}),
        (chat_server.stops_half_way, {}),
        (sends(b"\xff\x00<html>"), {}),
        (sends({"choices": [{"message": {"content": 7}}]}), {}),
        (sends({"choices": [{"message": {"content": "int ma"}, "finish_reason": "Abort"}]}), {}),
        (sends(b"[" * 100_000), {}),
        (sends({"error": {"message": "overloaded"}}, 429), {}),
        (sends(b"oh no", 500), {}),
    ],
)
def test_trouble_that_passes_is_tried_again(server, fill, trouble, options):
    server.troubles = [trouble]
    summary, lines = fill(**options)
    assert (summary.made, summary.failures) == (1, ())
    assert lines[0]["answer"] == f"seed {server.bodies[0]['seed']}"
    assert lines[0]["tries"] == 2
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize("asked", [lambda: "1", lambda: formatdate(time.time() + 2, usegmt=True)])
def test_pauses_grow_to_what_the_server_asks_for(server, fill, asked):
    server.troubles = [*[sends(b"", 503)] * 3, lambda *request: sends(b"", 429, Retry_After=asked())(*request)]
    assert fill(backoff_s=0.1)[0].made == 1
    times = [moment for moment, _, _ in server.requests]
    pauses = [after - before for before, after in itertools.pairwise(times)]
    assert all(pause >= 0.5 * 0.1 * 2**number for number, pause in enumerate(pauses)) and pauses[3] >= 1.0


def test_server_that_has_another_name_for_the_limit(server, fill):
    """Also for requests that are in flight when the first is refused, and without spending a try."""

    def modern(handler, body):
        time.sleep(0.05)
        if "max_tokens" in body:
            handler.send({"error": {"message": "Use 'max_completion_tokens' instead of 'max_tokens'."}}, 400)
        else:
            chat_server.answer(handler, body)

    server.always = modern
    summary, _ = fill(samples=8, concurrency=4, retries=0)
    assert summary.made == 8
    assert server.bodies[-1]["max_completion_tokens"] == 64
    assert len(server.bodies) <= 8 + 4


# ---- what stays wrong


def test_sample_that_fails_is_left_for_the_next_run(server, fill):
    server.troubles = [chat_server.answer, *[sends({"detail": "cannot\nnow"}, 500)] * 3]
    summary, lines = fill(samples=3, retries=2)
    assert [failure.request.sample for failure in summary.failures] == [1]
    assert summary.failures[0].message == "status 500: cannot now (3 tries)"
    assert [line["sample"] for line in lines] == [0, 2]
    asked = len(server.bodies)
    summary, lines = fill(samples=3)
    assert (summary.kept, summary.made) == (2, 1)
    assert len(server.bodies) == asked + 1
    assert sorted(line["sample"] for line in lines) == [0, 1, 2]


def test_server_that_breaks_down_ends_the_run_and_loses_nothing(server, fill, tmp_path):
    server.always = sends(b"", 500)
    server.troubles = [server.always, server.always, *[chat_server.answer] * 3]
    said = "10 requests in a row failed, each after 2 tries; the last one: status 500"
    with pytest.raises(GenerationError, match=said):
        fill(tasks=10, samples=2, retries=1)
    assert len(server.bodies) == 2 + 3 + 10 * 2
    assert len(read_answers(tmp_path / "answers.jsonl")) == 3


@pytest.mark.parametrize(
    ("status", "message", "headers"),
    [
        (401, "the API key is missing", {}),
        (404, "there is no such model", {}),
        (308, r"another address; .* \(308: https://there/v1/chat", {"Location": "https://there/v1/chat/completions"}),
    ],
)
def test_refusal_of_everything_ends_the_run_at_once(server, fill, status, message, headers):
    server.always = sends({"error": {"message": f"{KEY} is no good"}}, status, **headers)
    with pytest.raises(GenerationError, match=message) as error:
        fill(samples=9, api_key=KEY)
    assert len(server.bodies) == 1
    assert KEY not in str(error.value)


def test_a_refusal_ends_the_run_after_the_answers_in_flight(server, fill, tmp_path):
    """It is raised once, also if a second one is in flight, and no request begins after it."""
    server.troubles = [chat_server.slow, sends(b"", 403), sends(b"", 403), chat_server.slow]
    with pytest.raises(GenerationError, match="may not use it"):
        fill(samples=9, concurrency=4)
    assert len(server.bodies) == 4
    assert len(read_answers(tmp_path / "answers.jsonl")) == 2


def test_a_refusal_of_another_thread_loses_no_answer(server, kernels):
    """A call keeps the answers that were in flight, and raises if a request of its own could not begin."""
    backend = EndpointBackend(ENDPOINT, server.url, concurrency=1)
    plan, released = make_plan(kernels.tasks[:1], ENDPOINT, 3), threading.Event()

    def held(handler, body):
        released.wait(60)
        chat_server.answer(handler, body)

    server.troubles = [held, held]
    with ThreadPoolExecutor() as pool:
        one, two = pool.submit(list, backend.replies(plan[:1])), backend.replies(plan[:2])
        first = pool.submit(next, two)
        while len(server.bodies) < 2:
            time.sleep(0.01)
        server.troubles = [sends(b"", 401)]
        with pytest.raises(GenerationError, match="the API key is missing"):
            list(backend.replies(plan[2:]))
        released.set()
        assert [answer.sample for answer in [*one.result(), first.result()]] == [0, 0]
    for call in (two, backend.replies(plan)):
        with pytest.raises(GenerationError, match="the API key is missing"):
            next(call)
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        KEY.upper(),
        KEY[:9] + "\n" + KEY[9:],
        *("".join(form % ord(letter) for letter in KEY) for form in ("%%%02x", "%%25%02x", "\\u%04x", "&#%d;")),
        KEY.encode().hex(),
        *(base64.b64encode(before + KEY.encode() + b"!").decode() for before in (b"", b"k", b"k=")),
    ],
)
@pytest.mark.parametrize("where", ["content", "reasoning", "finish_reason", "error"])
def test_a_key_that_the_server_repeats_is_written_nowhere(server, fill, where, spelled, tmp_path):
    """However it is spelled. The other sample is kept."""
    choice = {"message": {"content": "int main() {}"}, "finish_reason": "stop"}
    (choice if where == "finish_reason" else choice["message"])[where] = f"x {spelled} y"
    trouble = sends({"error": choice["message"]["error"]}, 400) if where == "error" else sends({"choices": [choice]})
    server.troubles = [trouble, chat_server.answer]
    summary, lines = fill(samples=2, concurrency=1, api_key=KEY)
    assert (summary.made, len(lines)) == (1, 1)
    for text in (summary.failures[0].message, (tmp_path / "answers.jsonl").read_text()):
        assert spelled not in text and not ({KEY, KEY.upper()} & set(text.split()))
    assert "API key" in summary.failures[0].message


def test_a_key_in_a_broken_header_is_written_nowhere(server, fill):
    server.always = lambda handler, body: handler.wfile.write(f"HTTP/1.1 200 OK\r\nno header {KEY}\r\n\r\n".encode())
    assert fill(api_key=KEY, retries=0)[0].failures[0].message == "RemoteProtocolError (1 tries)"


def test_a_key_that_is_a_word_may_stand_in_answers(server, fill):
    server.always = sends({"choices": [{"message": {"content": "an EMPTY body"}, "finish_reason": "stop"}]})
    assert fill(api_key="EMPTY")[1][0]["answer"] == "an EMPTY body"


def test_nothing_listens(server, kernels):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        backend = EndpointBackend(ENDPOINT, f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(GenerationError, match=r"nothing answers there .* Start the server first"):
            list(backend.replies(make_plan(kernels.tasks[:1], ENDPOINT, 1)))
