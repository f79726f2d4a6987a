"""The page docs/features.md, written from the list that the tests of features run."""

import re
from typing import Any

from features import FEATURES  # in tests/helpers/

from . import NOTE, table


def page() -> str:
    working, others = [], []
    for title, group in FEATURES.items():
        works = []
        for name, feature in group.items():
            if feature.outcome == "works":
                works.append(with_keys(name, feature, feature.note))
            else:
                others.append([with_keys(name, feature), str(feature.outcome), feature.note])
        working.append([title, "<br>".join(works)])
    parts = [
        "# Features\n",
        NOTE.format("`tests/helpers/features.yaml`, which has the test of each, or names it"),
        "LLaMA-Factory's features that work under `stage: cuset` as under SFT: with CuSeT's three parts off, `loss`, `grad_norm` and the results\n"
        "of evaluation are those of `stage: sft` at every step, within 1e-5, on a tiny model on a CPU; or a test of their own holds them.\n"
        "A key shown without a value is `true`.\n",
        table(["", "works"], working) + "\n",
        "The others. **Refused**: the run stops before the first step and says why. **Fails in SFT as well**: with the versions in\n"
        "`requirements/constraints.txt`. **Not tested here**: it may work.\n",
        table(["feature", "under `stage: cuset`", "remark"], others) + "\n",
    ]
    return "\n".join(parts)


def with_keys(name: str, feature: Any, note: str = "") -> str:
    """Return the feature's name with the keys that turn it on and a note in parentheses.

    Args:
        name: the feature's name.
        feature: a `Feature` of tests/helpers/features.py.
        note: a remark, may be empty.
    """
    keys = [f"`{key}`" if value is True else f"`{key}: {value}`" for key, value in feature.keys.items()]
    keys = [re.sub(r"{\w+}", "FOLDER", key).replace(": False", ": false") for key in keys]
    keys += [f"`{key}={value}`" for key, value in feature.environment.items() if "{" not in value]
    if keys == [f"`{name}`"]:
        name, keys = keys[0], []
    details = [", ".join(keys)] * bool(keys) + [note] * bool(note)
    return f"{name} ({'; '.join(details)})" if details else name
