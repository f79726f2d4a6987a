"""Inputs from a fresh seed, which nobody could know before: an answer with the outputs of the public inputs built in
fails.
"""

from dataclasses import replace

import numpy as np
from host_programs import answer_row, make_task, task_row

from cuset_stage.judge.oracle import CaseCache, PreparedCase
from cuset_stage.judge.programs import ProgramJudge
from cuset_stage.sandbox import Verdict


def drawn(judge: ProgramJudge, seed: int) -> ProgramJudge:
    """Return the judge with inputs drawn from this seed."""
    return replace(judge, cases=CaseCache(judge.cases.folder, seed=seed))


def remembering(prepared: PreparedCase) -> str:
    """Return a program that writes these expected outputs, whatever its inputs are."""
    values = ",".join(map(float.hex, np.fromfile(prepared.expected["data/y.bin"], np.float32).astype(float)))
    return (
        f"#include <cstdio>\nfloat y[] = {{{values}}};\n"
        'int main() { FILE* f = fopen("data/y.bin", "wb"); fwrite(y, 1, sizeof y, f); fclose(f); return 0; }\n'
    )


def test_built_in_outputs_pass_on_public_inputs_alone(judge, tmp_path):
    task = make_task(tmp_path, "right")
    answer = remembering(judge.case(task, task.cases[0]))
    assert judge.judge(task, answer).verdict is Verdict.PASSED
    assert drawn(judge, 1).judge(task, answer).verdict is Verdict.MISMATCH
    assert drawn(judge, 1).judge(task, task.solution).verdict is Verdict.PASSED


def test_a_seed_makes_the_same_inputs_again(tmp_path):
    task = make_task(tmp_path, "right")

    def inputs(folder: str, seed: int | None) -> bytes:
        cache = CaseCache(tmp_path / folder, seed=seed)
        return cache.prepare(task, task.cases[0]).inputs["data/x.bin"].read_bytes()

    assert inputs("here", 1) == inputs("there", 1)
    assert len({inputs("here", seed) for seed in (1, 2, None)}) == 3


def test_every_results_file_has_a_seed_of_its_own_and_keeps_it(run, tmp_path):
    tasks = [task_row("one", "right")]
    _, first = run([answer_row("one", 0)], tasks=tasks)
    said, resumed = run([answer_row("one", 0)], tasks=tasks)
    assert "nothing new to judge" in said
    assert resumed.run["seed"] == first.run["seed"] is not None
    said, other = run([answer_row("one", 0)], "seed=7", tasks=tasks)
    assert "1 judged" in said and other.run["seed"] == 7 != first.run["seed"]
    (tmp_path / "results.jsonl").unlink()
    _, again = run([answer_row("one", 0)], tasks=tasks)
    assert again.run["seed"] not in (first.run["seed"], 7)
