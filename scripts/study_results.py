"""Add what a machine ran of a study to the results that are published: python scripts/study_results.py STUDY.yaml OUTPUT FOLDER

OUTPUT is the study's folder as that machine left it; models need not be in it. FOLDER gets its finished runs beside those that it has:
`results.jsonl`, `jobs.jsonl` (seconds of each job; of a training also the last logged confidence of CUDA tokens and others, of judging also the
mean seconds of a sample: nvcc, the program, the judge itself) and `report/`, written from them. A run that FOLDER has already must be the same,
and so must a file of OUTPUT/checksums.txt (as `sha256sum` writes it: models and data that runs began with). Accuracy on pairs is left out.
"""

import json
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from cuset_stage.files import write_atomically
from cuset_stage.jsonl import read_objects, to_line
from cuset_stage.study.plan import NEEDS, jobs_of
from cuset_stage.study.report import write_report
from cuset_stage.study.results import COLUMNS, samples_of
from cuset_stage.study.run import write_study
from cuset_stage.study.settings import StudySettings


LOGGED = ("cuset/cuda_confidence", "cuset/other_confidence")
TIMED = ("compile_s", "run_s", "overhead_s")


def published(folder: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, dict[str, Any]]]:
    """Rows by run and records by job of a published folder; of none both are empty."""
    rows, jobs = defaultdict(list), {}
    if (folder / "results.jsonl").exists():
        for _, row in read_objects(folder / "results.jsonl"):
            rows["{model}/{method}/seed{seed}".format(**row)].append({key: row[key] for key in COLUMNS[3:]})
        jobs = {job["job"]: job for _, job in read_objects(folder / "jobs.jsonl")}
    return dict(rows), jobs


def finished(output: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, dict[str, Any]]]:
    """The same of the runs that are judged in a study's own folder."""
    rows, jobs = {}, {}
    for done in sorted((output / "done" / "evaluate").glob("*/*/seed*.json")):
        run = done.relative_to(output / "done" / "evaluate").with_suffix("").as_posix()
        samples = samples_of(output / "runs" / run / "results.jsonl", (*COLUMNS[3:], *TIMED))
        rows[run] = [{key: sample[key] for key in COLUMNS[3:]} for sample in samples]
        for kind in NEEDS:
            record = output / "done" / kind / f"{run}.json"
            if record.exists():
                jobs[f"{kind}/{run}"] = json.loads(record.read_text(encoding="utf-8"))
        for key in TIMED:
            if known := [sample[key] for sample in samples if sample[key] is not None]:
                jobs[f"evaluate/{run}"][key] = round(sum(known) / len(known), 2)
        log = output / "runs" / run / "model" / "trainer_log.jsonl"
        if log.exists():
            last = [line for _, line in read_objects(log) if LOGGED[0] in line][-1:]
            jobs[f"train/{run}"] |= {key: round(line[key], 4) for line in last for key in LOGGED}
    return rows, jobs


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 by file."""
    file = folder / "checksums.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def main() -> None:
    if len(sys.argv) != 4:
        raise SystemExit((__doc__ or "").partition("\n")[0])
    study, output, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    files, here = checksums(folder), checksums(output)
    if differing := [name for name in here if files.get(name, here[name]) != here[name]]:
        raise SystemExit(
            f"{output} ran with another {', '.join(differing)} than {folder}; its runs cannot be compared with those."
        )
    (rows, jobs), (new, records) = published(folder), finished(output)
    if other := [run for run in new if rows.get(run, new[run]) != new[run]]:
        raise SystemExit(
            f"{folder} has other results of {', '.join(other)}; remove them there, or leave them out of {output}."
        )
    rows |= new
    jobs |= records
    with tempfile.TemporaryDirectory() as temporary:
        settings = StudySettings.read([study, f"output={temporary}"])
        for run, lines in rows.items():
            text = (to_line({"type": "sample", **line}) for line in lines)
            write_atomically(Path(temporary, "runs", run, "results.jsonl"), text)
        for name, job in jobs.items():
            write_atomically(Path(temporary, "done", f"{name}.json"), to_line(job))
        every = jobs_of(settings)
        if unknown := sorted(rows.keys() - {job.run.name for job in every}):
            raise SystemExit(f"{study} has no run {', '.join(unknown)}; its results would be lost.")
        write_study(settings, every)
        write_report(settings.model_copy(update={"title": settings.title or folder.name}))
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(temporary, "results.jsonl"), folder)
        shutil.copytree(Path(temporary, "report"), folder / "report", dirs_exist_ok=True)
    write_atomically(folder / "jobs.jsonl", (to_line(jobs[name]) for name in sorted(jobs)))
    if files or here:
        named = sorted({**files, **here}.items())
        write_atomically(folder / "checksums.txt", "".join(f"{digest}  {name}\n" for name, digest in named))
    print(f"{folder}: {len(new)} runs added or the same, {len(rows)} in all")


if __name__ == "__main__":
    main()
