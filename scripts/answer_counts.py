"""What docs/miniature.md says of answers and compilers' messages, counted in a study's folder: python scripts/answer_counts.py OUTPUT [PATTERN]

OUTPUT is the folder of the study, PATTERN of its runs (MODEL/METHOD/seedN, as `*/*/seed10`; without it all). A JSON object a run: answers, comments
outside CUDA tokens an answer, names of kernels (how many different ones, the most frequent), answers that define a kernel twice, answers with
`<=` in a kernel, and what compilers complain of first.
"""

import json
import re
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from cuset_stage.cuda_source import Source
from cuset_stage.jsonl import read_objects
from cuset_stage.miniature.corrupt import COMMENT
from cuset_stage.spans import find_spans
from cuset_stage.study.plan import OUTPUTS


COMPLAINTS = {
    "is undefined": "a name that is not defined",
    "already been defined": "a kernel or function defined twice",
    "duplicate parameter": "a parameter named twice",
}


def complaint(message: str) -> str:
    """The kind of the first error that the compiler names."""
    first = re.search(r"error: (.*)", message)
    return next((kind for sign, kind in COMPLAINTS.items() if first and sign in first[1]), "other")


def count(run: Path) -> dict[str, Any]:
    answers = [line["answer"] for _, line in read_objects(run / OUTPUTS["generate"]) if line.get("answer")]
    comments, names, twice, bounds = 0, Counter[str](), 0, 0
    for answer in answers:
        spans = find_spans(answer)
        comments += sum(
            not any(span.start <= found.start() < span.end for span in spans) for found in COMMENT.finditer(answer)
        )
        bounds += any("<=" in answer[span.start : span.end] for span in spans)
        kernels = Counter(function.name for function in Source(answer).functions if function.is_kernel)
        names += kernels
        twice += any(times > 1 for times in kernels.values())
    judged = (line for _, line in read_objects(run / OUTPUTS["evaluate"]))
    errors = Counter(complaint(line.get("message") or "") for line in judged if line.get("verdict") == "compile_error")
    return {
        "answers": len(answers),
        "comments_outside_an_answer": round(comments / max(len(answers), 1), 1),
        "names_of_kernels": len(names),
        "most_frequent": dict(names.most_common(5)),
        "answers_with_a_kernel_defined_twice": twice,
        "answers_with_<=_in_a_kernel": bounds,
        "first_error": dict(errors.most_common()),
    }


def main() -> None:
    if len(sys.argv) not in (2, 3):
        raise SystemExit((__doc__ or "").partition("\n")[0])
    runs, pattern = Path(sys.argv[1]) / "runs", sys.argv[2] if len(sys.argv) == 3 else "*/*/seed*"
    judged = [path.parent for path in sorted(runs.glob(f"*/*/seed*/{OUTPUTS['evaluate']}"))]
    names = {run.relative_to(runs).as_posix(): run for run in judged if (run / OUTPUTS["generate"]).exists()}
    found = {name: count(run) for name, run in names.items() if fnmatch(name, pattern)}
    if not found:
        raise SystemExit(
            f"{runs}: no run {pattern} with answers and verdicts; expected a study's folder, and a pattern of MODEL/METHOD/seedN."
        )
    print(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
