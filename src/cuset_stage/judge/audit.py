"""Finds tasks whose oracle passes wrong outputs or refuses right ones. No GPU is needed.

Each task is tried with outputs of a program that computes nothing: zeros, ones, a constant, a copy of an input, the
right outputs for other inputs, random values of the right mean and deviation, NaN. It is also tried with right values
that are slightly off. The task's data is made twice. A wrong output that passes is reported only if it
passes in every case of the task, since a program must pass all of them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from ..files import file_sha256, is_regular, write_atomically
from ..sandbox import Isolation, SandboxError, cache_root, scratch_folder
from ..tasks.base import Case, ModuleTask, ProgramTask, ScriptOracle, Task
from .closeness import MODULE_TOLERANCES, values_of
from .comparison import compare_outputs
from .modules import ModuleJudge
from .modules.session import Content, Module, Saved
from .oracle import BROKEN, CaseCache, OracleError, PreparedCase, written_files
from .wrong_outputs import Candidate, Code, Output, Severity, candidate_groups, profile, unchecked


AUDIT_VERSION = 6  # raised when checks change, so that earlier audits are made again
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
MODULE_TOLERANCE = MODULE_TOLERANCES["float32"]  # absolute and relative
MODULE_SEEDS = (0, 1)  # for drawing a module's inputs


@dataclass(frozen=True)
class Finding:
    """One problem of a task, which is given by its id."""

    task: str
    code: Code
    severity: Severity
    message: str


@dataclass(frozen=True)
class Audit:
    """The audit of one task, which is given by its id and the fingerprint of its content.

    Attributes:
        findings: The findings, the worst first.
        seconds: How long the audit took.
        complete: False if something of this machine, such as a missing GPU, kept the audit from its end. Such an audit
            is not cached.
    """

    task: str
    fingerprint: str
    findings: tuple[Finding, ...]
    seconds: float
    complete: bool = True

    @property
    def flagged(self) -> tuple[Finding, ...]:
        """The findings that put verdicts on the task in doubt."""
        return tuple(finding for finding in self.findings if finding.severity is not NOTE)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The other findings."""
        return tuple(finding for finding in self.findings if finding.severity is NOTE)

    def as_record(self) -> dict[str, Any]:
        """Return a line of audit.jsonl: "findings" are those that put verdicts in doubt, "notes" are the others."""
        record = {"task": self.task, "fingerprint": self.fingerprint}
        record |= {"findings": [*map(asdict, self.flagged)], "notes": [*map(asdict, self.notes)]}
        return record | {"seconds": round(self.seconds, 3), "complete": self.complete}


_STORED = TypeAdapter(tuple[int, Audit])  # the int is AUDIT_VERSION


def _place(fingerprint: str) -> Path:
    return cache_root() / "audit" / fingerprint[:2] / f"{fingerprint}.json"


def load_audit(task: Task) -> Audit | None:
    """Return the cached audit of the task's present content, or None if there is none."""
    try:
        version, audit = _STORED.validate_json(_place(task.fingerprint).read_bytes())
    except (OSError, ValueError):
        return None
    return audit if version == AUDIT_VERSION else None


def audit_task(task: Task, cases: CaseCache) -> Audit:
    """Return the task's audit from the cache, or else make one from the cases that judging uses, and cache it.

    Raises:
        OSError: A cache cannot be written.
    """
    if (cached := load_audit(task)) is not None:
        return cached
    started = time.monotonic()
    findings: list[Finding] = []
    complete = True
    try:
        if isinstance(task, ModuleTask):
            findings += audit_module(task, cases.isolation)
        elif task.project is None:  # a project's own tests decide, and its output says only that they have ended
            ProgramAudit(task, cases, findings).run()
    except (OracleError, SandboxError) as error:
        complete = False
        findings.append(Finding(task.id, Code.ORACLE_FAILS, ERROR, str(error)))
    worst_first = sorted(findings, key=lambda finding: list(Severity).index(finding.severity))
    audit = Audit(task.id, task.fingerprint, tuple(worst_first), time.monotonic() - started, complete)
    if complete:
        write_atomically(_place(task.fingerprint), _STORED.dump_json((AUDIT_VERSION, audit)).decode())
    return audit


