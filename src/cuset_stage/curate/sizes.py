"""Five sets of sizes for a specification, so that a program that is right for one kind of size only is found out.

power_of_two, odd (no multiple of anything), small (less than a block), large, special (odd sizes, and values that trip: zeros of
both signs, ties, the largest and the smallest). Sizes of one case differ from each other, which shows swapped dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .input_spec import SizeRange, Spec, SpecError


CASES = ("power_of_two", "odd", "small", "large", "special")
MIB = 1 << 20
BLOCK = 128  # threads; hardly a launch has fewer
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


@dataclass(frozen=True)
class Budget:
    """How large a case may be: bytes of all its files, and the product of its sizes, which is what a reference loops over."""

    bytes: int
    product: int


# The second and third are for references that take too long: not every kernel's work is linear in its sizes.
BUDGETS = (
    {"usual": Budget(2 * MIB, 1 << 22), "large": Budget(64 * MIB, 1 << 25)},
    {"usual": Budget(1 * MIB, 1 << 16), "large": Budget(4 * MIB, 1 << 20)},
    {"usual": Budget(1 * MIB, 1 << 12), "large": Budget(1 * MIB, 1 << 14)},
)
LARGEST_BYTES = BUDGETS[0]["large"].bytes  # of any case

_LEAST_DIFFERING = 4  # of the five sets of sizes

# How much of the largest size that is allowed a case takes at most: where that is little, all of them would be cut to it.
_SHARES = {"power_of_two": 0.5, "odd": 0.83, "large": 1.0, "special": 0.61}


def five_cases(spec: Spec, *, attempt: int = 0) -> list[dict[str, object]]:
    """`[{"name": ..., "parameters": {...}}, ...]` for a specification.

    A specification without sizes has the same shapes in all five, and other values.

    Args:
        attempt: which of BUDGETS, from the largest.

    Raises:
        SpecError: even the smallest sizes are too large, a shape does not work out, or the ranges leave fewer than four sets of sizes.
    """
    cases: list[dict[str, object]] = []
    taken: list[dict[str, int]] = []
    for name in CASES:
        budget = BUDGETS[attempt]["large" if name == "large" else "usual"]
        if name == "special":  # odd sizes as well, and not those of the case `odd`
            budget = Budget(budget.bytes // 4, budget.product // 2)
        sizes = _apart(spec, _fit(spec, name, budget), taken, BUDGETS[attempt]["large"].bytes)
        taken.append(sizes)
        special = {"special": 1} if name == "special" else {}
        cases.append({"name": name, "parameters": {**sizes, **special}})
    if spec.sizes and differing(cases) < _LEAST_DIFFERING:
        ranges = ", ".join(f"{each} from {limits.least} to {limits.most}" for each, limits in spec.sizes.items())
        raise SpecError(
            f"spec.sizes: {ranges[:100]} gives the five cases {differing(cases)} different sets of sizes, and at least {_LEAST_DIFFERING} are "
            'needed: give a wider range, such as {"min": 1, "max": 65536}. A task of one size has it in its shapes and `scalars`, and no `sizes`'
        )
    return cases


def _apart(spec: Spec, sizes: dict[str, int], taken: list[dict[str, int]], most_bytes: int) -> dict[str, int]:
    """The nearest sizes that no case before has, one size moved; the same where there are none near."""
    if sizes not in taken:
        return sizes
    for distance in (2, 1, 4, 3):  # odd sizes stay odd where they can
        for name, limits in spec.sizes.items():
            for size in (sizes[name] - distance * limits.multiple_of, sizes[name] + distance * limits.multiple_of):
                moved = {**sizes, name: size}
                if limits.least <= size <= limits.most and moved not in taken and _fits(spec, moved, most_bytes):
                    return moved
    return sizes


def _fits(spec: Spec, sizes: dict[str, int], most_bytes: int) -> bool:
    """Whether the shapes work out (those of `n - k + 1` do for some sizes only) and the files are small enough."""
    try:
        return spec.check(sizes) <= most_bytes
    except SpecError:
        return False


def _fit(spec: Spec, name: str, budget: Budget) -> dict[str, int]:
    """The largest sizes of the kind that fit the budget; the smallest there are, where they do not."""
    names = list(spec.sizes)
    if name == "small":
        usual = {each: 7 - 2 * (index % 3) for index, each in enumerate(names)}
        # Far below the others also where all are small, if shapes work out there.
        least = {
            each: _legal(spec.sizes[each], min(size, max(1, spec.sizes[each].most // 8)))
            for each, size in usual.items()
        }
        if _fits(spec, least, budget.bytes):
            return least
        sizes = {each: _legal(spec.sizes[each], size) for each, size in usual.items()}
        spec.check(sizes)
        return sizes
    scale = math.log2(budget.product) / max(1, len(names))
    while True:
        sizes = {
            each: _legal(spec.sizes[each], _capped(name, index, spec.sizes[each].most, _size(name, scale, index)))
            for index, each in enumerate(names)
        }
        needed, smallest = spec.check(sizes), scale <= 1
        # What cannot be smaller, such as a task of one size, may be as large as the largest case.
        if needed <= (LARGEST_BYTES if smallest else budget.bytes):
            return sizes
        if smallest:
            raise SpecError(
                f"the smallest sizes {sizes or '(it has one size)'} take {needed / 2**20:.1f} MiB of files; a case may have "
                f"{LARGEST_BYTES >> 20} MiB"
            )
        scale -= 0.5


def _size(name: str, scale: float, index: int) -> int:
    exponent = max(1, math.floor(scale))
    if name in ("power_of_two", "large"):
        size = 1 << max(1, exponent - (index % 3))
        # A large size that is no power of two: it crosses the limits of what a grid can cover in one go.
        return size if name == "power_of_two" else size + (3 * size) // 8 + 2 * index
    size = max(3, round(2**scale * (0.83, 0.61, 0.71)[index % 3]))
    return _odd(size + 12 * (index // 3))


def _capped(name: str, index: int, most: int, size: int) -> int:
    """The size where the case may have it, else one of its kind at the case's share of `most`."""
    share = max(1, int(most * _SHARES[name] * (1.0, 0.8, 0.65)[index % 3]))
    if size <= (most if name == "large" else share):
        return size
    if name == "power_of_two":
        return 1 << (share.bit_length() - 1)
    return share if name == "large" else _odd(share)


