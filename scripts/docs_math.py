"""Hook of mkdocs that turns formulas between dollar signs into MathML, which browsers draw without a script.

GitHub reads the same signs, so a page has the same source text in both places.
"""

import re

from latex2mathml.converter import convert


CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the page with its formulas as MathML. Code is left as it is."""
    parts = CODE.split(markdown)
    return "".join(part if CODE.fullmatch(part) else FORMULA.sub(_mathml, part) for part in parts)


def _mathml(found: re.Match[str]) -> str:
    block, inline = found.groups()
    # The formula is put on one line without _ and *, so that Markdown finds no paragraphs or emphasis in it.
    mathml = convert(" ".join((block or inline).split()), display="block" if block else "inline")
    mathml = mathml.replace("_", "&#95;").replace("*", "&#42;")
    # Markdown takes <math> for a block. At the start of a line it would end the paragraph or list that it is in.
    return mathml if block else f"<span>{mathml}</span>"
