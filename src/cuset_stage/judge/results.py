"""The results file of a judged run: one header, then a line a sample. Standard library only.

A line is appended and flushed to the disk as soon as its sample is judged, so a killed run loses what was running and
nothing else. The first line describes the run (`"type": "run"`), every other a sample (`"type": "sample"`).
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..jsonl import Appender, LinesError, read_objects
from .result_fields import NEEDED, RUN_FIELDS, SAMPLE_FIELDS, wrong_field


FORMAT = 1


class ResultsError(ValueError):
    """A results file that cannot be read or written; the message names the file, the line and the way out."""


@dataclass(frozen=True)
class Results:
    """What a results file says: the run's header, and the samples in the order of task, level and sample.

    A sample that was judged several times stands here once, as it was judged last.
    """

    run: dict[str, Any]
    samples: list[dict[str, Any]]

    @property
    def charged(self) -> list[dict[str, Any]]:
        """The samples without those the judge itself failed on (infra_error): what a share is a share of."""
        return [sample for sample in self.samples if sample["verdict"] != "infra_error"]


def code_sha256(code: str | None) -> str:
    """The SHA-256 of a sample's code, in hexadecimal; of the empty text where an answer holds no code."""
    return hashlib.sha256((code or "").encode("utf-8", errors="surrogatepass")).hexdigest()


def sample_key(sample: Mapping[str, Any]) -> tuple[str, int, str, int]:
    """What a line is about: a later line with the same key replaces an earlier one."""
    return sample["task"], sample["sample"], sample["code_sha256"], sample.get("level") or 1


def read_results(path: Path) -> Results:
    """Read a results file; a torn last line is left out with a notice.

    Raises:
        ResultsError: The file is not there, is not one of ours, or has a line that is not JSON or holds what no run gives.
    """
    path = Path(path)
    if path.is_dir():
        raise ResultsError(f"{path}: this is a folder; give the results file that `cuset evaluate` wrote.")
    if not path.is_file():
        raise ResultsError(f"{path}: no such file. `cuset evaluate` writes results.")
    run: dict[str, Any] | None = None
    samples: dict[tuple[str, int, str, int], dict[str, Any]] = {}
    try:
        for number, record in read_objects(path):
            if record.get("type") == "run":
                if problem := wrong_field(record, RUN_FIELDS):
                    raise ResultsError(
                        f"{path}:{number}: the header's {problem}. Correct the line, or judge again into another file."
                    )
                run = record
            elif record.get("type") == "sample":
                if problem := _wrong_sample(record):
                    raise ResultsError(
                        f"{path}:{number}: {problem}. Correct the line, or take it out to have the sample judged again."
                    )
                samples.pop(sample_key(record), None)  # what was written last also stands last
                samples[sample_key(record)] = record
            else:
                raise ResultsError(
                    f'{path}:{number}: no line of a results file; expected "type": "run", or "type": "sample". '
                    "`cuset evaluate` writes such a file."
                )
    except LinesError as error:
        raise ResultsError(f"{error} Take the line out to have its sample judged again.") from None
    if run is None:
        raise ResultsError(f'{path}: no header ("type": "run" in line 1): not a file that `cuset evaluate` wrote.')
    if run.get("format") != FORMAT:
        raise ResultsError(
            f"{path}: results format {run.get('format')!r}; this version of cuset-stage reads {FORMAT}."
        )
    ordered = sorted(samples.values(), key=lambda s: (s["task"], s.get("level") or 1, s["sample"]))
    return Results(run, ordered)


def _wrong_sample(record: Mapping[str, Any]) -> str | None:
    if missing := [key for key in NEEDED if key not in record]:
        return f"a sample that has no {', '.join(missing)}"
    problem = wrong_field(record, SAMPLE_FIELDS)
    return problem and f"sample {str(record['sample'])[:20]} of task {str(record['task'])[:40]}: {problem}"


class ResultsWriter:
    """Appends samples to a results file, one flushed and synchronised line each, under an exclusive lock.

    Opening it writes the file anew in one step (a temporary file, renamed): the header of this run, then the samples
    to keep. Samples that the file held before and that are not kept are added to `<name>.replaced` beside it.

    Raises:
        ResultsError: Another process writes the file, or it cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], keep: Iterable[Mapping[str, Any]] = ()) -> None:
        self.path = Path(path)
        lines = [_line({"type": "run", "format": FORMAT, **header}), *(_line(sample) for sample in keep)]
        try:
            # Held to the end: whoever opened the old file in the moment before the renaming finds it locked.
            self._old = Appender(self.path)
            staying = set(lines)
            gone = [line for line in self._lines_before() if line not in staying]
            if gone:
                with self.replaced_path.open("ab") as file:
                    file.writelines(gone)
            self._write_anew(lines)
            self._appender = Appender(self.path)
        except LinesError as error:
            raise ResultsError(str(error)) from None
        except OSError as error:
            raise ResultsError(f"cannot write {self.path}: {error.strerror}.") from None

    @property
    def replaced_path(self) -> Path:
        """Where samples go that a new run does not keep."""
        return self.path.with_name(self.path.name + ".replaced")

    def append(self, sample: Mapping[str, Any]) -> None:
        """Write one sample's line and wait until it is on the disk."""
        try:
            self._appender.append({"type": "sample", **sample})
        except LinesError as error:
            raise ResultsError(
                f"{error} What was judged before is in the file; start again when there is room."
            ) from None

    def close(self) -> None:
        self._appender.close()
        self._old.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _lines_before(self) -> list[bytes]:
        return [_line(record) for _, record in read_objects(self.path) if record.get("type") != "run"]

    def _write_anew(self, lines: list[bytes]) -> None:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(handle)
            os.chmod(name, os.stat(self.path).st_mode & 0o777)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", errors="surrogatepass") + b"\n"
