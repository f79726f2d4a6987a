"""Writes small data sets in the form in which LLaMA-Factory reads them."""

import json
from pathlib import Path
from typing import Any


# `tags` of dataset_info.json for messages in OpenAI's form.
CHAT_TAGS = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}


def write_data_set(folder: Path, name: str, rows: Any, **entry: Any) -> dict[str, str]:
    """Write NAME.json, and its entry with these further keys to dataset_info.json, next to the entries that are there.

    Returns the recipe keys that select this data set.
    """
    info = folder / "dataset_info.json"
    entries = json.loads(info.read_text(encoding="utf-8")) if info.exists() else {}
    (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    info.write_text(json.dumps({**entries, name: {"file_name": f"{name}.json", **entry}}), encoding="utf-8")
    return {"dataset_dir": str(folder), "dataset": name}
