"""Names differ between the rows of a program, and each row is the author's program with other names and nothing else."""

import json
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import build_data
import pytest
import row_names

from cuset_stage import bundled


ROOT = Path(__file__).parents[2]


FILES = {"simple": "simple.cu", "kernel": "kernel.cu", "given": "given.cu"}
KEPT = re.compile(r'"(?:\\.|[^"\\\n])*"|#include[^\n]*|(?:(?<=[\w)\]])\.|->|::)[A-Za-z_]\w*')


@pytest.fixture(scope="module")
def rows():
    """Each training row with its operation, the helpers handed out, the author's program, the row's, and what differs."""
    operations, found = {}, []
    for row in json.loads((bundled.data() / "cuset_kernels.json").read_text(encoding="utf-8")):
        name = row["name"][:-2]
        operation = operations.setdefault(name, build_data.Operation(build_data.DATA / "operations" / name))
        author, given = operation.answer(FILES[row["wording"]], build_data.CASES.index(row["name"][-1]))
        program = row["output"].removeprefix("```cpp\n").removesuffix("\n```")
        code = given["code"].strip() if given else ""
        found.append((row, operation, code, author, program, changes(author, program)))
    return found


def changes(author: str, program: str) -> dict[str, str]:
    """New name -> the author's, of two programs that have the same words but for names, and the same text between them."""
    (old, new) = (re.split(r"(\w+)", text) for text in (author, program))
    assert len(old) == len(new) and old[::2] == new[::2]
    return {there: here for here, there in set(zip(old[1::2], new[1::2], strict=True)) if here != there}


def test_every_renaming_can_be_taken_back_and_leaves_what_is_not_the_program_s_own(rows):
    counts = []
    for row, operation, given, author, program, names in rows:
        asked, label = row["system"] + row["instruction"], (row["name"], row["wording"])
        counts.append(len(names))
        assert program.startswith(given), label
        if program == author:
            continue
        assert not names.keys() & set(re.findall(r"\w+", author + asked)), label
        assert len(set(names.values())) == len(names), label
        assert "".join(names.get(word, word) for word in re.split(r"(\w+)", program)) == author, label
        assert KEPT.findall(program) == KEPT.findall(author), label
        kept = {word for word in re.findall(r"\w+", asked) if row_names.is_code(word)} | set(re.findall(r"\w+", given))
        kept |= {tensor["name"] for tensor in operation.inputs + operation.outputs}
        assert not kept & set(names.values()), label
        if re.search(r"\bh_", asked):
            assert not [name for name in names.values() if re.match("[hd]_", name)], label
    assert sum(counts) / len(counts) > 7


def test_the_rows_of_a_program_differ_in_their_names_and_one_has_its_author_s(rows):
    of_program = defaultdict(list)
    for row, operation, *_, names in rows:
        of_program[operation.name, row["wording"]].append(names)
    for label, several in of_program.items():
        assert len(several) > 1 and several.count({}) == 1, label
        assert all(one != other for one, other in pairwise(sorted(several, key=str))), label


def test_only_names_are_renamed():
    program = '#include "n.h"\nint n = 1\'000, nn; // n or n_max or `n`\nf("n", \'n\', 0xn, n_max); /* N */'
    names = {"n": "count", "n_max": "limit", "N": "TOTAL"}
    assert row_names.renamed(program, names) == (
        '#include "n.h"\nint count = 1\'000, nn; // n or limit or `n`\nf("n", \'n\', 0xn, limit); /* TOTAL */'
    )
    assert row_names.cased("kOutH", "upper") == row_names.cased("outH", "upper") == "OUT_H"
    assert [row_names.cased("OUT_H", style) for style in ("snake", "camel", "k")] == ["out_h", "outH", "kOutH"]
