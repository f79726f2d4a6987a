"""Choose the code of an answer."""

import re
from enum import StrEnum

from .containers import Answer
from .languages import OTHER_LANGUAGES, defines_main, looks_like_code
from .reader import read_answer


class ExtractRule(StrEnum):
    """The rules for choosing the code of an answer. The docstring of the package describes each."""

    FIRST = "first"
    LAST = "last"
    FIRST_ANY = "first-any"


_FIRST_BLOCK = re.compile(r"```\w*(.*?)```", re.DOTALL)


def extract_code(
    answer: str, *, rule: ExtractRule | str = ExtractRule.FIRST, language: str = "cuda", whole_program: bool = True
) -> str | None:
    """Return the code of an answer, or None when there is none. The docstring of the package describes the rules.

    Args:
        answer: the whole text that the model wrote, reasoning included.
        rule: first, last or first-any.
        language: the language that the task asks for, cuda or python.
        whole_program: whether the task asks for a program with a `main`. It makes no difference for Python.

    Raises:
        ValueError: if the rule or the language does not exist.
    """
    if rule not in list(ExtractRule):
        raise ValueError(f"extraction rule {str(rule)!r}: one of {', '.join(ExtractRule)}.")
    if language not in OTHER_LANGUAGES:
        raise ValueError(f"language {language!r}: one of {', '.join(OTHER_LANGUAGES)}.")
    if rule == ExtractRule.FIRST_ANY:
        block = _FIRST_BLOCK.search(answer)
        return block[1].strip() or None if block else None
    code = _best_code(read_answer(answer), rule, language, whole_program and language == "cuda")
    return code if code and code.strip() else None


def _best_code(answer: "Answer", rule: str, language: str, whole_program: bool) -> str | None:
    """Choose the code of an answer by the rule `first` or `last`, in the order that the docstring of the package lists."""
    at = -1 if rule == ExtractRule.LAST else 0

    def is_code(text: str) -> bool:
        return looks_like_code(text, language)

    codes = [(part.tag not in OTHER_LANGUAGES[language], answer.code(part)) for part in answer.in_blocks()]
    likely = [(fits, code) for fits, code in codes if is_code(code)]
    if whole_program and len(likely) > 1:
        programs = [(fits, code) for fits, code in likely if (fits or "#include" in code) and defines_main(code)]
        likely = programs or likely
    if likely:
        return ([code for fits, code in likely if fits] or [code for _, code in likely])[at]
    outside = []
    for part in answer.outside_blocks():
        # In Python, text before the first line that looks like code may belong to the module.
        if (code := answer.from_code(part, is_code)) and is_code(answer.source(code)):
            outside.append(answer.code(part if language == "python" else code))
    if outside:
        return ([code for code in outside if whole_program and defines_main(code)] or outside)[at]
    return ([code for fits, code in codes if fits] or [code for _, code in codes] or [None])[at]
