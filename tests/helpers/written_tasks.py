"""Kernels for tests of task writing, and a chat server that plays the writing model with recorded replies."""

import shutil
from pathlib import Path

from chat_server import ChatServer, completion


RECORDED = Path(__file__).parent.parent / "curate" / "replies"
NAMES = {"rowNorm": "row_norms", "histo": "histogram"}  # kernel -> stem of its files
SUBJECT = {"row_norms": "norm of each row", "histogram": "modulo 64"}  # recognises a task in a prompt


def recorded(name: str) -> str:
    """Return the recorded reply of this name."""
    return (RECORDED / f"{name}.md").read_text(encoding="utf-8")


def put_kernels(folder: Path, *names: str) -> Path:
    """Copy recorded kernels, by default all of them, into the folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or NAMES.values():
        shutil.copy(RECORDED / f"{name}.cu", folder)
    return folder


class Writers(ChatServer):
    """A chat server that replies to requests about a kernel with what is `said`, and then with the recorded reply."""

    def __init__(self, **said: list[str]) -> None:
        super().__init__()
        self.said = {name: list(texts) for name, texts in said.items()}
        self.always = self._reply

    def _reply(self, handler, body) -> None:
        """Answer a request.

        One that shows no kernel asks for the second, independent reference: its recorded reply is NAME_second.
        """
        text = "\n".join(message["content"] for message in body["messages"][1:])
        task = next((name for kernel, name in NAMES.items() if f"kernel `{kernel}`" in text), None)
        name = task or f"{next(name for name, words in SUBJECT.items() if words in text)}_second"
        with self.lock:
            reply = self.said[name].pop(0) if self.said.get(name) else recorded(name)
        choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        handler.send(completion(body, choices=[choice]))
