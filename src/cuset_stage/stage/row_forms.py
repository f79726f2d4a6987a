"""Check rows of a data file for what LLaMA-Factory cannot read, and for turns with which it drops a row.

LLaMA-Factory is not imported here, because `cuset init` checks rows too and must stay fast.
"""

from collections.abc import Mapping
from typing import Any

from ..text import InputError, one_line, shown


def check_texts(row: dict[str, Any], names: Mapping[str, Any]) -> None:
    """Check that a row's texts, messages and turns are what LLaMA-Factory expects.

    Columns may be null. So may the last answer; its row is dropped later.

    Args:
        row: the row as it stands in the file.
        names: the data set's formatting, and its columns and tags by LLaMA-Factory's names for them.

    Raises:
        InputError: names the column, the value and the expected form.
    """
    alpaca = names["formatting"] == "alpaca"
    for role in ("prompt", "query", "response", "system") if alpaca else ("system",):
        column = names.get(role)
        if column and not isinstance(row.get(column), str | None):
            raise InputError(f"{column!r}, the {role} column, is {shown(row[column])}; expected text.")
    tools = names.get("tools")
    if tools and names["formatting"] != "openai" and not isinstance(row.get(tools), str | None):
        raise InputError(f"{tools!r} is {shown(row[tools])}; expected that as text (`json.dumps`).")
    column = names.get("history") if alpaca else names["messages"]
    if not column or (alpaca and row.get(column) is None):
        return
    tags = () if alpaca else (names["role_tag"], names["content_tag"])
    form = "[question, answer], two texts" if alpaca else f"an object with {tags[0]!r} and {tags[1]!r}, both text"
    if not isinstance(row.get(column), list):
        raise InputError(f"{column!r} is {shown(row.get(column))}; expected a list, of which each entry is {form}.")
    for number, entry in enumerate(row[column], start=1):
        if alpaca:
            texts = entry if isinstance(entry, list) and len(entry) == 2 else [None]
        else:
            texts = list(map(entry.get, tags)) if isinstance(entry, dict) else [None]
            if number == 1 and texts[0] and texts[0] == names["system_tag"]:
                texts = [text for text in texts if text is not None]  # no system prompt
            elif texts[0] in (names["assistant_tag"], names["function_tag"]):
                # LLaMA-Factory's formatting `openai` makes the text of tool calls, whatever the content is.
                is_call = names["formatting"] == "openai" and entry.get("tool_calls")
                may_be_null = is_call or number == len(row[column])
                texts = [text for text in texts if text is not None or not may_be_null]
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"entry {number} of {column!r} is {shown(entry)}; expected {form}.")


def check_turns(row: dict[str, Any], names: Mapping[str, Any]) -> None:
    """Check that LLaMA-Factory does not drop a row for the order of its messages.

    Args:
        row, names: as in `check_texts`, which has passed; the row has messages.

    Raises:
        InputError: names the roles and the expected order.
    """
    roles = [message[names["role_tag"]] for message in row[names["messages"]]]
    ask, answer = (names["user_tag"], names["observation_tag"]), (names["assistant_tag"], names["function_tag"])
    turns = roles[1:] if roles[:1] == [names["system_tag"]] else roles
    if names["formatting"] == "openai":
        # It joins the results of tools that follow each other, and leaves out those at the end.
        tool = names["observation_tag"]
        turns = [role for role, then in zip(turns, [*turns, tool][1:], strict=True) if not role == then == tool]
    if not turns or len(turns) % 2 or any(role not in (ask, answer)[place % 2] for place, role in enumerate(turns)):
        found = one_line(", ".join(roles) or "nobody")
        raise InputError(
            f"{names['messages']!r} has messages of {found}; expected the user's and the assistant's in turn, the assistant's last, after at "
            "most one of the system. Training would drop this row."
        )
