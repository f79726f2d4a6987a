"""Probes: what a program could write without computing anything, and cases that do not see it."""

import numpy as np
import pytest

from cuset_stage.curate.probes import passing_probes
from cuset_stage.judge.oracle import PreparedCase
from cuset_stage.tasks import Case, ProgramTask, ReferenceOracle, Tensor


RNG = np.random.default_rng(7)


def probe(folder, *cases, tolerance=(1e-5, 1e-6)) -> list[str]:
    """The passing probes of a task whose cases have these (inputs, outputs), as files and a comparison of the judge's."""
    made, prepared = [], []
    for number, (inputs, outputs) in enumerate(cases):
        place = folder / str(number)
        place.mkdir()
        files, tensors = {}, {}
        for name, values in {**inputs, **outputs}.items():
            tensors[name] = Tensor(name, str(values.dtype), values.shape)
            files[name] = place / f"{name}.bin"
            values.tofile(files[name])
        made.append(Case(str(number), {}, *(tuple(tensors[name] for name in group) for group in (inputs, outputs))))
        found_in, expected = ({tensors[name].file: files[name] for name in group} for group in (inputs, outputs))
        sizes = {tensors[name].file: outputs[name].nbytes for name in outputs}
        prepared.append(
            PreparedCase(found_in, expected, place, sizes, {}, dict.fromkeys(outputs, tolerance), None, {})
        )
    task = ProgramTask("task", "task", "other", {}, None, tuple(made), ReferenceOracle(""), None, "here")
    return passing_probes(task, prepared)


def arrays(*sizes):
    """Cases of two inputs and what may be computed of them."""
    return [(RNG.normal(size=n).astype(np.float32), RNG.normal(size=n).astype(np.float32)) for n in sizes]


def test_what_is_computed_passes_no_probe(tmp_path):
    cases = [({"a": a, "b": b}, {"c": a + b, "total": np.array([a.sum()])}) for a, b in arrays(64, 3, 1000)]
    assert probe(tmp_path, *cases) == []


@pytest.mark.parametrize("which", ["a", "b"])
def test_a_copy_of_any_input_is_seen(tmp_path, which):
    cases = [({"a": a, "b": b}, {"c": {"a": a, "b": b}[which]}) for a, b in arrays(64, 3, 1000)]
    assert probe(tmp_path, *cases) == [f"c: {which} handed back"]


def test_two_outputs_that_are_copies_of_different_inputs_are_seen(tmp_path):
    cases = [({"a": a, "b": b}, {"c": b, "d": a}) for a, b in arrays(64, 3)]
    assert probe(tmp_path, *cases) == ["c: b handed back", "d: a handed back"]


def test_one_output_that_is_computed_is_enough(tmp_path):
    assert probe(tmp_path, *(({"a": a, "b": b}, {"c": b, "d": a * b}) for a, b in arrays(64, 3))) == []


def test_an_input_that_is_right_in_some_cases_only_is_no_copy(tmp_path):
    (a, b), (c, d) = arrays(64, 3)
    short = c[:1]  # of another size than the output: no program that copies it passes
    cases = [({"a": a, "b": b}, {"c": a}), ({"a": short, "b": d}, {"c": c + d})]
    assert probe(tmp_path, *cases) == []


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8", "bool", "complex64"])
@pytest.mark.parametrize(("value", "name"), [(0, "zeros"), (1, "ones")])
def test_zeros_and_ones_are_seen_in_every_type(tmp_path, dtype, value, name):
    cases = [({"a": a}, {"c": np.full(n, value, dtype)}) for n, (a, _) in ((n, *arrays(n)) for n in (5, 9))]
    [found] = probe(tmp_path, *cases, tolerance=(0.0, 0.0))
    assert found == f"c: {name} or the first right value everywhere"


def test_one_value_for_all_elements_is_seen_though_it_differs_from_case_to_case(tmp_path):
    cases = [({"a": a}, {"c": np.full(len(a), a[0])}) for a, _ in arrays(64, 3)]
    assert probe(tmp_path, *cases) == ["c: the first right value everywhere"]


def test_a_single_value_that_is_the_same_in_all_cases_is_seen(tmp_path):
    cases = [({"a": a}, {"flag": np.array([7], np.int32)}) for a, _ in arrays(64, 3, 5)]
    assert probe(tmp_path, *cases) == ["flag: one value in all cases, 7"]
    cases[2] = (cases[2][0], {"flag": np.array([8], np.int32)})
    (tmp_path / "other").mkdir()
    assert probe(tmp_path / "other", *cases, tolerance=(0.0, 0.0)) == []


def test_a_single_value_that_is_always_one_is_seen(tmp_path):
    cases = [({"a": a}, {"flag": np.array([1], np.int32)}) for a, _ in arrays(64, 3)]
    assert probe(tmp_path, *cases) == ["flag: ones or one value in all cases, 1"]


def test_a_value_within_the_tolerance_of_all_others_is_seen(tmp_path):
    values = (10.0, 10.9, 10.5)  # of these the last alone is near enough to both
    cases = [({"a": a}, {"y": np.array([v])}) for v, (a, _) in zip(values, arrays(4, 5, 6), strict=True)]
    assert probe(tmp_path, *cases, tolerance=(0.0, 0.6)) == ["y: one value in all cases, 10.5"]
