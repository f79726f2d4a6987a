"""Specifications of the wrong types, which are JSON all the same: always a SpecError, never an error of ours."""

import copy

import pytest

from cuset_stage.curate.input_spec import SpecError, harness_spec, parse_spec
from cuset_stage.curate.reference import numpy_reference
from cuset_stage.curate.signature import Array, Call, Role, Scalar, Signature
from cuset_stage.curate.sizes import CASES, check_cases, five_cases


SIGNATURE = Signature(
    "scale",
    Call.KERNEL,
    "",
    ("x", "y", "factor", "n"),
    (Array("x", "float", "float32", 1, Role.INPUT), Array("y", "float", "float32", 2, Role.OUTPUT)),
    (Scalar("factor", "float", True), Scalar("n", "int", False)),
)
SPEC = {
    "sizes": {"n": {"min": 1, "max": 65536, "multiple_of": 1}},
    "inputs": {"x": {"dtype": "float32", "shape": ["n"], "values": {"kind": "uniform", "low": 0.0, "high": "n"}}},
    "outputs": {"y": {"dtype": "float32", "shape": ["n"], "tolerance": [1e-5, 1e-6]}},
    "scalars": {"factor": 0.25},
}
OF_WRONG_TYPES = [
    None,
    True,
    0,
    5,
    -1,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "float32",
    "n n",
    "n / 2",
    "9" * 300,
    "\ud800",
    [],
    [1],
    [[]],
    ["n", {}],
    [None, None],
    {},
    {"x": 5},
    {"kind": ["normal"]},
    {"y": {"shape": "n n"}},
    {"n": []},
]


def places(value, path=()):
    """The path of every value in `value`, its own included."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        yield from places(each, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    whole = copy.deepcopy(value)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return whole


@pytest.mark.parametrize("path", list(places(SPEC)), ids=lambda path: ".".join(map(str, path)) or "spec")
def test_any_json_in_any_place_of_a_specification_is_taken_or_is_a_spec_error(path):
    for wrong in OF_WRONG_TYPES:
        given = replaced(SPEC, path, wrong)
        for read in (parse_spec, lambda value: harness_spec(SIGNATURE, value, None)):
            try:
                spec = read(given)
                five_cases(spec)
            except SpecError as error:
                assert len(str(error)) < 600
            else:
                compile(numpy_reference(spec, ""), "reference.py", "exec")


@pytest.mark.parametrize(
    ("path", "wrong", "said"),
    [
        (("inputs", "x"), 5, "spec.inputs.x: an object"),
        (("inputs", "x"), [1], "spec.inputs.x: an object"),
        (("outputs", "y"), "float32", "spec.outputs.y: an object"),
        (("inputs", "x", "values"), {"kind": ["normal"]}, "values.kind="),
        (("inputs", "x", "shape"), ["n n"], "not an expression"),
        (("inputs", "x", "shape"), [1.5], "a list of whole numbers"),
        (("sizes", "n", "max"), 10**400, "sizes.n.max="),
    ],
)
def test_the_message_names_the_key(path, wrong, said):
    with pytest.raises(SpecError, match=said):
        harness_spec(SIGNATURE, replaced(SPEC, path, wrong), None)


def test_a_data_type_that_is_a_list_is_named():
    with pytest.raises(SpecError, match=r"inputs\.x\.dtype=\['float32'\]: one of bool"):
        parse_spec(replaced(SPEC, ("inputs", "x", "dtype"), ["float32"]))


@pytest.mark.parametrize("name", [["odd"], {"odd": 1}, None, 5])
def test_a_case_name_of_any_type_is_a_spec_error(name):
    given = [{"name": name if each == "odd" else each, "parameters": {"n": 7}} for each in CASES]
    with pytest.raises(SpecError, match="their names are"):
        check_cases(parse_spec(SPEC), given)