def audit_tasks(tasks: Sequence[Task], cases: CaseCache, *, jobs: int = 1) -> Iterator[Audit]:
    """Yield the audits as they end, with `jobs` audits at a time.

    Closing the iterator drops the audits that have not begun.
    """
    pool = ThreadPoolExecutor(jobs)
    try:
        for future in as_completed([pool.submit(audit_task, task, cases) for task in tasks]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


class _View(NamedTuple):
    """A case as candidates for wrong outputs see it: its outputs have the files that wrong ones can be made from."""

    case: Case
    files: PreparedCase
    outputs: tuple[Output, ...]


@dataclass
class ProgramAudit:
    """The audit in progress of a task whose answer is a program. It judges output files that are made here.

    The list of findings grows as the audit goes on.
    """

    task: ProgramTask
    cases: CaseCache
    findings: list[Finding] = field(default_factory=list)

    def add(self, code: Code, severity: Severity, message: str) -> None:
        """Add a finding, unless an earlier case has given the same one."""
        finding = Finding(self.task.id, code, severity, message)
        if finding not in self.findings:
            self.findings.append(finding)

    def run(self) -> None:
        """Do all checks. Raises OracleError when a case cannot be made."""
        cases = self.task.cases
        prepared = [self.cases.prepare(self.task, case) for case in cases]
        if isinstance(self.task.oracle, ScriptOracle):  # each row of CUDABench is a task of one size
            self._check_script(prepared[0])
        elif len(cases) == 1:
            self.add(Code.ONE_SIZE, NOTE, "there is one case, so one size: a program may be right for it alone")
        elif len({tuple(tensor.shape for tensor in case.inputs + case.outputs) for case in cases}) == 1:
            text = f"all {len(cases)} cases have the same sizes: a program that is right for these alone passes"
            self.add(Code.ONE_SIZE, WARNING, text)
        with scratch_folder() as folder:
            views = self._views(prepared, self._make_again(prepared, folder))
            for view in views:
                self._check_files(view)
            self._try_all(views)

    def _views(self, prepared: Sequence[PreparedCase], again: Mapping[str, Path]) -> list[_View]:
        """Return a view of each case, in which each output also has right values for other inputs.

        These come from `again` if there are any. Else they are the right outputs of the case before, and for the first
        case those of the last.
        """
        views: list[_View] = []
        for index, (case, files) in enumerate(zip(self.task.cases, prepared, strict=True)):
            others = again or (prepared[index - 1].expected if len(prepared) > 1 else {})
            outputs = []
            for tensor in case.outputs:
                inputs = {
                    source.name: path
                    for source in case.inputs
                    if (source.dtype, source.nbytes) == (tensor.dtype, tensor.nbytes)
                    and (path := files.inputs[source.file]).stat().st_size == source.nbytes
                }
                outputs.append(Output(tensor, files.expected.get(tensor.file), others.get(tensor.file), inputs))
            views.append(_View(case, files, tuple(outputs)))
        return views

    def _check_files(self, view: _View) -> None:
        """Check that output values can be compared, and that files have their declared sizes."""
        for output in view.outputs:
            tensor = output.tensor
            if output.dtype is None:
                text = f"output {tensor.name} has the dtype {tensor.dtype!r}, which NumPy has not: its values are not seen"
                blind = tensor.nbytes is None and output.expected is None
                if blind:
                    text += ", nor is its size known without a reference: compare.py alone judges files of any size"
                self.add(Code.UNKNOWN_DTYPE, WARNING if blind else NOTE, text)
            elif output.seen and not output.seen.finite:
                text = f"the reference of {tensor.name} holds values that are not finite; what a program writes there is not seen"
                self.add(Code.NOT_FINITE, NOTE, text)
        outputs = [(output.tensor, output.expected) for output in view.outputs if output.expected]
        inputs = [(tensor, view.files.inputs[tensor.file]) for tensor in view.case.inputs]
        for what, files, means in (
            ("output", outputs, "compare.py judges outputs of either size"),
            ("input", inputs, "a program that reads what is declared reads other data than compare.py"),
        ):
            for tensor, path in files:
                if tensor.nbytes not in (None, size := path.stat().st_size):
                    declared = f"{tensor.nbytes} bytes ({tensor.dtype}, {tensor.shape}), and gen.py writes {size}"
                    self.add(Code.SIZE_DIFFERS, WARNING, f"{what} {tensor.name} is declared with {declared}: {means}")

    def _check_script(self, prepared: PreparedCase) -> None:
        """Check that compare.py accepts gen.py's own reference."""
        check = prepared.self_check
        if check.broken:
            did = f"{BROKEN[check.state]}: {check.message}" if check.message else BROKEN[check.state]
            text = f"given its own reference as output, compare.py {did}; no answer can be judged"
            self.add(Code.REFERENCE_REFUSED, ERROR, text)
        elif not check.passed:
            text = f"which file of gen.py is right for which output is not known ({check.message}): compare.py was not tried on them"
            self.add(Code.REFERENCE_UNPAIRED, NOTE, text)

    def _try_all(self, views: Sequence[_View]) -> None:
        """Try every kind of wrong output. Of a group of similar kinds, stop at the first that passes."""
        outputs = views[0].outputs
        for candidates in candidate_groups(outputs, alone=len(views) == 1):
            any(self._try(candidate, views) for candidate in candidates)
        if any(finding.code is Code.ZEROS_PASS for finding in self.findings):
            return
        for name in (output.tensor.name for output in outputs):
            if len(outputs) == 1 or not self._try(unchecked(name), views):
                self._try(unchecked(name, half=True), views)

    def _try(self, candidate: Candidate, views: Sequence[_View]) -> bool:
        """Return whether the candidate's outputs pass in every case, and add a finding if they do.

        An output for which this kind of wrong output makes no sense gets its right value.
        """
        covered = {output.tensor.name for output in views[0].outputs}
        count = len(covered)
        for view in views:
            with _written(candidate, view) as (files, names):
                covered &= names
                if not covered or len(files) < count or not self._passes(view, files):
                    return False
        what = f"{candidate.what} as {', '.join(sorted(covered))}{' in every case' if len(views) > 1 else ''}"
        whole = len(covered) == count
        if not whole and candidate.code is not Code.OUTPUT_UNCHECKED:
            what += ", the other outputs being right"
        self.add(candidate.code, candidate.severity if whole else WARNING, what)
        return True

    def _passes(self, view: _View, outputs: Mapping[str, Path]) -> bool:
        try:
            return compare_outputs(self.task, view.case, view.files, outputs, isolation=self.cases.isolation).passed
        except OracleError:  # a compare.py that cannot judge passes nothing; `_check_script` reports it
            return False

    def _make_again(self, prepared: Sequence[PreparedCase], folder: Path) -> Mapping[str, Path]:
        """Make the data a second time and add a finding if it differs.

        Returns:
            "data/<output>.bin" -> right output for other inputs, if gen.py draws other inputs on its own. Else empty.
        """
        if isinstance(self.task.oracle, ScriptOracle):
            return self._generate_again(prepared[0], folder)
        again = CaseCache(folder / "again", limits=self.cases.limits, isolation=self.cases.isolation)
        for case, files in zip(self.task.cases, prepared, strict=True):
            if again.prepare(self.task, case).sha256 != files.sha256:
                text = f"make_inputs or reference gives other values when it is run again (case {case.name})"
                self.add(Code.NOT_REPRODUCIBLE, WARNING, f"{text}: draw from rng alone")
                break
        return {}

    def _generate_again(self, prepared: PreparedCase, folder: Path) -> Mapping[str, Path]:
        """Do what `_make_again` does for a task with a gen.py, which is run without and then with a seed."""

        def generated(name: str, seeded: bool) -> list[str]:
            """Run gen.py once more and return the files that differ from the first run."""
            (folder / name).mkdir()
            self.cases.run_generate(self.task, folder / name, seeded=seeded)
            digests = {file: file_sha256(folder / name / file) for file in written_files(folder / name)}
            return [file for file, sha256 in prepared.sha256.items() if digests.get(file) != sha256]

        if not (differing := generated("unseeded", False)):
            return {}
        if lasting := generated("seeded", True):
            text = f"gen.py writes other values into {', '.join(lasting)} whenever it runs, also from a given seed"
            self.add(Code.NOT_REPRODUCIBLE, WARNING, f"{text}: machines differ in what they judge on")
        else:
            text = f"gen.py draws {', '.join(differing)} without a seed: this judge gives it one, others judge on other values"
            self.add(Code.UNSEEDED_INPUTS, NOTE, text)
        if not set(differing) & set(prepared.inputs):
            return {}
        work = folder / "unseeded"
        places = {output: work / path.relative_to(prepared.folder) for output, path in prepared.expected.items()}
        return {output: path for output, path in places.items() if is_regular(path)}


@contextmanager
def _written(candidate: Candidate, view: _View) -> Iterator[tuple[dict[str, Path], set[str]]]:
    """Write the candidate's outputs of one case.

    Yields:
        All outputs as files, by path, and the names of those that the candidate made. The others are the right ones.
    """
    with scratch_folder() as folder:
        made = [output for output in view.outputs if candidate.fits(output)]
        right = {output.tensor.file: output.expected for output in view.outputs if output.expected}
        wrong = {output.tensor.file: folder / f"{output.tensor.name}.bin" for output in made}
        for output in made:
            output.write(wrong[output.tensor.file], candidate.values)
        yield right | wrong, {output.tensor.name for output in made}


def audit_module(task: ModuleTask, isolation: Isolation) -> list[Finding]:
    """Check a KernelBench task by what its model returns on the CPU for two draws of inputs.

    Finds outputs that zeros, a constant or a copy of the inputs would match, and outputs that do not depend on the
    inputs (robust-kbench's filters). Also finds inputs that differ when they are drawn again.

    Raises:
        OracleError: The model cannot be run here.
    """
    findings: list[Finding] = []

    def add(code: Code, severity: Severity, text: str) -> None:
        findings.append(Finding(task.id, code, severity, text))

    runner = ModuleJudge("cpu", isolation=isolation)
    with scratch_folder() as files, runner.reference(task, None) as model:

        def drawn(module: Module, name: str) -> list[Content]:
            return [module.draw(seed, files / f"{name}-{seed}") for seed in (None, *MODULE_SEEDS)]

        init, *draws = drawn(model, "given")
        if "time" in task.reference:
            time.sleep(1.1)  # so that a generator seeded with the time in seconds draws other values
        with runner.reference(task, None) as other:
            again = drawn(other, "again")
        if _digests([init, *draws]) != _digests(again):
            text = "get_inputs or get_init_inputs gives other values when it is run again from the same seed"
            fix = "draw from the global generators of torch, numpy.random or random, without a seed from the clock"
            add(Code.NOT_REPRODUCIBLE, WARNING, f"{text}: {fix}")
        model.build("Model", init)
        calls = [
            model.outputs(model.call(content, seed, fresh=True), files / f"outputs-{seed}")
            for seed, content in zip(MODULE_SEEDS, draws, strict=True)
        ]

        def is_copy(output: Saved, inputs: Sequence[Saved]) -> bool:
            alike = [tensor for tensor in inputs if (tensor.dtype, tensor.shape) == (output.dtype, output.shape)]
            return 0 not in output.shape and any(output.distance(tensor.path).close for tensor in alike)

        pairs = zip(calls, draws, strict=True)
        copies = all(is_copy(output, content.tensors) for call, content in pairs for output in call.outputs)

        def real_values(output: Saved) -> Any:
            values = values_of(output.path.read_bytes(), output.dtype.removeprefix("torch."))
            return values.view(values.real.dtype)

        profiles = [profile(map(real_values, call.outputs)) for call in calls]

    if not all(stats.elements for stats in profiles):
        raise OracleError(f"task {task.id}: the model's forward returns no values")
    largest = max(stats.largest for stats in profiles)
    if not all(stats.finite for stats in profiles):
        add(Code.NOT_FINITE, WARNING, "the model's output holds values that are not finite")
        return findings
    if largest <= MODULE_TOLERANCE:
        text = f"the largest output is {largest:.3g}, within the tolerance of {MODULE_TOLERANCE:g}: zeros pass"
        add(Code.ZEROS_PASS, ERROR, text)
    elif all(stats.elements > 1 and stats.std <= MODULE_TOLERANCE * (1 + abs(stats.mean)) for stats in profiles):
        text = f"all outputs are {profiles[0].mean:.6g} within the tolerance: a constant passes"
        add(Code.CONSTANT_PASSES, ERROR, text)
    if copies:
        text = "each output is a copy of an input within the tolerance: a model that returns its inputs passes"
        add(Code.INPUT_PASSES, ERROR, text)
    if calls[0].digest == calls[1].digest:
        text = "the output is the same for other inputs: it does not depend on them, or get_inputs does not draw them"
        add(Code.INPUT_INDEPENDENT, WARNING, text)
    return findings


def _digests(contents: Sequence[Content]) -> list[tuple[str, list[str]]]:
    return [(str(content.arguments), [file_sha256(tensor.path) for tensor in content.tensors]) for content in contents]
