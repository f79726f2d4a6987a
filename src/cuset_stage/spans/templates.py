"""Replace or recognise placeholders of template engines in source code.

The engines are Jinja, Mako, ERB, string.Template and str.format. The lexer would misread their marks. Standard library
only.
"""

import re

from .scrub import line_before


# Every alternative is bounded and no mark contains another, so a mark that never closes stays cheap. Each begins with
# a literal character, which makes the search fast. The groups are atomic because Python before 3.11.5 loses matches
# of `{0,400}+`.
_PIECE = re.compile(
    r"\{%[-+]?[ \t]*(?P<jinja>\w*)(?>(?:[^%{]|%(?!\})|\{(?!%)){0,400})%\}"
    r"|\{#(?>(?:[^#{]|#(?!\})|\{(?!#)){0,400})#\}"
    r"|<%(?=[=\s-])(?P<value>=?)(?>(?:[^%<]|%(?!>)|<(?!%)){0,400})%>"
    r"|%[ \t]*(?P<mako>(?:if|el|endif)\w*)[^\n]*"
    r"|\{\{[^{}\n]{0,200}\}|\$\{[^{}\n]{0,200}\}"
)
_BRANCH = re.compile(r"if|el|endif")
_LINE_ENDS = re.compile(r"[ \t\r]*(?:\n|\Z)")
_DOUBLED = r"\{\{[^{};]{0,200}\}\}"
_MARKED = r"(?<=[$#@%])\{[^{};]{0,200}\}"
_FIELD = re.compile(rf"\{{{_DOUBLED}\}}|{_DOUBLED}|{_MARKED}|\{{[^\s{{}};]{{0,200}}\}}")
_SURE_FIELD = re.compile(rf"{_DOUBLED}|{_MARKED}")
# Text that follows a placeholder in the middle of a head. `{}` may also be an empty body: it has its own pattern.
_MIDDLE = re.compile(r"[ \t]*(?:[\w(<@$%:{]|\r?\n[ \t]*[({](?![{%]))")
_CALLED = re.compile(r"\w*\(")


def plain(text: str) -> str:
    """Return `text` without the marks that only a template engine reads, at the same length.

    A branch tag that has its line to itself becomes a branch of the preprocessor. Any other tag becomes spaces or a
    name. A `//` in a placeholder would be read as a comment, so it becomes part of a name.
    """
    marked = "{{" in text or "${" in text or "{%" in text or "{#" in text or "<%" in text or "% if" in text
    return _PIECE.sub(_plain, text) if marked else text


def _plain(match: re.Match[str]) -> str:
    text, size = match[0], match.end() - match.start()
    if match["jinja"] is not None or match["mako"]:
        branch = _BRANCH.match(match["jinja"] or match["mako"] or "")
        alone = not line_before(match.string, match.start()).strip() and _LINE_ENDS.match(match.string, match.end())
        if branch and alone:
            return f"#{branch[0]}".ljust(size)
        return text if match["mako"] else " " * size
    if text[1] in "#%":
        if not match["value"]:
            return " " * size
        # A space keeps the name apart from a keyword such as `__global__`.
        before, after = match.string.endswith("__", 0, match.start()), match.string.startswith("__", match.end())
        return f"{' ' * before}{'_' * (size - before - after)}{' ' * after}"
    return text.replace("//", "__")


def field_end(text: str, position: int, after_parameters: bool) -> int:
    """Return one past the placeholder whose brace is at `position` in a kernel's head, or 0 if the brace opens a body.

    Args:
        text: scrubbed text.
        position: index of the brace.
        after_parameters: whether the parameter list stands before it, so that a body may follow.
    """
    is_field = text[position - 1] in "$#@%" or not text[position + 1 : position + 2].isspace()
    field = _FIELD.match(text, position) if is_field else None
    if not field:
        return 0
    follows = _CALLED if field[0] == "{}" else _MIDDLE
    return 0 if after_parameters and not follows.match(text, field.end()) else field.end()


def without_fields(text: str) -> str:
    """Return `text` with everything that can only be a placeholder replaced by spaces."""
    marked = "{{" in text or "${" in text or "@{" in text or "#{" in text
    return _SURE_FIELD.sub(lambda match: " " * len(match[0]), text) if marked else text
