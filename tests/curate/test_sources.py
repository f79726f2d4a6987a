"""Sources that are read: identifiers, revisions, broken rows, which cost themselves alone, and folders with nothing to read."""

import gzip
import json
import subprocess
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curation_steps import lines, put, split, take_in
from curation_tree import KERNEL

from cuset_stage.curate import readers
from cuset_stage.curate.adapt import task_identity
from cuset_stage.curate.readers import git_revision, guess_format
from cuset_stage.curate.rows import CurationError


def read_in(work: Path, path: Path, columns: str = "code=text", **options):
    return take_in(work, path, name="src", columns=columns, licence="MIT", **options)


def kept(work: Path) -> list[dict]:
    return lines(work / "import" / "src" / "rows.jsonl")


def dropped(work: Path) -> list[dict]:
    return lines(work / "import" / "src" / "dropped.jsonl")


def test_broken_lines_are_named_and_kept(tmp_path):
    good = json.dumps({"text": KERNEL}).encode()
    rows = [good, b'{"text": "\xff\xfe"}', good[:-9], b"[1, 2]", b'{"text": 5}', b'{"other": "x"}', b"", good]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(rows))  # a byte order mark costs nothing
    summary = read_in(tmp_path, path)
    assert (summary.read, summary.kept, summary.dropped) == (7, 2, 5)
    broken = {each["row"]: each for each in dropped(tmp_path)}
    reasons = [broken[number]["reason"] for number in range(2, 7)]
    assert reasons == ["not_utf8", "not_json", "not_an_object", "wrong_type", "missing_column"]
    assert broken[3]["detail"].endswith("; expected a JSON object a line, in UTF-8")
    assert "column 'text': code is 5; expected text" in broken[5]["detail"] and broken[5]["data"] == {"text": 5}
    assert broken[2]["data"]["text"].encode(errors="surrogateescape") == rows[1]  # nothing is lost
    found = [(row["id"], row["source"]["licence"]) for row in kept(tmp_path)]
    assert found == [("src:000001", "MIT"), ("src:000008", "MIT")]


def test_half_a_character_in_any_key_of_a_task_drops_it(tmp_path):
    path = put(tmp_path / "tasks.jsonl", [{"id": "a", "prompt": "p", "reference": "r", "system": "\ud800"}])
    assert take_in(tmp_path, path, preset="cuset", licence="MIT").reasons == {"not_utf8": 1}


@pytest.mark.parametrize("ends", ["", ",\n", ', {"te', ', {"text": "]', '] {"text": 1}', "]" + " " * 5000 + "[1]"])
def test_a_json_list_that_does_not_end_as_it_should_is_not_read_by_halves(tmp_path, ends):
    path = tmp_path / "rows.json"
    rows = ", ".join(json.dumps({"text": f"{KERNEL} // {i}"}) for i in range(2))
    path.write_text(f"[{rows}{ends}", encoding="utf-8")
    summary = read_in(tmp_path, path)
    assert (summary.kept, summary.reasons) == (0, {"not_json": 1})
    assert "(char " in dropped(tmp_path)[0]["detail"] and "nothing of it is read" in dropped(tmp_path)[0]["detail"]
    path.write_text(f"[{rows}]\n", encoding="utf-8")
    assert read_in(tmp_path, path).kept == 2


def test_a_folder_of_shards_is_one_source_and_a_broken_one_costs_itself(tmp_path):
    folder = tmp_path / "hub" / "data"
    folder.mkdir(parents=True)
    (tmp_path / "hub" / ".cache").mkdir()
    (tmp_path / "hub" / "dataset_info.json").write_text("{}")
    table = pa.table({"text": [f"{KERNEL} // {i}" for i in range(4)]})
    for path in (*(folder / f"{shard}.parquet" for shard in (1, 2, 3)), tmp_path / "hub" / ".cache" / "left.parquet"):
        pq.write_table(table, path)
    (folder / "2.parquet").write_bytes((folder / "2.parquet").read_bytes()[:100])
    summary = read_in(tmp_path, tmp_path / "hub")
    assert (summary.read, summary.kept, summary.reasons) == (9, 8, {"unreadable_file": 1})
    ids = [f"src:data/{shard}.parquet#00000{row}" for shard in (1, 3) for row in (1, 2, 3, 4)]
    assert [row["id"] for row in kept(tmp_path)] == ids and dropped(tmp_path)[0]["file"] == "data/2.parquet"


def test_a_curation_in_its_source_does_not_read_itself(tmp_path):
    put(tmp_path / "rows.jsonl", [{"text": KERNEL}])
    for _ in range(2):
        assert read_in(tmp_path / "work", tmp_path).kept == 1
    with pytest.raises(CurationError, match="the curation would write into its source; give the curation another"):
        read_in(tmp_path, tmp_path)


def test_an_arrow_stream_is_read_with_its_decimals_up_to_where_it_breaks_off(tmp_path):
    columns = {"text": [KERNEL] * 50, "speedup": [Decimal("1.25"), None] * 25, "id": [Decimal(7), Decimal(8)] * 25}
    path, table = tmp_path / "rows.arrow", pa.table(columns)
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=10)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    summary = read_in(tmp_path, path, "code=text,speedup=speedup,key=id")
    assert 0 < summary.kept < 50 and summary.reasons == {"unreadable_file": 1}
    assert [(row.get("speedup"), row["source"]["key"]) for row in kept(tmp_path)[:2]] == [(1.25, 7), (None, 8)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([0, 1 << 62, 0], pa.timestamp("us")),
        pa.array([b"a", b"\xff", b"c"]).view(pa.string()).cast(pa.string()),
    ],
)
def test_a_value_that_python_cannot_hold_costs_its_row_alone(tmp_path, values):
    pq.write_table(pa.table({"text": [KERNEL] * 3, "other": values}), tmp_path / "rows.parquet")
    summary = read_in(tmp_path, tmp_path / "rows.parquet")
    assert (summary.kept, summary.reasons) == (2, {"unreadable_value": 1})
    assert dropped(tmp_path)[0]["row"] == 2 and "column 'other' cannot be read" in dropped(tmp_path)[0]["detail"]


