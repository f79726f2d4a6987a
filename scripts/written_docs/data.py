"""The table of what weights are held to, in docs/data.md."""

from . import filled, helper_table, table


def page() -> str:
    exactness = helper_table("exactness", "EXACTNESS")
    rows = [[name, "to the last bit" if one.is_bitwise else "to 5e-5"] for name, one in exactness.items()]
    return filled("data.md", exactness=table(["runs", "equal"], rows))
