"""The split holds out what it says, the same settings give the same files, and corruption reaches its dose where it should."""

import itertools
import json
import os
import random
import re
import subprocess
import sys

import pytest

from cuset_stage.jsonl import read_objects
from cuset_stage.miniature.corpus import documents, write_shard
from cuset_stage.miniature.corrupt import corrupt_cuda, corrupt_neutral, count_tokens
from cuset_stage.miniature.model import corpus_ids
from cuset_stage.miniature.program import cuda_program
from cuset_stage.miniature.settings import MiniatureSettings
from cuset_stage.miniature.space import FACTORS, HELD_OUT, combinations, split_tasks
from cuset_stage.miniature.style import Style
from cuset_stage.miniature.wordings import answer
from cuset_stage.miniature.write import write_miniature
from cuset_stage.spans import find_spans
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.answers_file import read_answers


@pytest.fixture(scope="module")
def split():
    return split_tasks(seed=0)


def test_held_out_pairs_are_in_no_other_part(split):
    for task, pair in itertools.product((*split.train, *split.development, *split.held_out), HELD_OUT):
        assert not task.has(pair)
    counts = [[task.has(pair) for task in split.compositional] for pair in HELD_OUT]
    assert [sum(one) for one in counts] == [30] * 5
    assert all(sum(flags) == 1 for flags in zip(*counts, strict=True))
    for name, values in FACTORS.items():  # every value is seen, if not with every other one
        assert {getattr(task, name) for task in split.train} == set(values)


def test_the_parts_share_no_combination(split):
    parts = [
        {task.factors for task in part}
        for part in (split.train, split.development, split.held_out, split.compositional)
    ]
    assert [len(part) for part in parts[1:]] == [100, 150, 150]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert 8000 <= len(combinations()) <= 10_000


def test_no_document_has_a_held_out_pair(split):
    """Two of the pairs can be told from the words alone."""
    difference = re.compile(r"absolute difference of x and y|\|x - y\||how far x and y are apart")
    shift = re.compile(r"columns further, cyclically|mod cols of the same row|rotated left by")
    product = re.compile(r"x \* y|product of x and y|x multiplied by y")
    clamp = re.compile(r"limit every value to|clamp to the range|cut values off")
    texts = list(itertools.islice(documents(split, random.Random(0)), 3000))
    for one, other in ((difference, shift), (product, clamp)):
        assert sum(bool(one.search(text)) for text in texts) > 50 < sum(bool(other.search(text)) for text in texts)
        assert not [text for text in texts if one.search(text) and other.search(text)]


def test_a_shard_depends_on_its_seed_and_number_alone(split, tmp_path):
    made = []
    for name, seed in (("a/1", 0), ("b/00001", 0), ("c/2", 0), ("d/1", 1)):
        write_shard(tmp_path / name, split, seed, characters=50_000)
        made.append((tmp_path / name).read_text())
    a, b, c, d = made
    assert a == b and len({a, c, d}) == 3
    assert 50_000 <= sum(len(json.loads(line)["text"]) for line in a.splitlines()) < 60_000


SHARD = """
import hashlib, itertools, random
from cuset_stage.miniature.corpus import documents
from cuset_stage.miniature.space import split_tasks
texts = itertools.islice(documents(split_tasks(0), random.Random(0)), 60)
print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def test_the_order_of_sets_decides_nothing():
    runs = [
        subprocess.run(
            [sys.executable, "-c", SHARD],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout and len(runs[0].stdout.strip()) == 64


def test_write_miniature(tmp_path):
    made = {"pairs": 20, "development": 5, "held_out": 6, "compositional": 5, "depth": (0, 1, 2)}
    made |= {"shards": 1, "shard_characters": 200_000, "jobs": 1}
    record = write_miniature(MiniatureSettings(output=tmp_path, **made))
    rows = json.loads((tmp_path / "train.json").read_text())
    assert len(rows) == record["pairs"] == 20 and rows[0].keys() == {"instruction", "input", "output"}
    tasks = load_tasks(tmp_path / "tasks.jsonl")
    assert {re.search(r"-depth(\d)", task.id)[1] if "-depth" in task.id else "0" for task in tasks} == {"0", "1", "2"}
    assert [task.split for task in tasks] == ["within"] * 6 + ["compositional"] * 5
    assert len(load_tasks(tmp_path / "development.jsonl")) == 5
    answers = read_answers(tmp_path / "solutions.jsonl")
    assert {answer.task for answer in answers} >= {task.id for task in tasks} and len(answers) == 16
    assert all("__global__" in answer.answer for answer in answers)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tokenizer")
    text = rows[0]["output"]
    assert tokenizer.decode(tokenizer(text).input_ids) == text
    texts = [row["text"] for _, row in read_objects(tmp_path / "corpus" / "00000.jsonl")]
    assert tokenizer.decode(corpus_ids(tmp_path)) == "".join(f"{text}<|im_end|>" for text in texts)
    for row in rows:  # longer than the window of 256, and a fair share of either kind
        cuda, neutral = count_tokens(row["output"])
        assert len(tokenizer(row["output"]).input_ids) > 700 and 0.15 < cuda / (cuda + neutral) < 0.6
    again = write_miniature(MiniatureSettings(output=tmp_path, **made | {"jobs": 2}))
    assert again == record and json.loads((tmp_path / "train.json").read_text()) == rows


def answers(split):
    for number, task in enumerate(split.train[:8]):
        rng = random.Random(number)
        yield answer(cuda_program(task, Style(rng)), rng), rng


def cuda_text(text):
    return [text[span.start : span.end] for span in find_spans(text) if span.kind in ("kernel_body", "launch_config")]


def neutral_code(text):
    """What is outside of the CUDA spans, without comments and blanks."""
    for part in cuda_text(text):
        text = text.replace(part, "@", 1)
    return "".join(re.sub(r"//[^\n]*|/\*.*?\*/", "", text).split())


def test_corruption_reaches_its_dose_where_it_should(split):
    for text, rng in answers(split):
        cuda, neutral = count_tokens(text)
        changed, share = corrupt_cuda(text, 0.08, rng)
        assert 0.08 <= share < 0.08 + 20 / cuda
        assert neutral_code(changed) == neutral_code(text) and cuda_text(changed) != cuda_text(text)
        changed, share = corrupt_neutral(text, 0.2, rng)
        assert 0.2 <= share < 0.2 + 30 / neutral
        assert (
            cuda_text(changed) == cuda_text(text) and neutral_code(changed) == neutral_code(text) and changed != text
        )
