"""Pretraining learns, reads all of its corpus, and stops where it is told."""

import numpy as np
import pytest

from cuset_stage.miniature.corpus import write_shard
from cuset_stage.miniature.model import corpus_ids, encode_shard, make_tokenizer
from cuset_stage.miniature.settings import PretrainSettings
from cuset_stage.miniature.space import split_tasks
from cuset_stage.settings import SettingsError


TINY = {"hidden_size": 32, "layers": 1, "heads": 2, "intermediate_size": 64, "length": 128, "rows": 4}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("miniature")
    write_shard(folder / "corpus" / "00000.jsonl", split_tasks(0), 0, characters=120_000)
    texts = (folder / "corpus" / "00000.jsonl").read_text().splitlines()
    make_tokenizer(texts, 512).save_pretrained(folder / "tokenizer")
    encode_shard(folder / "corpus" / "00000.jsonl", folder / "tokenizer" / "tokenizer.json")
    return folder


def test_it_learns_and_the_model_loads(data, tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from cuset_stage.miniature.pretrain import pretrain

    output = tmp_path / "base"
    record = pretrain(PretrainSettings(data=data, output=output, tokens=60 * 4 * 128, learning_rate=1e-2, **TINY))
    assert record["tokens"] == 60 * 4 * 128
    assert record["log"][-1]["loss"] < record["log"][0]["loss"] - 1
    model, tokenizer = AutoModelForCausalLM.from_pretrained(output), AutoTokenizer.from_pretrained(output)
    ids = tokenizer("__global__ void combine(const float* x", return_tensors="pt").input_ids
    assert model(ids, labels=ids).loss.item() < record["log"][0]["loss"] - 1


def test_rows_begin_with_documents_and_come_once_before_any_twice():
    from cuset_stage.miniature.pretrain import batches

    end, lengths = 0, [3, 9, 4, 6, 8, 5, 7, 3, 6, 9, 4, 20]
    ids = np.concatenate([[*range(100 * n + 1, 100 * n + m), end] for n, m in enumerate(lengths)]).astype(np.uint16)
    stream = batches(ids, end, rows=3, length=8, seed=0)
    epochs = [[next(stream) for _ in range(3)] for _ in range(2)]
    firsts = [sorted(row[0].item() for batch in epoch for row in batch) for epoch in epochs]
    assert all(first % 100 == 1 for first in firsts[0]) and len(set(firsts[0])) == 9
    assert [batch.tolist() for batch in epochs[0]] != [batch.tolist() for batch in epochs[1]]
    text = " ".join(map(str, ids.tolist()))
    assert all(" ".join(map(str, row.tolist())) in text for batch in epochs[0] for row in batch)


def test_what_is_missing_is_named(data, tmp_path):
    from cuset_stage.miniature.pretrain import batches

    with pytest.raises(SettingsError, match="no shard in it; run `cuset miniature data"):
        corpus_ids(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "00000.jsonl").touch()
    with pytest.raises(SettingsError, match=r"00000.npy is missing; run `cuset miniature data"):
        corpus_ids(tmp_path)
    with pytest.raises(SettingsError, match="make more shards"):
        next(batches(np.ones(20, dtype=np.uint16), end=0, rows=2, length=8, seed=0))
