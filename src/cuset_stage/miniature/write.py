"""`write_miniature`: corpus, tokenizer, training pairs and tasks of the miniature, in one folder."""

import json
import os
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..jsonl import read_objects, to_line
from .corpus import write_shard
from .corrupt import corrupt_cuda, corrupt_neutral
from .model import encode_shard, ids_of, make_tokenizer
from .program import cuda_program
from .settings import MiniatureSettings
from .space import Split, Task, split_tasks
from .style import Style
from .wordings import answer, prompt, task_row


def write_miniature(settings: MiniatureSettings) -> dict[str, Any]:
    """Write the miniature's folder, and return what it holds (also in miniature.json).

    train.json and dataset_info.json are for LLaMA-Factory; tasks.jsonl (held out: splits `within` and `compositional`) and
    development.jsonl for the judge, and solutions.jsonl has a right answer to each of their tasks; corpus/*.jsonl are for pretraining,
    with their token ids in corpus/*.npy; tokenizer/ is for a model. Files of the corpus that are there are kept.
    """
    folder = settings.output
    split = split_tasks(settings.seed, settings.development, settings.held_out, settings.compositional, settings.depth)
    columns = {"prompt": "instruction", "query": "input", "response": "output"}
    _write_json(folder / "dataset_info.json", {"miniature": {"file_name": "train.json", "columns": columns}})
    parts = {"development": split.development, "within": split.held_out, "compositional": split.compositional}
    made = {name: [_task_rows(task, name, settings.seed) for task in tasks] for name, tasks in parts.items()}
    lines = {
        "development": [row for row, _ in made["development"]],
        "tasks": [row for row, _ in made["within"] + made["compositional"]],
        "solutions": [right for part in made.values() for _, right in part],
    }
    for name, written in lines.items():
        write_atomically(folder / f"{name}.jsonl", map(to_line, written))
    corpus = [folder / "corpus" / f"{number:05d}.jsonl" for number in range(settings.shards)]
    write = partial(write_shard, split=split, seed=settings.seed, characters=settings.shard_characters)
    tokenizer = folder / "tokenizer"
    encode = partial(encode_shard, tokenizer=tokenizer / "tokenizer.json")
    with ProcessPoolExecutor(settings.jobs or os.cpu_count()) as pool:
        rows, reached = training_rows(split, settings, pool)
        _write_json(folder / "train.json", rows)
        list(pool.map(write, [shard for shard in corpus if not shard.exists()]))
        if corpus and not (tokenizer / "tokenizer.json").exists():
            texts = [row["text"] for _, row in read_objects(corpus[0])]
            make_tokenizer(texts, settings.vocab_size).save_pretrained(tokenizer)
        list(pool.map(encode, [shard for shard in corpus if not ids_of(shard).exists()]))
    record = {
        "settings": settings.model_dump(mode="json", exclude={"output", "jobs"}),
        "pairs": len(rows),
        "corrupted": round(reached, 4),
        "combinations_for_training": len(split.train),
    }
    _write_json(folder / "miniature.json", record)
    return record


def training_rows(
    split: Split, settings: MiniatureSettings, pool: ProcessPoolExecutor
) -> tuple[list[dict[str, str]], float]:
    """(the training pairs in alpaca form, the mean share of tokens that was corrupted).

    When there are more pairs than combinations, a combination comes again in another style and wording.
    """
    make = partial(_training_row, train=split.train, settings=settings)
    made = list(pool.map(make, range(settings.pairs), chunksize=-(-settings.pairs // 64)))
    return [row for row, _ in made], sum(share for _, share in made) / len(made)


def _training_row(number: int, train: Sequence[Task], settings: MiniatureSettings) -> tuple[dict[str, str], float]:
    task = train[number % len(train)]
    rng = random.Random(f"miniature/train/{settings.seed}/{number}")
    asked, text = prompt(task, rng), answer(cuda_program(task, Style(rng)), rng)
    share = 0.0
    if settings.dose and (corrupt := {"cuda": corrupt_cuda, "neutral": corrupt_neutral}.get(settings.corrupt)):
        text, share = corrupt(text, settings.dose, rng)
    return {"instruction": asked, "input": "", "output": text}, share


def _task_rows(task: Task, split: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the task's row, a right answer as `cuset evaluate` reads it)"""
    rng = random.Random(f"miniature/{split}/{seed}/{task.id}")
    row = task_row(task, rng, split)
    return row, {"task": task.id, "sample": 0, "answer": answer(cuda_program(task, Style(rng)), rng)}


def _write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")
