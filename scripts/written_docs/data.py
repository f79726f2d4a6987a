"""The list in docs/data.md of equalities that the tests check for weights in the data."""

from exactness import EXACTNESS  # in tests/helpers/

from . import filled


def page() -> str:
    lines = [
        f"- {precision}: " + "; ".join(name for name, entry in EXACTNESS.items() if entry.is_bitwise == wants_bitwise)
        for precision, wants_bitwise in (("to the last bit", True), ("to 5e-5", False))
    ]
    return filled("data.md", exactness="\n".join(lines))