def test_a_sign_of_windows_1252_in_a_comment_costs_no_source_and_other_encodings_do(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "sign.cu").write_bytes(b"// \xa9 2013\r\n" + KERNEL.encode())
    (tree / "other.cu").write_bytes("// \u6838\u51fd\u6570\n".encode("gbk") + KERNEL.encode())
    assert read_in(tmp_path, tree, "").reasons == {"not_utf8": 1}
    assert [row["code"] for row in kept(tmp_path)] == [f"// \u00a9 2013\n{KERNEL}"]
    assert dropped(tmp_path)[0]["file"] == "other.cu" and "iconv" in dropped(tmp_path)[0]["detail"]


def test_a_format_that_does_not_fit_the_path_and_a_folder_without_rows_are_refused(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    (tmp_path / "rows.jsonl").write_text("{}\n")
    assert guess_format(tmp_path / "data") == "tree"
    nothing = r"nothing in this folder can be read.*1 \.jsonl\.gz.*Unpack"
    for name, kind, said in (
        ("rows.jsonl", "tree", r"does not fit a file: expected jsonl"),
        ("data", "json", r"does not fit a folder: expected tree"),
        *(("data", kind, nothing) for kind in (None, "tree", "tasks", "arrow")),
    ):
        with pytest.raises(CurationError, match=said):
            read_in(tmp_path / "work", tmp_path / name, format=kind)


def test_the_revision_is_that_of_what_is_read_and_not_of_a_repository_around_it(tmp_path):
    def git(*command: str) -> str:
        given = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *command]
        return subprocess.run(given, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    for name in ("in.jsonl", "other", "kernels/a.cu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    first = git("rev-parse", "HEAD")
    (tmp_path / "other").write_text("changed\n")
    git("commit", "-qam", "second")
    assert git_revision(tmp_path / "in.jsonl") == git_revision(tmp_path / "kernels") == first
    for name in ("untracked.jsonl", "kernels/b.cu", "in.jsonl"):
        (tmp_path / name).write_text("edited\n")
    assert not any(git_revision(tmp_path / name) for name in ("untracked.jsonl", "kernels", "in.jsonl"))


def test_local_headers_of_a_tree_come_with_the_file_that_includes_them(tmp_path):
    (tmp_path / "tree" / "include").mkdir(parents=True)
    (tmp_path / "secret.h").write_text("int secret;\n")
    header = '#pragma once\n#include "ops.h"\n__device__ int two() { return 2; }\n'
    (tmp_path / "tree" / "include" / "ops.h").write_text(header)
    (tmp_path / "tree" / "k.json").write_text("[1, 2]")  # whatever stands beside a program says nothing of it
    code = '#include <cstdio>\n#include "ops.h"\n#include "../secret.h"\n#include "gone.h"\n__global__ void k(int* y) { *y = two(); }\n'
    (tmp_path / "tree" / "k.cu").write_text(code)
    take_in(tmp_path / "work", tmp_path / "tree", licence="MIT")
    split(tmp_path / "work")
    (row,) = lines(tmp_path / "work" / "split" / "rows.jsonl")
    assert row["code"].count("int two()") == 1 and "secret;" not in row["code"] and '#include "gone.h"' in row["code"]


TREE = {"k.cu": '#include "k.h"\n__global__ void k() {}'}
TASK = {"task.json": "{}", "prompt.md": "\ufeffAdd.", "reference.py": "x"}


@pytest.mark.parametrize(
    ("kind", "files", "links", "problem"),
    [
        ("tree", TREE, ("k.h", "linked.cu"), "'utf-8' codec"),
        ("tasks", TASK, ("intro.md", "kernel.cu"), "{}: cannot be read: 'utf-8' codec"),
    ],
)
def test_links_in_a_clone_are_not_followed(tmp_path, kind, files, links, problem):
    """They lead to any file of this machine, and what is read stands in the data."""
    (tmp_path / "secret.json").write_text('{"prompt": "secret"}')
    task = tmp_path / "clone" / "task"
    task.mkdir(parents=True)
    for name, text in files.items():
        (task / name).write_text(text)
    for name in links:
        (task / name).symlink_to(tmp_path / "secret.json")
    (tmp_path / "clone" / "linked").symlink_to(task)
    read = list(readers.read(tmp_path / "clone", kind))
    assert len(read) == 1 and "problem" not in read[0] and "secret" not in str(read)
    assert r"\ufeff" not in str(read)  # the byte-order mark that Windows writes is no text
    broken = task / links[0]
    broken.unlink()
    broken.write_bytes(b"\xff")
    (row,) = readers.read(tmp_path / "clone", kind)
    assert row["problem"][1].startswith(problem.format(broken))


def test_no_identifier_of_a_task_begins_with_a_dash():
    assert task_identity({"id": "source:" + "x" * 5 + "-" + "a" * 79})[0] == "a"
