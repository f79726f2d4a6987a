"""docs/features.md, from the list that the tests of features run."""

import re
from typing import Any

from . import NOTE, helper_table, table


FEATURES_TEST = "tests/stage/test_features.py"


def page() -> str:
    features = helper_table("features", "FEATURES")
    parts = [
        "# Features\n",
        NOTE.format("`tests/helpers/features.yaml`"),
        "What becomes of LLaMA-Factory's SFT features under `stage: cuset`:\n",
        "- **works**: with CuSeT's three parts off, `loss`, `grad_norm` and the results of evaluation are those of `stage: sft` at every\n"
        "  step (relative difference below 1e-5), on a tiny model on a CPU; or a test of its own holds what that test says.\n"
        "- **refused**: the run stops before the first step, with a sentence that says why.\n"
        "- **fails in SFT as well**: with the versions in `requirements/constraints.txt`.\n"
        "- **not tested here**: it may work.\n",
        f"The last column names the test; where it is empty, that is the feature's case in `{FEATURES_TEST}`.\n",
    ]
    rows = []
    for title, group in features.items():
        rows += [[f"**{title}**", "", "", "", ""], *(feature_row(name, feature) for name, feature in group.items())]
    parts += [table(["feature", "keys", "under `stage: cuset`", "remarks", "test"], rows) + "\n"]
    return "\n".join(parts)


def feature_row(name: str, feature: Any) -> list[str]:
    """feature: a Feature of tests/helpers/features.py."""
    shown = {key: str(value).lower() if isinstance(value, bool) else value for key, value in feature.keys.items()}
    keys = [re.sub(r"{\w+}", "FOLDER", f"`{key}: {value}`") for key, value in shown.items()]
    keys += [f"`{key}={value}`" for key, value in feature.environment.items() if "{" not in value]
    remarks = [feature.note] if feature.note else []
    if feature.packages:
        remarks.append("needs " + ", ".join(feature.packages))
    held = f"`{feature.held}`" if feature.held else ""
    return [name, ", ".join(keys), str(feature.outcome), "; ".join(remarks), held]
