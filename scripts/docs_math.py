"""A hook of mkdocs: formulas between dollar signs become MathML, which browsers draw without a script.

GitHub reads the same signs, so a page is the same text in both places.
"""

import re

from latex2mathml.converter import convert


CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    """The page with its formulas as MathML; code is left as it is."""
    parts = CODE.split(markdown)
    return "".join(part if CODE.fullmatch(part) else FORMULA.sub(_mathml, part) for part in parts)


def _mathml(found: re.Match[str]) -> str:
    block, inline = found.groups()
    # One line: Markdown must not read paragraphs or emphasis into it.
    drawn = convert(" ".join((block or inline).split()), display="block" if block else "inline")
    drawn = drawn.replace("_", "&#95;").replace("*", "&#42;")
    # To Markdown, <math> is a block: at the head of a line it would end the paragraph or list that it stands in.
    return drawn if block else f"<span>{drawn}</span>"
