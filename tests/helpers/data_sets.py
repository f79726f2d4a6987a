"""Data sets as LLaMA-Factory reads them, made of a few rows."""

import json
from pathlib import Path
from typing import Any


# Keys and roles of messages in the form of OpenAI.
CHAT_TAGS = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}


def write_data_set(folder: Path, name: str, rows: Any, **entry: Any) -> dict[str, str]:
    """Write NAME.json, and its entry into dataset_info.json beside those that are there; returns the keys of a recipe that trains on it."""
    info = folder / "dataset_info.json"
    known = json.loads(info.read_text(encoding="utf-8")) if info.exists() else {}
    (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    info.write_text(json.dumps({**known, name: {"file_name": f"{name}.json", **entry}}), encoding="utf-8")
    return {"dataset_dir": str(folder), "dataset": name}
