"""Sources that are read: identifiers, revisions, how a list ends, folders with nothing to read."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from curation_steps import lines, split, take_in

from cuset_stage.curate import readers
from cuset_stage.curate.adapt import task_identity
from cuset_stage.curate.readers import git_revision, guess_format
from cuset_stage.curate.rows import CurationError


KERNEL = "__global__ void f(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"


def read_in(work: Path, path: Path, **options):
    return take_in(work, path, name="src", columns="code=text", licence="MIT", **options)


def test_every_row_of_a_folder_of_shards_has_an_identifier_of_its_own(tmp_path):
    rows = "".join(json.dumps({"text": f"{KERNEL} // {i}"}) + "\n" for i in range(2))
    (tmp_path / "data" / "b").mkdir(parents=True)
    for name in ("a.jsonl", "b/a.jsonl"):
        (tmp_path / "data" / name).write_text(rows, encoding="utf-8")
    read_in(tmp_path / "folder", tmp_path / "data")
    ids = [row["id"] for row in lines(tmp_path / "folder" / "import" / "src" / "rows.jsonl")]
    assert ids == ["src:a.jsonl#000001", "src:a.jsonl#000002", "src:b/a.jsonl#000001", "src:b/a.jsonl#000002"]
    read_in(tmp_path / "file", tmp_path / "data" / "a.jsonl")
    ids = [row["id"] for row in lines(tmp_path / "file" / "import" / "src" / "rows.jsonl")]
    assert ids == ["src:000001", "src:000002"]


@pytest.mark.parametrize("ends", ["", ",\n", ', {"te', ', {"text": "]', '] {"text": 1}', "]" + " " * 5000 + "[1]"])
def test_a_json_list_that_does_not_end_as_it_should_is_not_read_by_halves(tmp_path, ends):
    path = tmp_path / "rows.json"
    rows = ", ".join(json.dumps({"text": f"{KERNEL} // {i}"}) for i in range(2))
    path.write_text(f"[{rows}{ends}", encoding="utf-8")
    summary = read_in(tmp_path / "work", path)
    assert (summary.kept, summary.reasons) == (0, {"not_json": 1})
    (dropped,) = lines(tmp_path / "work" / "import" / "src" / "dropped.jsonl")
    assert "(char " in dropped["detail"] and "nothing of it is read" in dropped["detail"]
    path.write_text(f"[{rows}]\n", encoding="utf-8")
    assert read_in(tmp_path / "work", path).kept == 2
    path.write_text("[]\n", encoding="utf-8")
    assert read_in(tmp_path / "work", path).read == 0


@pytest.mark.parametrize("kind", [None, "tree", "tasks"])
def test_a_folder_in_which_nothing_can_be_read_is_an_error_that_says_what_is_there(tmp_path, kind):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(CurationError, match=r"nothing in this folder can be read.*1 \.jsonl\.gz.*Unpack"):
        read_in(tmp_path / "work", tmp_path / "data", format=kind)
    assert guess_format(tmp_path / "data") == "tree"


def test_the_revision_is_that_of_what_is_read_and_not_of_a_repository_around_it(tmp_path):
    def git(*command: str) -> str:
        given = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *command]
        return subprocess.run(given, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    (tmp_path / ".gitignore").write_text("ignored.jsonl\n")
    for name in ("in.jsonl", "other", "kernels/a.cu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    first = git("rev-parse", "HEAD")
    for name in ("ignored.jsonl", "untracked.jsonl"):
        (tmp_path / name).write_text("{}\n")
        assert git_revision(tmp_path / name) is None
    (tmp_path / "other").write_text("changed\n")
    git("commit", "-qam", "second")
    assert git_revision(tmp_path / "in.jsonl") == git_revision(tmp_path / "kernels") == first
    (tmp_path / "kernels" / "b.cu").write_text("")
    (tmp_path / "in.jsonl").write_text("edited\n")
    assert git_revision(tmp_path / "in.jsonl") is None and git_revision(tmp_path / "kernels") is None


def test_local_headers_of_a_tree_come_with_the_file_that_includes_them(tmp_path):
    (tmp_path / "tree" / "include").mkdir(parents=True)
    (tmp_path / "secret.h").write_text("int secret;\n")
    (tmp_path / "tree" / "include" / "ops.h").write_text(
        '#pragma once\n#include "ops.h"\n__device__ int two() { return 2; }\n'
    )
    code = '#include <cstdio>\n#include "ops.h"\n#include "../secret.h"\n#include "gone.h"\n__global__ void k(int* y) { *y = two(); }\n'
    (tmp_path / "tree" / "k.cu").write_text(code)
    take_in(tmp_path / "work", tmp_path / "tree", licence="MIT")
    split(tmp_path / "work")
    (row,) = lines(tmp_path / "work" / "split" / "rows.jsonl")
    assert row["code"].count("int two()") == 1 and "secret;" not in row["code"] and '#include "gone.h"' in row["code"]


@pytest.mark.parametrize("kind", ["tree", "tasks"])
def test_links_in_a_clone_are_not_followed(tmp_path, kind):
    """They lead to any file of this machine, and what is read stands in the data."""
    (tmp_path / "secret.json").write_text('{"prompt": "secret"}')
    task = tmp_path / "clone" / "task"
    task.mkdir(parents=True)
    written = {
        "tree": {"k.cu": "__global__ void k() {}"},
        "tasks": {"task.json": "{}", "prompt.md": "Add.", "reference.py": "x"},
    }
    for name, text in written[kind].items():
        (task / name).write_text(text)
    for name in ("k.json", "k.ref.py", "linked.cu") if kind == "tree" else ("intro.md", "kernel.cu"):
        (task / name).symlink_to(tmp_path / "secret.json")
    (tmp_path / "clone" / "linked").symlink_to(task)
    read = list(readers.read(tmp_path / "clone", kind))
    assert len(read) == 1 and "problem" not in read[0] and "secret" not in str(read)


def test_no_identifier_of_a_task_begins_with_a_dash():
    assert task_identity({"id": "source:" + "x" * 5 + "-" + "a" * 79})[0] == "a"
