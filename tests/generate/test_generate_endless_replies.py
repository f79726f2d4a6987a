"""A server whose replies have no end takes neither the memory nor the time of the run."""

import contextlib
import gzip
import json

import chat_server
import pytest

from cuset_stage.generate import GenerationError, endpoint


def endless(handler, _body=None, status=200):
    handler.send_response(status)
    handler.send_header("Content-Length", str(2**40))
    handler.end_headers()
    with contextlib.suppress(ConnectionError):
        while True:
            handler.wfile.write(b" " * 2**20)


def packed(handler, body):
    """A completion that is small on its way and large when it is unpacked."""
    data = gzip.compress(json.dumps(chat_server.completion(body, padding=" " * 2**25)).encode())
    handler.send(data, Content_Encoding="gzip")


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_body_without_an_end_is_a_failure_that_is_tried_again(server, fill, status):
    server.troubles = [lambda handler, body: endless(handler, body, status)] * 2
    summary, lines = fill(samples=2, retries=1, timeout_s=30.0)
    assert [failure.message for failure in summary.failures] == [
        f"a body of more than 16 MiB (status {status}) (2 tries)"
    ]
    assert [line["sample"] for line in lines] == [1]


def test_a_body_is_measured_unpacked(server, fill):
    server.troubles = [packed]
    assert fill()[1][0]["tries"] == 2


def test_an_answer_of_some_mib_and_a_small_packed_one_are_read(server, fill):
    def small(handler, body):
        handler.send(gzip.compress(json.dumps(chat_server.completion(body)).encode()), Content_Encoding="gzip")

    long = [{"message": {"content": "x" * 8 * 2**20}, "finish_reason": "stop"}]
    server.troubles = [chat_server.sends_completion(choices=long), small]
    summary, lines = fill(samples=2, retries=0)
    assert summary.made == 2 and len(lines[0]["answer"]) == 8 * 2**20 and lines[1]["answer"].startswith("seed")


def test_a_list_of_models_without_an_end_is_no_list(server, fill, monkeypatch):
    monkeypatch.setattr(chat_server.Handler, "do_GET", endless)
    assert fill()[0].made == 1


def test_a_list_of_models_that_never_comes_is_no_server(server, fill, monkeypatch):
    monkeypatch.setattr(chat_server.Handler, "do_GET", lambda handler: chat_server.trickles(handler, {"seed": 0}))
    monkeypatch.setattr(endpoint, "LONGEST_GREETING_S", 0.5)
    with pytest.raises(GenerationError, match="nothing answers there"):
        fill()
