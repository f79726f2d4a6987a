"""A completion server with prompt log-probabilities, as vLLM answers, computed by a real model row by row."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server.owner
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.bodies.append(body)
            busy = server.busy and server.busy.pop()
        if busy:
            return self.send({"error": {"message": "busy"}}, 503)
        ids = body["prompt"]
        if len(ids) + body["max_tokens"] > server.context:
            return self.send({"error": {"message": f"maximum context length is {server.context}"}}, 400)
        choice = {"text": "", "finish_reason": "length"}
        log_p = server.log_probabilities(ids)
        if server.style == "vllm" and "prompt_logprobs" in body:
            best = log_p.max(dim=-1)
            choice["prompt_logprobs"] = [None] + [
                {
                    str(int(token)): {"logprob": float(row[token]), "rank": 1, "decoded_token": "?"}
                    for token in {int(top), ids[at + 1]}
                }
                for at, (row, top) in enumerate(zip(log_p[:-1], best.indices, strict=False))
            ]
        self.send({"choices": [choice]})

    def send(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle(self):
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, *arguments):
        pass


class CompletionServer:
    """style: vllm, or none, which gives no log-probabilities. busy: a true value for each request to refuse with 503."""

    def __init__(self, model, style, context=4096, busy=()):
        self.model, self.style, self.context = model, style, context
        self.lock, self.bodies, self.busy = threading.Lock(), [], list(busy)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.owner = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @torch.no_grad()
    def log_probabilities(self, ids):
        with self.lock:
            return self.model(torch.tensor([ids])).logits[0].double().log_softmax(dim=-1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
