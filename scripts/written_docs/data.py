"""The list of what weights are held to, in docs/data.md."""

from . import filled, helper_table


def page() -> str:
    exactness = helper_table("exactness", "EXACTNESS")
    lines = [
        f"- {how}: " + "; ".join(name for name, one in exactness.items() if one.is_bitwise == bitwise)
        for how, bitwise in (("to the last bit", True), ("to 5e-5", False))
    ]
    return filled("data.md", exactness="\n".join(lines))
