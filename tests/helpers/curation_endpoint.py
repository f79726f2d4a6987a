"""A real HTTP server that behaves as an OpenAI-compatible endpoint, or as badly as it is told to."""

import contextlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint:
    """Answers chat completions with `behave(question, number)`: a text, or one of the faults below.

    Faults: "<500>", or any other status from 300; "<hang>", "<cut>" (half a body), "<drip>" (a byte now and then), "<endless>" (a body
    without an end), "<garbage>" (no JSON), "<close>" (no answer at all).

    Args:
        usage: whether answers say how many tokens they took.
        name: under which the model is served.
    """

    def __init__(self, behave, *, usage: bool = True, name: str = "test") -> None:
        self.questions: list[str] = []
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_args) -> None:
                pass

            def do_GET(self) -> None:
                self.reply(json.dumps({"data": [{"id": name}]}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                question = "\n".join(message["content"] for message in body["messages"])
                outer.questions.append(question)
                text = behave(question, len(outer.questions))
                if re.fullmatch(r"<[345]\d\d>", text):
                    self.reply("down or too long", status=int(text[1:4]))
                elif text == "<hang>":
                    outer.released.wait(20)
                elif text == "<cut>":
                    self.reply(json.dumps({"choices": [{"message": {"content": "half"}}]}), claim=10_000)
                elif text in ("<drip>", "<endless>"):
                    self.reply("", claim=2**40)
                    part, pause = (b" ", 0.1) if text == "<drip>" else (b" " * 2**20, 0.0)
                    with contextlib.suppress(ConnectionError):  # the client has had enough
                        while not outer.released.wait(pause):
                            self.wfile.write(part)
                elif text == "<garbage>":
                    self.reply("<html>proxy login</html>")
                elif text != "<close>":
                    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                    counts = {"usage": {"completion_tokens": 1, "prompt_tokens": 1}} if usage else {}
                    self.reply(json.dumps({"choices": [choice], **counts}))

            def reply(self, text: str, status: int = 200, claim: int | None = None) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(claim or len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "Endpoint":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_error) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        time.sleep(0)
