"""Bad input costs the rows it is in: each is counted, named by its number and kept, and the rest goes on."""

import json
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curation_steps import lines, put, take_in

from cuset_stage.curate.rows import CurationError
from cuset_stage.curate.stage import run_stage


KERNEL = "__global__ void f(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"

TENSOR = {"name": "x", "dtype": "float32", "shape": [4]}
TASK = {"prompt": "Copy x.", "inputs": [TENSOR], "outputs": [{**TENSOR, "name": "y"}], "reference": "pass"}


def read_in(work: Path, path: Path, columns: str = "code=text", **options):
    return take_in(work, path, name="bad", columns=columns, licence="MIT", **options)


def test_broken_lines_are_named_and_kept(tmp_path):
    good = json.dumps({"text": KERNEL}).encode()
    rows = [good, b'{"text": "\xff\xfe"}', good[:-9], b"[1, 2]", b'{"text": 5}', b'{"other": "x"}', b"", good]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(rows))  # a byte order mark costs nothing
    summary = read_in(tmp_path / "work", path)
    assert (summary.read, summary.kept, summary.dropped) == (7, 2, 5)
    dropped = {each["row"]: each for each in lines(tmp_path / "work" / "import" / "bad" / "dropped.jsonl")}
    reasons = [dropped[number]["reason"] for number in range(2, 7)]
    assert reasons == ["not_utf8", "not_json", "not_an_object", "wrong_type", "missing_column"]
    assert "column 'text': code is 5; expected text" in dropped[5]["detail"]
    assert dropped[2]["data"]["text"].encode(errors="surrogateescape") == rows[1]  # nothing is lost
    assert dropped[5]["data"] == {"text": 5}
    kept = lines(tmp_path / "work" / "import" / "bad" / "rows.jsonl")
    assert [row["source"]["row"] for row in kept] == [1, 8] and kept[0]["source"]["licence"] == "MIT"


def test_an_arrow_stream_that_breaks_off_is_read_up_to_there(tmp_path):
    path = tmp_path / "rows.arrow"
    batches = pa.table({"text": [KERNEL] * 50}).to_batches(max_chunksize=10)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    summary = read_in(tmp_path / "work", path)
    assert 0 < summary.kept < 50 and summary.reasons == {"unreadable_file": 1}


def test_a_sign_of_windows_1252_in_a_comment_costs_no_source_and_other_encodings_do(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "sign.cu").write_bytes(b"// \xa9 2013\r\n" + KERNEL.encode())
    (tree / "other.cu").write_bytes("// \u6838\u51fd\u6570\n".encode("gbk") + KERNEL.encode())
    assert take_in(tmp_path / "work", tree, licence="MIT").reasons == {"not_utf8": 1}
    (row,) = lines(tmp_path / "work" / "import" / "tree" / "rows.jsonl")
    assert row["code"] == f"// \u00a9 2013\n{KERNEL}"
    (dropped,) = lines(tmp_path / "work" / "import" / "tree" / "dropped.jsonl")
    assert dropped["file"] == "other.cu" and "iconv" in dropped["detail"]


def test_a_row_group_is_not_held_in_memory(tmp_path):
    """In a process of its own: Arrow's memory is not Python's, and its highest mark stays."""
    code = "".join(random.Random(0).choices("abcdefgh", k=15_000))
    path = tmp_path / "rows.parquet"
    table = pa.table({"text": [f"{code}{i}" for i in range(4_000)]})
    pq.write_table(table, path, row_group_size=4_000, compression="none", use_dictionary=False)
    assert path.stat().st_size > 55 << 20
    script = (
        "import pathlib, sys, pyarrow as arrow; from cuset_stage.curate.readers import read_columns\n"
        "assert sum('problem' not in row for row in read_columns(pathlib.Path(sys.argv[1]), 'rows')) == 4000\n"
        "print(arrow.default_memory_pool().max_memory())"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 40 << 20


def test_a_defect_of_ours_is_tried_again(tmp_path):
    path = put(tmp_path / "rows.jsonl", [{"text": KERNEL}])
    read_in(tmp_path / "work", path)

    def fails(row):
        raise ZeroDivisionError("ours")

    given = lines(tmp_path / "work" / "import" / "bad" / "rows.jsonl")
    summary = run_stage(tmp_path / "next", "next", given, fails, settings={})
    assert summary.unsettled == 1 and "ZeroDivisionError: ours" in summary.unsettled_rows[0]["detail"]
    summary = run_stage(tmp_path / "next", "next", given, lambda row: [row], settings={})
    assert (summary.kept, summary.unsettled) == (1, 0)


def test_a_folder_of_shards_is_one_source_and_a_broken_one_costs_itself(tmp_path):
    folder = tmp_path / "hub" / "data"
    folder.mkdir(parents=True)
    (folder.parent / "dataset_info.json").write_text("{}")
    (folder.parent / ".cache").mkdir()
    for number in range(3):
        table = pa.table({"text": [f"{KERNEL} // {number} {i}" for i in range(4)]})
        pq.write_table(table, folder / f"train-0000{number}-of-00003.parquet")
    pq.write_table(table, folder.parent / ".cache" / "left.parquet")
    broken = folder / "train-00001-of-00003.parquet"
    broken.write_bytes(broken.read_bytes()[:100])
    summary = read_in(tmp_path / "work", folder.parent)
    assert (summary.read, summary.kept, summary.reasons) == (9, 8, {"unreadable_file": 1})
    kept = lines(tmp_path / "work" / "import" / "bad" / "rows.jsonl")
    places = {(row["source"]["file"], row["source"]["row"]) for row in kept}
    assert places == {(f"data/train-0000{n}-of-00003.parquet", row) for n in (0, 2) for row in (1, 2, 3, 4)}
    (dropped,) = lines(tmp_path / "work" / "import" / "bad" / "dropped.jsonl")
    assert dropped["file"] == "data/train-00001-of-00003.parquet"


def test_a_format_that_does_not_fit_the_path_is_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text("{}\n")
    with pytest.raises(CurationError, match=r"does not fit a file: expected jsonl"):
        read_in(tmp_path / "work", tmp_path / "rows.jsonl", format="tree")
    with pytest.raises(CurationError, match=r"does not fit a folder: expected tree"):
        read_in(tmp_path / "work", tmp_path, format="json")
    with pytest.raises(CurationError, match=r"expected \.arrow.*1 \.jsonl"):
        read_in(tmp_path / "work", tmp_path, format="arrow")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_decimals_are_numbers(tmp_path, kind):
    speeds = [Decimal("1.25"), Decimal("3.00"), None]
    table = pa.table(
        {"text": [f"{KERNEL} // {i}" for i in range(3)], "speedup": speeds, "id": [Decimal(7), None, Decimal(9)]}
    )
    path = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    assert read_in(tmp_path / "work", path, "code=text,speedup=speedup,key=id").kept == 3
    rows = lines(tmp_path / "work" / "import" / "bad" / "rows.jsonl")
    assert [row.get("speedup") for row in rows] == [1.25, 3, None]
    assert [row["source"]["key"] for row in rows] == [7, None, 9]
