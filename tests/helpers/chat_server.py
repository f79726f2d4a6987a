"""A chat completion server for tests of the endpoint backend.

It runs in a thread, uses the standard library alone, and can be told to misbehave: `ChatServer.troubles` holds
functions that answer the next requests slowly, in part or not at all. Each such function takes the request handler and
the request's body.
"""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cuset_stage.generate import RecordedSettings


# The request settings and the API key that the tests use.
ENDPOINT = RecordedSettings(backend="endpoint", model="m", temperature=0.8, top_p=0.95, seed=3, max_tokens=64)
KEY = "sk-secret-1234567890"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        chat = self.server.chat
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with chat.lock:
            chat.requests.append((time.monotonic(), body, dict(self.headers)))
            chat.in_flight += 1
            chat.most_in_flight = max(chat.most_in_flight, chat.in_flight)
            trouble = chat.troubles.pop(0) if chat.troubles else chat.always
        try:
            (trouble or answer)(self, body)
        finally:
            with chat.lock:
                chat.in_flight -= 1

    def begin(self, length, status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": length, **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def send(self, body, status=200, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.begin(len(data), status, **headers)
        self.wfile.write(data)

    def handle(self):
        with contextlib.suppress(ConnectionError):  # raised when the client gave up waiting
            super().handle()

    def log_message(self, *arguments):
        pass


class ChatServer:
    """A running server at `url`, and what it has seen so far."""

    def __init__(self):
        self.lock = threading.Lock()  # guards what follows while requests are handled
        self.requests = []  # (time of arrival, body, headers) of each POST request, in order of arrival
        self.troubles = []  # functions that answer the next requests, one each, used up from the front
        self.always = None  # answers once `troubles` is empty; None: a completion that names the request's seed
        self.in_flight = self.most_in_flight = 0  # requests that are being answered now, and the most so far
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.chat = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def bodies(self):
        return [body for _, body, _ in self.requests]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def completion(body, **changes):
    """Return a chat completion as an endpoint sends it; its text names the request's seed."""
    choice = {"message": {"role": "assistant", "content": f"seed {body['seed']}"}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"completion_tokens": 7, "prompt_tokens": 31}, **changes}


def answer(handler, body):
    handler.send(completion(body))


def slow(handler, body):
    time.sleep(2.5)
    answer(handler, body)


def trickles(handler, body):
    """Send a byte every 0.1 s before the reply, so that no single read times out but the whole reply is late."""
    data = json.dumps(completion(body)).encode()
    handler.begin(25 + len(data))
    for _ in range(25):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)
    handler.wfile.write(data)


def hangs_up(handler, body):
    handler.close_connection = True


def stops_half_way(handler, body):
    data = json.dumps(completion(body)).encode()
    handler.begin(len(data))
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True


def sends(content, status=200, **headers):
    """Return a trouble that replies with this content (bytes, or an object sent as JSON), status and headers."""
    return lambda handler, body: handler.send(content, status, **headers)


def sends_completion(**changes):
    """Return a trouble that replies with a completion in which these keys are changed."""
    return lambda handler, body: handler.send(completion(body, **changes))
