"""The list in docs/data.md of equalities that the tests check for weights in the data."""

from . import filled, helper_table


def page() -> str:
    exactness = helper_table("exactness", "EXACTNESS")
    lines = [
        f"- {precision}: " + "; ".join(name for name, entry in exactness.items() if entry.is_bitwise == wants_bitwise)
        for precision, wants_bitwise in (("to the last bit", True), ("to 5e-5", False))
    ]
    return filled("data.md", exactness="\n".join(lines))
