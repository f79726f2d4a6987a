"""Kernels of which tasks are written, and a chat server that replies with what was recorded."""

import shutil
from pathlib import Path

from chat_server import ChatServer, completion


RECORDED = Path(__file__).parent.parent / "curate" / "replies"
NAMES = {"rowNorm": "row_norms", "histo": "histogram"}  # kernel -> its files
SUBJECT = {"row_norms": "norm of each row", "histogram": "modulo 64"}  # in the prompts


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.md").read_text(encoding="utf-8")


def put_kernels(folder: Path, *names: str) -> Path:
    """A tree with the recorded kernels."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or NAMES.values():
        shutil.copy(RECORDED / f"{name}.cu", folder)
    return folder


class Writers(ChatServer):
    """`said`: replies to be given first, by the name of the recorded one that follows when they are used up."""

    def __init__(self, **said: list[str]) -> None:
        super().__init__()
        self.said, self.models = {name: list(texts) for name, texts in said.items()}, ["writer"]
        self.always = self._reply

    def _reply(self, handler, body) -> None:
        text = "\n".join(message["content"] for message in body["messages"][1:])
        task = next((name for kernel, name in NAMES.items() if f"kernel `{kernel}`" in text), None)
        name = task or f"{next(name for name, words in SUBJECT.items() if words in text)}_second"
        with self.lock:
            reply = self.said[name].pop(0) if self.said.get(name) else recorded(name)
        choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        handler.send(completion(body, choices=[choice]))
