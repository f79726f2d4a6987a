"""Five sets of sizes: each of its kind, all different, also where little is allowed; and those that a model chose are held to it."""

import pytest

from cuset_stage.curate.input_spec import SpecError, harness_spec, parse_spec
from cuset_stage.curate.signature import Array, Call, Role, Scalar, Signature
from cuset_stage.curate.sizes import CASES, check_cases, differing, five_cases


def spec_of(**sizes):
    array = {"dtype": "float32", "shape": list(sizes)}
    return parse_spec({"sizes": sizes, "inputs": {"x": array}, "outputs": {"y": array}})


@pytest.mark.parametrize("most", [8, 64, 1000, 1024, 65536, 1 << 24])
def test_a_small_limit_does_not_make_all_cases_alike(most):
    cases = five_cases(spec_of(n={"max": most}))
    sizes = {case["name"]: case["parameters"]["n"] for case in cases}
    assert differing(cases) >= 4 and max(sizes.values()) == sizes["large"] <= most
    assert sizes["power_of_two"].bit_count() == 1 and sizes["odd"] % 2 == 1 and sizes["special"] % 2 == 1
    assert sizes["small"] < 32


def test_every_range_of_four_sizes_gives_four_cases_that_differ():
    for least in range(1, 20):
        for most in range(least + 3, least + 40):
            assert differing(five_cases(spec_of(n={"min": least, "max": most}))) >= 4, (least, most)
    assert differing(five_cases(spec_of(n={"min": 1, "max": 2}, m={"min": 1, "max": 2}))) == 4


@pytest.mark.parametrize("count", range(1, 10))
@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_ranges_that_nobody_limits_give_five_cases_that_differ(count, attempt):
    names = [f"n{index}" for index in range(count)]
    array = {"dtype": "float32", "shape": [" + ".join(names)]}
    spec = parse_spec({"sizes": {name: {} for name in names}, "inputs": {"x": array}, "outputs": {"y": array}})
    assert differing(five_cases(spec, attempt=attempt)) == 5


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ("n - k + 1", {"n": {"max": 32}, "k": {"min": 5, "max": 7}}),
        ("n - k + 1", {"n": {"max": 16}, "k": {"min": 3, "max": 5}}),
        ("n // 4", {"n": {"max": 16}}),
        ("n - 2", {"n": {"max": 8}}),
        ("n - k + 1", {"n": {"max": 5}, "k": {"max": 3}}),  # and not for the nearest that no case has
    ],
)
def test_shapes_that_work_out_for_some_sizes_only_have_cases(shape, sizes):
    inputs = {name: {"dtype": "float32", "shape": [name]} for name in sizes}
    spec = parse_spec({"sizes": sizes, "inputs": inputs, "outputs": {"y": {"dtype": "float32", "shape": [shape]}}})
    assert differing(five_cases(spec)) >= 4


@pytest.mark.parametrize("attempt", range(3))
def test_a_task_of_one_size_may_be_as_large_as_the_largest_case(attempt):
    def spec(rows):
        arrays = {name: {"dtype": "float32", "shape": [rows, 1024]} for name in "xy"}
        return parse_spec({"inputs": {"x": arrays["x"]}, "outputs": {"y": arrays["y"]}})

    assert [case["name"] for case in five_cases(spec(8192), attempt=attempt)] == list(CASES)  # 2 x 32 MiB
    with pytest.raises(SpecError, match=r"\(it has one size\) take 64\.1 MiB of files; a case may have 64 MiB"):
        five_cases(spec(8200), attempt=attempt)


def test_sizes_that_only_shapes_name_are_in_the_same_order_in_every_run():
    """A set of names has another order in every process."""
    names = [f"n{index}" for index in range(8)]
    array = Array("x", "float", "float32", 1, Role.INOUT)
    scalars = tuple(Scalar(name, "int", False) for name in names)
    signature = Signature("f", Call.KERNEL, "", ("x", *names), (array,), scalars)
    assert list(harness_spec(signature, None, {"x": " * ".join(names)}).sizes) == names


@pytest.mark.parametrize("limits", [1024, {"min": 5, "max": 7}, {"min": 100, "max": 300, "multiple_of": 128}])
def test_sizes_that_cannot_differ_are_refused_with_the_way_out(limits):
    with pytest.raises(SpecError, match=r"spec\.sizes: n from .* at least 4 .* wider range.*no `sizes`"):
        five_cases(spec_of(n=limits))


def test_a_task_of_one_size_declares_none():
    array = {"dtype": "float32", "shape": [1024]}
    cases = five_cases(parse_spec({"inputs": {"x": array}, "outputs": {"y": array}}))
    assert [case["parameters"] for case in cases] == [{}, {}, {}, {}, {"special": 1}]


def test_two_limited_sizes_of_one_case_differ():
    for case in five_cases(spec_of(rows={"max": 512}, cols={"max": 512, "multiple_of": 4})):
        assert case["parameters"]["rows"] != case["parameters"]["cols"] and case["parameters"]["cols"] % 4 == 0


GOOD = {"power_of_two": 1024, "odd": 1013, "small": 3, "large": 50000, "special": 502}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"power_of_two": 1000}, "power of two"),
        ({"odd": 1012}, "odd"),
        ({"small": 900}, "small"),
        ({"large": 500}, "large"),
        ({"odd": 1024, "special": 1024}, "at least four"),
    ],
)
def test_cases_that_a_model_chose_are_of_the_kind_they_are_named_after(changed, said):
    spec = spec_of(n={"max": 65536})
    given = [{"name": name, "parameters": {"n": size}} for name, size in {**GOOD, **changed}.items()]
    if said is None:
        assert [case["name"] for case in check_cases(spec, given)] == list(CASES)
        return
    with pytest.raises(SpecError, match=said):
        check_cases(spec, given)


def test_what_the_limits_forbid_is_not_asked_for():
    spec = spec_of(n={"min": 256, "max": 4096, "multiple_of": 256})
    given = zip(CASES, (1024, 768, 256, 4096, 512), strict=True)
    assert check_cases(spec, [{"name": name, "parameters": {"n": size}} for name, size in given])