def _odd(size: int) -> int:
    """The next number that none of the small primes divides, as far as there is one near."""
    size |= 1
    if size <= _PRIMES[-1]:
        return next(prime for prime in _PRIMES if prime >= size)
    while any(size % prime == 0 for prime in _PRIMES):
        size += 2
    return size


def _legal(limits: SizeRange, size: int) -> int:
    """The nearest allowed size."""
    step = limits.multiple_of
    least = -(-limits.least // step) * step
    most = limits.most // step * step
    return max(least, min(most, round(size / step) * step if step > 1 else size))


def check_cases(spec: Spec, given: object) -> list[dict[str, object]]:
    """Cases that somebody else chose, in our form.

    Raises:
        SpecError: a name or a size is missing, out of its limits or too large, not of the kind that the case is named after, or
            fewer than four sets of sizes differ.
    """
    if not isinstance(given, list) or not all(isinstance(case, dict) for case in given):
        raise SpecError("cases: a list of five objects was expected")
    by_name = {str(case.get("name")): case.get("parameters") for case in given}  # str: a name may be any JSON
    if set(by_name) != set(CASES) or len(given) != len(CASES):
        raise SpecError(f"cases: their names are {', '.join(CASES)}, each once")
    cases: list[dict[str, object]] = []
    for name in CASES:
        sizes = by_name[name]
        if not isinstance(sizes, dict) or set(sizes) != set(spec.sizes):
            raise SpecError(f"cases.{name}.parameters: exactly the sizes {', '.join(spec.sizes) or '(none)'}")
        for key, limits in spec.sizes.items():
            size = sizes[key]
            if type(size) is not int or not limits.least <= size <= limits.most or size % limits.multiple_of:
                raise SpecError(
                    f"cases.{name}.{key}={size!r}: a multiple of {limits.multiple_of} in [{limits.least}, {limits.most}]"
                )
        if spec.check(sizes) > LARGEST_BYTES:
            raise SpecError(f"cases.{name}: its files take more than {LARGEST_BYTES >> 20} MiB")
        cases.append({"name": name, "parameters": {**sizes, **({"special": 1} if name == "special" else {})}})
    if spec.sizes and differing(cases) < _LEAST_DIFFERING:
        raise SpecError("cases: at least four of the five must differ in their sizes")
    _check_kinds(spec, by_name)
    return cases


def _check_kinds(spec: Spec, sizes: Mapping[str, Mapping[str, int]]) -> None:
    """Hold each case to its name, as far as the limits of the sizes let it have such a size."""
    free = {key: limits for key, limits in spec.sizes.items() if limits.least < limits.most}
    if not free:
        return
    powers = [
        key
        for key, limits in free.items()
        if limits.multiple_of.bit_count() == 1 and 1 << (limits.most.bit_length() - 1) >= limits.least
    ]
    if powers and not any(sizes["power_of_two"][key].bit_count() == 1 for key in powers):
        raise SpecError("cases.power_of_two: none of its sizes is a power of two")
    odd = [key for key, limits in free.items() if limits.multiple_of % 2]
    if odd and not any(sizes["odd"][key] % 2 for key in odd):
        raise SpecError("cases.odd: none of its sizes is odd")
    total = {name: spec.check(sizes[name]) for name in CASES}
    if total["small"] > min(total.values()) or not any(
        sizes["small"][key] <= max(BLOCK, limits.least, limits.multiple_of) for key, limits in free.items()
    ):
        raise SpecError(f"cases.small: it has to be the smallest, with a size of at most {BLOCK}, less than a block")
    if total["large"] < max(total.values()):
        raise SpecError("cases.large: its files have to be the largest")


def differing(cases: list[dict[str, object]]) -> int:
    """How many different sets of sizes there are."""
    return len({tuple(sorted((k, v) for k, v in _parameters(case).items() if k != "special")) for case in cases})


def _parameters(case: Mapping[str, object]) -> Mapping[str, int]:
    found = case["parameters"]
    assert isinstance(found, Mapping)
    return found
