"""Equivalent versions: the same tokens in another order, and the same values where a program can be run without a GPU."""

import json
import subprocess
from pathlib import Path

import pytest

from cuset_stage.cuda_source import tokens
from cuset_stage.mutants import EQUIVALENT, make_equivalents, make_mutants


ROOT = Path(__file__).parents[2]
KERNEL = """
__device__ int kernel(const int* a, int row, int col, int n, int m) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        if (row < n && col < m) sum += a[row * m + col] * i;
        if (i < n && a[i] < m) sum -= i;
        sum = sum - row + n + 1;
        int next = sum++;
        sum += next * 2;
    }
    return sum;
}
"""


def spelled(source):
    return [token.text for token in tokens(source)]


def test_an_equivalent_version_has_the_same_tokens_in_another_order():
    rows = map(json.loads, (ROOT / "data" / "cuset_mini.jsonl").read_text().splitlines())
    found = [(row["solution"], one) for row in list(rows)[::4] for one in make_equivalents(row["solution"], count=5)]
    assert len(found) > 40
    for source, one in found:
        assert one.operator == EQUIVALENT and len(one.source) == len(source)
        assert sorted(spelled(one.source)) == sorted(spelled(source))
        assert spelled(one.source) != spelled(source)


def test_what_is_rewritten_and_what_is_left_alone():
    changes = {one.description for one in make_equivalents(KERNEL, count=50)}
    assert changes == {
        "line 4: `++i` becomes `i++`",
        "line 5: `row < n && col < m` becomes `col < m && row < n`",
        "line 5: `sum += a[row * m + col] * i` becomes `sum += i * a[row * m + col]`",
        "line 5: `sum += a[row * m + col] * i` becomes `sum += a[col + row * m] * i`",
        "line 5: `sum += a[row * m + col] * i` becomes `sum += a[m * row + col] * i`",
        "line 9: `sum += next * 2` becomes `sum += 2 * next`",
    }  # not `i < n && a[i] < m`, which is a guard; not `x - row + n`, `n + 1`, nor an increment that is read


def test_the_same_arguments_give_the_same_versions():
    assert make_equivalents(KERNEL, count=3) == make_equivalents(KERNEL, count=3)
    assert len(make_equivalents(KERNEL, count=3)) == 3
    assert make_equivalents("no code", count=3) == []


@pytest.fixture(scope="module")
def value(tmp_path_factory):
    """What the function gives, compiled for the host."""
    folder = tmp_path_factory.mktemp("host")
    main = 'int main() { int a[64]; for (int i = 0; i < 64; ++i) a[i] = i * i % 7; std::printf("%d", kernel(a, 2, 3, 5, 6)); }'

    def run(source):
        (folder / "one.cpp").write_text(f"#include <cstdio>\n#define __device__\n{source}\n{main}\n")
        subprocess.run(["g++", str(folder / "one.cpp"), "-o", str(folder / "one")], check=True)
        return subprocess.run([folder / "one"], capture_output=True, check=True).stdout

    return run


def test_equivalent_versions_give_the_same_value_and_mutants_do_not(value):
    right = value(KERNEL)
    assert all(value(one.source) == right for one in make_equivalents(KERNEL, count=3))
    (mutant,) = [one for one in make_mutants(KERNEL) if one.operator == "wrong_initial_value"]
    assert value(mutant.source) != right
