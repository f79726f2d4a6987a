"""The checks of a task whose answer is a program. No GPU is needed: what is judged are files that are made here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ...files import file_sha256
from ...sandbox import scratch_folder
from ...tasks.base import Case, ProgramTask, ScriptOracle, Tensor
from ..comparison import compare_outputs
from ..oracle import CaseCache, PreparedCase, written_files
from ..oracle_runs import COMPARE_LIMITS, OracleError, OracleUnavailable, oracle_folder, run_compare, run_generate
from ..script_references import BROKEN
from .findings import Code, Finding, Severity
from .script_paths import reads_elsewhere
from .wrong_outputs import (
    MIDDLE,
    NAN,
    NOISY_OUTPUTS,
    WRONG_OUTPUTS,
    Candidate,
    CaseView,
    half_right,
    input_copies,
    is_float,
    real_dtype,
    unchecked,
    write_chunks,
)


NEAR_ZERO = 1e-3  # of the largest value
NEAR_CONSTANT = 0.01  # of the spread, as a part of the largest value
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
PLURAL = (Code.ZEROS_PASS, Code.ONES_PASS, Code.RANDOM_PASSES, Code.OUTPUT_UNCHECKED, Code.PART_UNCHECKED)


@dataclass
class ProgramAudit:
    """One audit in progress; `findings` holds what was found so far."""

    task: ProgramTask
    cases: CaseCache
    findings: list[Finding] = field(default_factory=list)

    def add(self, code: Code, severity: Severity, message: str) -> None:
        self.findings.append(Finding(self.task.id, code, severity, message))

    def run(self) -> None:
        """Raises OracleError when a case cannot be made."""
        oracle = self.task.oracle
        prepared = [self.cases.prepare(self.task, case) for case in self.task.cases]
        self._check_sizes()
        for case, files in zip(self.task.cases, prepared, strict=True):
            self._check_files(case, files)
        if isinstance(oracle, ScriptOracle):
            self._check_script(oracle, prepared[0])
        with self._made_again(prepared) as again:
            views = _views(self.task, prepared, again)
            self._check_values(views)
            accepted = self._try_all(views)
            if isinstance(oracle, ScriptOracle):
                self._try_script(oracle, views[0], accepted)

    def _check_sizes(self) -> None:
        cases = self.task.cases
        shapes = {tuple(tensor.shape for tensor in case.inputs + case.outputs) for case in cases}
        if isinstance(self.task.oracle, ScriptOracle) or len(shapes) > 1:
            return  # a row of CUDABench is one size, and another row the next
        if len(cases) > 1:
            text = f"all {len(cases)} cases have the same sizes: a program that is right for these alone passes"
            self.add(Code.ONE_SIZE, WARNING, text)
        else:
            self.add(Code.ONE_SIZE, NOTE, "there is one case, so one size: a program may be right for it alone")

    def _check_files(self, case: Case, files: PreparedCase) -> None:
        for tensor in case.outputs:
            path = files.expected.get(tensor.file)
            if real_dtype(tensor) is None:
                text = f"output {tensor.name} has the dtype {tensor.dtype!r}, which NumPy has not: its values are not seen"
                blind = tensor.nbytes is None and path is None
                if blind:
                    text += (
                        ", and without a reference its size is not known: compare.py alone judges files of any size"
                    )
                self.add(Code.UNKNOWN_DTYPE, WARNING if blind else NOTE, text)
            if tensor.nbytes is not None and path is not None and path.stat().st_size != tensor.nbytes:
                text = f"its reference has {path.stat().st_size}: compare.py judges outputs of either size"
                self.add(Code.SIZE_DIFFERS, WARNING, f"output {_declared(tensor)}, and {text}")
        for tensor in case.inputs:
            size = files.inputs[tensor.file].stat().st_size
            if tensor.nbytes not in (None, size):
                text = f"gen.py writes {size}: a program that reads what is declared reads other data than compare.py"
                self.add(Code.SIZE_DIFFERS, WARNING, f"input {_declared(tensor)}, and {text}")

    def _check_script(self, oracle: ScriptOracle, prepared: PreparedCase) -> None:
        if paths := reads_elsewhere(oracle.compare):
            text = f"compare.py names files outside data/ ({', '.join(paths)}), which are not there when it judges"
            self.add(Code.SCRIPT_READS_ELSEWHERE, WARNING, text)
        check = prepared.self_check
        if check is None or check.passed:
            return
        if check.broken:
            said = f": {check.message}" if check.message else ""
            text = (
                f"given its own reference as output, compare.py {BROKEN[check.state]}{said}; no answer can be judged"
            )
            self.add(Code.REFERENCE_REFUSED, ERROR, text)
            return
        text = (
            f"it is not known which file of gen.py is right for which output ({check.message}): compare.py was not tried on "
            "right outputs"
        )
        if check.generate_exit:  # it may have ended before its reference
            self.add(Code.REFERENCE_UNPAIRED, WARNING, f"{text}; gen.py ended with {check.generate_exit}")
        else:
            self.add(Code.REFERENCE_UNPAIRED, NOTE, text)

    def _check_values(self, views: Sequence[CaseView]) -> None:
        for index, tensor in enumerate(self.task.cases[0].outputs):
            seen = [view.profiles.get(view.case.outputs[index].file) for view in views]
            if not all(seen):
                continue
            if not all(profile.finite for profile in seen):
                text = f"the reference of {tensor.name} holds values that are not finite; what a program writes there is not seen"
                self.add(Code.NOT_FINITE, NOTE, text)
            if not is_float(tensor):
                continue
            largest = max(profile.largest for profile in seen)
            if 0 < largest < NEAR_ZERO:
                text = f"the largest value of {tensor.name} is {largest:.3g}: an absolute tolerance may be larger than the values"
                self.add(Code.NEAR_ZERO, NOTE, text)
            if all(
                profile.elements > 1 and 0 < profile.maximum - profile.minimum <= NEAR_CONSTANT * profile.largest
                for profile in seen
            ):
                text = f"the values of {tensor.name} lie within {NEAR_CONSTANT:.0%} of each other in every case"
                self.add(Code.NEAR_CONSTANT, NOTE, text)

    def _try_all(self, views: Sequence[CaseView]) -> set[Code]:
        """Try every kind of wrong output; the kinds that pass in every case."""
        accepted = {candidate.code for candidate in WRONG_OUTPUTS if self._try(candidate, views)}
        if Code.CONSTANT_PASSES not in accepted and self._try(MIDDLE, views):
            accepted.add(Code.CONSTANT_PASSES)
        if any(self._try(candidate, views) for candidate in input_copies(views[0])):
            accepted.add(Code.INPUT_PASSES)
        any(self._try(candidate, views) for candidate in NOISY_OUTPUTS)  # less noise than what passes passes, too
        outputs = self.task.cases[0].outputs
        if Code.ZEROS_PASS not in accepted:
            for tensor in outputs:
                if len(outputs) == 1 or not self._try(unchecked(tensor.name), views):
                    self._try(half_right(tensor.name), views)
        return accepted

    def _try(self, candidate: Candidate, views: Sequence[CaseView]) -> bool:
        """Whether these outputs pass in every case; a finding when they do. An output for which this kind makes no sense is
        given its right value."""
        covered: set[str] | None = None
        for view in views:
            with _written(candidate, view) as (outputs, names):
                if not names or len(outputs) < len(view.case.outputs) or not self._passes(view, outputs):
                    return False
                covered = names if covered is None else covered & names
        if not covered:
            return False
        whole = len(covered) == len(self.task.cases[0].outputs)
        where = " in every case" if len(views) > 1 else ""
        pass_ = "pass" if candidate.code in PLURAL else "passes"
        what = f"{candidate.what} {pass_} as {', '.join(sorted(covered))}{where}"
        if not whole and candidate.code is not Code.OUTPUT_UNCHECKED:
            what += ", the other outputs being right"
        self.add(candidate.code, candidate.severity if whole or candidate.severity is NOTE else WARNING, what)
        return True

    def _passes(self, view: CaseView, outputs: Mapping[str, Path]) -> bool:
        try:
            isolation = self.cases.isolation
            return compare_outputs(self.task, view.case, view.prepared, outputs, isolation=isolation).passed
        except OracleUnavailable:
            raise  # of this machine: what would have come out is not known
        except OracleError:  # a compare.py that cannot judge passes nothing; _check_script reports it
            return False

    def _try_script(self, oracle: ScriptOracle, view: CaseView, accepted: set[Code]) -> None:
        """What compare.py alone would accept. Our judge refuses these before it is asked; other judges may not."""
        files = {**view.prepared.inputs, **view.prepared.references}

        def try_on(outputs: Mapping[str, Path], code: Code, what: str) -> None:
            try:
                printed = run_compare(self.task, oracle, {**files, **outputs}, COMPARE_LIMITS, self.cases.isolation)
            except OracleUnavailable:
                raise
            except OracleError:
                return
            if printed.verdict is True and not printed.crashed:
                text = "; this judge refuses it all the same, one that asks compare.py alone does not"
                self.add(code, NOTE, f"compare.py prints T {what}{text}")

        with scratch_folder() as folder:
            empty = folder / "empty.bin"
            write_chunks(empty, iter(()))
            try_on({}, Code.SCRIPT_ACCEPTS_NOTHING, "without any output file")
            outputs = {tensor.file: empty for tensor in view.case.outputs}
            try_on(outputs, Code.SCRIPT_ACCEPTS_EMPTY, "for empty output files")
        if Code.NAN_PASSES not in accepted:
            with _written(NAN, view) as (outputs, names):
                if names:
                    where = f"for NaN everywhere in {', '.join(sorted(names))}"
                    try_on(outputs, Code.SCRIPT_ACCEPTS_NAN, where)

    @contextmanager
    def _made_again(self, prepared: Sequence[PreparedCase]) -> Iterator[Mapping[str, Path]]:
        """Make the data a second time and compare; gives right outputs of other inputs where gen.py draws others."""
        if isinstance(self.task.oracle, ScriptOracle):
            with oracle_folder() as work:
                yield self._generate_again(self.task.oracle, prepared[0], work)
            return
        with scratch_folder() as folder:
            again = CaseCache(folder / "again", limits=self.cases.limits, isolation=self.cases.isolation)
            for case, files in zip(self.task.cases, prepared, strict=True):
                if _differing(files, again.prepare(self.task, case).sha256):
                    text = f"make_inputs or reference gives other values when it is run again (case {case.name})"
                    self.add(Code.NOT_REPRODUCIBLE, WARNING, f"{text}: draw from rng alone")
                    break
        yield {}

    def _generate_again(self, oracle: ScriptOracle, prepared: PreparedCase, work: Path) -> Mapping[str, Path]:
        limits, isolation = self.cases.limits, self.cases.isolation
        run_generate(self.task, oracle, work, limits, isolation, seeded=False)
        differing = _differing(prepared, _digests(work))
        if not differing:
            return {}
        with oracle_folder() as seeded:
            run_generate(self.task, oracle, seeded, limits, isolation)
            lasting = _differing(prepared, _digests(seeded))
        if lasting:
            text = f"gen.py writes other values into {', '.join(lasting)} whenever it runs, also from a given seed"
            self.add(Code.NOT_REPRODUCIBLE, WARNING, f"{text}: machines differ in what they judge on")
        else:
            text = f"gen.py draws {', '.join(differing)} without a seed: this judge gives it one, others judge on other values"
            self.add(Code.UNSEEDED_INPUTS, NOTE, text)
        if not set(differing) & set(prepared.inputs):
            return {}
        names = {output: str(path.relative_to(prepared.folder)) for output, path in prepared.expected.items()}
        written = written_files(work)
        return {output: work / name for output, name in names.items() if name in written}


def _declared(tensor: Tensor) -> str:
    return f"{tensor.name} is declared with {tensor.nbytes} bytes ({tensor.dtype}, {tensor.shape})"


def _views(task: ProgramTask, prepared: Sequence[PreparedCase], again: Mapping[str, Path]) -> list[CaseView]:
    """Each case with the right outputs of the case before it, the first with those of the last."""
    views: list[CaseView] = []
    for index, (case, files) in enumerate(zip(task.cases, prepared, strict=True)):
        other = again or ({} if len(prepared) == 1 else prepared[index - 1].expected)
        views.append(CaseView(case, files, other, views[0] if views else None, alone=len(prepared) == 1))
    return views


@contextmanager
def _written(candidate: Candidate, view: CaseView) -> Iterator[tuple[dict[str, Path], set[str]]]:
    """The outputs as files, and the names of those that the candidate made; the others are the right ones."""
    with scratch_folder() as folder:
        outputs: dict[str, Path] = {}
        names: set[str] = set()
        for tensor in view.case.outputs:
            chunks = candidate.make(view, tensor)
            if chunks is not None:
                outputs[tensor.file] = folder / f"{tensor.name}.bin"
                write_chunks(outputs[tensor.file], chunks)
                names.add(tensor.name)
            elif tensor.file in view.prepared.expected:
                outputs[tensor.file] = view.prepared.expected[tensor.file]
        yield outputs, names


def _digests(work: Path) -> dict[str, str]:
    return {name: file_sha256(work / name) for name in written_files(work)}


def _differing(prepared: PreparedCase, digests: Mapping[str, str]) -> list[str]:
    return [name for name, sha256 in prepared.sha256.items() if digests.get(name) != sha256]
