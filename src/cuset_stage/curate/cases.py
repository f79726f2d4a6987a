"""Stage `cases`: five input sets a row, a reference that is not the kernel itself, and proof that the two can tell wrong from right.

Where a specification comes from, in this order: the row's own (`spec`); what the program's own call, a wrapper's copies or a launch
with one thread an element say about array lengths; a language model behind an endpoint, when one is given. The reference comes from `numpy_code`, from
`cpu_code`, from a CPU function in the source itself, or from the language model.

A PyTorch module brings its inputs with it: the one shape that `get_inputs` gives, drawn from several seeds. No mutants are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..judge.oracle import ORACLE_LIMITS, CaseCache, OracleError
from ..judge.oracle_runs import run_module
from ..sandbox import Isolation, Limits
from ..tasks import TaskError
from .asking import Asker, AskError, Suggestion
from .attempts import Attempt, attempts, reference_source, spec_of
from .input_spec import SpecError
from .parallel import Executor, check_workers
from .probes import passing_probes
from .prompts import family_of, task_prompt
from .signature import AdaptError, Signature
from .sizes import BUDGETS, check_cases, five_cases
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import Row, read_stage_rows, sha256_text
from .tasks import load_task, module_record, task_identity


_SCHEMA = 4
CASE_LIMITS = replace(ORACLE_LIMITS, wall_s=60.0, file_bytes=1 << 30, folder_bytes=2 << 30)


@dataclass(frozen=True)
class CaseSettings:
    """Args:
    cache: where prepared cases lie; None: the judge's own cache, so that `verify` finds them.
    limits: of one reference on one case.
    """

    cache: Path | None = None
    limits: Limits = CASE_LIMITS
    isolation: Isolation = Isolation.AUTO


def run_cases(
    folder: Path,
    files: Sequence[Path],
    *,
    asker: Asker | None = None,
    settings: CaseSettings = CaseSettings(),
    executor: Executor = Executor.THREADS,
    workers: int | None = None,
    fresh: bool = False,
) -> Summary:
    """Make the cases of the rows of `files` in `folder`/cases/. The model's key is not among what is written.

    Raises:
        CurationError: an option is out of its range.
    """
    check_workers(workers)
    return run_stage(
        folder / "cases",
        "cases",
        read_stage_rows(files),
        CaseMaker(settings, asker),
        settings={"schema": _SCHEMA, "endpoint": None if asker is None else asker.record()},
        executor=executor,
        workers=workers,
        sync_s=0.0 if asker else 1.0,  # an answer of a model is dear
        fresh=fresh,
    )


class _Rejected(Exception):
    """The row ends here: a counted reason, and a detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass
class CaseMaker:
    """The stage's work on one row."""

    settings: CaseSettings
    asker: Asker | None = None
    _cache: CaseCache = field(init=False)

    def __post_init__(self) -> None:
        self._cache = CaseCache(self.settings.cache, limits=self.settings.limits, isolation=self.settings.isolation)

    def __call__(self, row: Row) -> Outcome:
        try:
            if row.get("kind") == "module":
                return self._module(row)
            if isinstance(row.get("task"), dict):
                return self._own(row)
            return self._program(row)
        except _Rejected as rejected:
            return Dropped(rejected.reason, str(rejected))
        except AdaptError as error:
            return Dropped(error.reason, str(error))
        except AskError as error:
            return Unsettled("endpoint", str(error)) if error.again else Dropped(error.reason, str(error))
        except OracleError as error:
            return Unsettled("oracle", str(error))  # ours: the reference's own failures are told apart before

    # ------------------------------------------------------------------------------------------------ by kind of row

    def _own(self, row: Row) -> Outcome:
        """A task in our format brings its cases; they are held to the same rules."""
        record = {key: value for key, value in row["task"].items() if key not in ("solution", "intro")}
        record["id"] = str(record.get("id") or task_identity(row))
        record.setdefault("prompt", row.get("prompt"))
        ready = {
            **row,
            "task": record,
            "name": row.get("name") or record["id"],
            "family": record.get("family") or family_of(row),
        }
        try:
            self._check(ready)
        except _Slow as slow:
            raise _Rejected("reference_slow", str(slow)) from None
        return Kept(ready, {"cases": len(load_task(ready).cases), "reference": "the task's own"})

    def _module(self, row: Row) -> Outcome:
        record = module_record(row, str(row.get("level") or family_of(row)))
        ready = {**row, "task": record, "family": record["family"]}
        try:
            trials = run_module(record["id"], record["reference"], self.settings.limits, self.settings.isolation)[
                "trials"
            ]
        except OracleError as error:
            if is_infra(error):
                raise
            if is_slow(error):  # models are made for a GPU; the judge runs the reference there
                return Kept(
                    ready,
                    {
                        "cases": "the judge's seeds",
                        "reference": "the module",
                        "probes": "not run: too slow on the CPU",
                    },
                )
            raise _Rejected("reference_fails", str(error)) from None
        if not all(trial["finite"] for trial in trials):
            raise _Rejected("reference_not_finite", "the module's outputs are not finite on the inputs it draws")
        if all(trial["std"] <= 1e-4 * max(1.0, abs(trial["mean"])) for trial in trials):
            raise _Rejected(
                "weak_cases", "the module's output is constant up to the judge's tolerance, so a constant passes"
            )
        if len({trial["sha256"] for trial in trials}) == 1:
            raise _Rejected("weak_cases", "the module's output is the same for inputs of two seeds")
        return Kept(ready, {"cases": "the judge's seeds", "reference": "the module"})

    def _program(self, row: Row) -> Outcome:
        signature = Signature.from_record(row["signature"]) if row.get("signature") else None
        problems: list[str] = []
        for attempt in attempts(row, signature, problems):
            found = self._try(row, attempt, problems)
            if found is not None:
                return found
        if self.asker is not None:
            return self._ask(row, signature)
        if problems:
            reason, _, detail = problems[-1].partition(": ")
            raise _Rejected(reason, detail)
        raise _Rejected(
            "no_specification",
            "nothing says which inputs the program takes: give `spec` (and numpy_code or cpu_code) with the row, or --endpoint",
        )

    def _ask(self, row: Row, signature: Signature | None) -> Outcome:
        """What a model suggests, checked; what is wrong with it is told to the model, as often as the asker allows."""

        def accept(suggestion: Suggestion) -> Outcome:
            problems: list[str] = []
            own = reference_source(row, signature)
            spec = spec_of(
                signature, suggestion.spec, suggestion.spec, flat=own is not None and own[0] != "numpy_code"
            )
            reference = own or ("the model's NumPy code", suggestion.reference)
            if not reference[1]:
                raise SpecError("a ```python block that defines reference(inputs) is missing")
            cases = None if suggestion.cases is None else check_cases(spec, suggestion.cases)
            attempt = Attempt(spec, reference, signature, suggestion.description, suggestion.family, cases)
            found = self._try(row, attempt, problems)
            if found is None:
                raise SpecError(problems[-1] if problems else "the reference does not run on these inputs")
            return found

        assert self.asker is not None
        return self.asker.ask(row, signature, accept)

    # ---------------------------------------------------------------------------------------------------- one attempt

    def _try(self, row: Row, attempt: Attempt, problems: list[str]) -> Outcome | None:
        """The row with cases; None when this specification or reference is of no use (`problems` says why)."""
        kind, reference = attempt.reference
        prompt = task_prompt(row, attempt.spec, attempt.description, None if "numpy" in kind.lower() else reference)
        if prompt is None:
            raise _Rejected(
                "no_prompt", "nothing says what the program computes: give `prompt` or `description`, or --endpoint"
            )
        try:
            source = attempt.source()
        except SpecError as error:
            problems.append(f"bad_specification: {error}")
            return None
        for budget in range(len(BUDGETS)):
            try:
                cases = attempt.cases or five_cases(attempt.spec, attempt=budget)
                ready = self._row(row, attempt, prompt, source, cases)
                self._check(ready)
            except _Slow as slow:
                problems.append(f"reference_slow: {slow}")
                if attempt.cases:
                    return None
                continue
            except SpecError as error:
                problems.append(f"bad_specification: {error}")
                return None
            except (TaskError, _Rejected) as error:
                reason = error.reason if isinstance(error, _Rejected) else "bad_specification"
                problems.append(f"{reason}: {error}")
                return None
            details = {"cases": len(cases), "reference": attempt.reference[0], "reference_sha256": sha256_text(source)}
            if self.asker is not None and attempt.by_model:
                details["model"] = self.asker.model
            return Kept(ready, details)
        return None

    def _row(self, row: Row, attempt: Attempt, prompt: str, source: str, cases: list[dict[str, Any]]) -> Row:
        spec = attempt.spec
        family = row.get("family") or attempt.family or family_of(row)
        record = {
            "id": task_identity(row),
            "name": row.get("name"),
            "family": family,
            "split": None,
            "prompt": prompt,
            "system": None,
            "inputs": [{"name": each.name, "dtype": each.dtype, "shape": list(each.shape)} for each in spec.inputs],
            "outputs": [{"name": each.name, "dtype": each.dtype, "shape": list(each.shape)} for each in spec.outputs],
            "cases": cases,
            "reference": source,
            "idioms": row.get("idioms") or [],
            "licence": row["source"].get("licence"),
        }
        # `prompt` stays the source's own, by which tasks are told apart.
        return {**row, "task": record, "family": family}

    def _check(self, row: Row) -> None:
        """Make every case with the reference, and see whether they tell right from wrong.

        Raises:
            _Rejected: not so. _Slow: the reference took too long or too much. OracleError: the judge's side failed.
        """
        try:
            task = load_task(row)
        except TaskError as error:
            raise _Rejected("bad_specification", str(error)) from None
        prepared = []
        for case in task.cases:
            try:
                prepared.append(self._cache.prepare(task, case))
            except OracleError as error:
                if is_infra(error):
                    raise
                if is_slow(error):
                    raise _Slow(str(error)) from None
                raise _Rejected("reference_fails", str(error)) from None
        passing = passing_probes(task, prepared)
        if passing:
            raise _Rejected("weak_cases", f"an output that nobody computed passes every case: {', '.join(passing)}")


class _Slow(Exception):
    """A reference ran into its limits: smaller sizes may help."""


def is_slow(error: OracleError) -> bool:
    return "was stopped: over its limit" in str(error)


def is_infra(error: OracleError) -> bool:
    """Whether the judge's side failed, rather than the script it ran."""
    text = str(error)
    return (
        error.__cause__ is not None
        or "could not be run" in text
        or "there is no room" in text
        or "while it is read" in text
    )
