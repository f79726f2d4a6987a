r"""An OpenAI-compatible server whose answers are files: each question is put into a folder, and waits there until somebody has answered it.

    python scripts/hand_served.py FOLDER --port 8000      serve: cuset curate write WORK endpoint=http://localhost:8000/v1 model=hand \
                                                              timeout=86400 concurrency=64 compile_only=true
    python scripts/hand_served.py FOLDER --open           the questions without an answer, oldest first

Question q-KEY.md is the text to read; q-KEY.json is the request as it came. Its answer is a-KEY.md, written at any time, also while nobody
waits: KEY stands for the messages and the model, so whoever asks the same again gets the same answer at once, after a stop as well. An
answer is taken when its file has not changed for a second. An answer that begins with the line `finish_reason: length` was cut off there.
"""

import argparse
import hashlib
import json
import os
import select
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


CUT_OFF = "finish_reason: length\n"
SETTLED_S = 1.0
POLL_S = 0.5


def key_of(body: dict) -> str:
    text = json.dumps([body.get("model"), body["messages"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def as_text(body: dict) -> str:
    """The messages as one text: the newest stands last."""
    parts = [f"<!-- {message['role']} -->\n\n{message['content'].rstrip()}\n" for message in body["messages"]]
    return "\n".join(parts)


def write_whole(path: Path, text: str) -> None:
    """Those who read the folder never see half a file."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def unanswered(folder: Path) -> list[Path]:
    questions = sorted(folder.glob("q-*.md"), key=lambda path: path.stat().st_mtime)
    return [path for path in questions if not (folder / f"a{path.name[1:]}").exists()]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send({"data": [{"id": self.server.model, "object": "model"}]})

    def do_POST(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key, text = key_of(body), as_text(body)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return self.send({"error": {"message": f"not a chat completion request: {error!r}"}}, 400)
        question = self.server.folder / f"q-{key}.md"
        if not question.exists():
            write_whole(question.with_suffix(".json"), json.dumps(body, indent=1) + "\n")
            write_whole(question, text)
        answer = self.wait_for(self.server.folder / f"a-{key}.md")
        if answer is None:
            return self.close()
        reason = "length" if answer.startswith(CUT_OFF) else "stop"
        message = {"role": "assistant", "content": answer.removeprefix(CUT_OFF)}
        self.send({"id": key, "model": body.get("model"), "choices": [{"message": message, "finish_reason": reason}]})

    def wait_for(self, path: Path) -> str | None:
        """The answer's text; None when the client has gone."""
        while True:
            if path.exists() and time.time() - path.stat().st_mtime > SETTLED_S:
                return path.read_text(encoding="utf-8", errors="replace")
            readable, _, _ = select.select([self.connection], [], [], POLL_S)
            if readable:  # a client that waits sends nothing: it has hung up
                return None

    def close(self) -> None:
        self.close_connection = True

    def send(self, body: dict, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        """The folder says what was asked."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # each question waits with a connection of its own

    def __init__(self, folder: Path, port: int = 0, model: str = "hand") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.model = folder, model
        super().__init__(("127.0.0.1", port), Handler)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--model", default="hand", help="the name that /v1/models lists")
    parser.add_argument("--open", action="store_true", help="list the questions without an answer and end")
    options = parser.parse_args()
    if options.open:
        for path in unanswered(options.folder):
            print(path)
        return
    server = Server(options.folder, options.port, options.model)
    print(f"http://127.0.0.1:{server.server_port}/v1 answers from {options.folder}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
