"""The table of what weights are held to, in docs/data.md."""

from . import between_marks, helper_table, table


def page() -> str:
    """docs/data.md with the table of what weights are held to."""
    exactness = helper_table("exactness", "EXACTNESS")
    rows = [[name, "to the last bit" if one.is_bitwise else "to 5e-5"] for name, one in exactness.items()]
    return between_marks("data.md", table(["runs", "equal"], rows))
