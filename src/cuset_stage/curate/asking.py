"""What a language model is asked about a kernel, and what of its answer is believed: nothing that was not checked.

The model describes the program, specifies its inputs and writes a NumPy reference; cases.py makes inputs with it and runs the
reference. What is wrong is told to the model, which may try again. Imports httpx when it asks.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..generate import Backend, Failure, GenerationError, Request, Settings
from ..generate.plan import sample_seed
from .input_spec import KINDS, SpecError
from .signature import AdaptError, Signature
from .sizes import CASES
from .stage_rows import CurationError, Row, sha256_text


if TYPE_CHECKING:
    from ..generate.endpoint import EndpointBackend

Result = TypeVar("Result")
GIVE_UP_AFTER = 10  # rows in a row that the endpoint failed: the rest is left for the next run
LONGEST_TIMEOUT_S = 86_400.0
# What servers say of one prompt: too long, too large, not to be processed, against their rules. Other refusals (no credit left,
# a wrong path, a redirection) meet every row alike, and a row must not be dropped for them.
REFUSALS = frozenset((400, 413, 414, 422, 451))
_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)


class AskError(RuntimeError):
    """No use could be made of the endpoint.

    Args:
        again: it failed, and not what it said about this row.
        reason: why the row is dropped, where it is not asked again.
    """

    def __init__(self, message: str, *, again: bool, reason: str = "unusable_reply") -> None:
        super().__init__(message)
        self.again = again
        self.reason = reason


@dataclass(frozen=True)
class Suggestion:
    """What a reply holds, not yet checked against the program. spec: as `spec.parse_spec` takes it."""

    description: str
    family: str | None
    spec: Mapping[str, Any]
    reference: str | None
    cases: Any


@dataclass
class Asker:
    """An OpenAI-compatible endpoint, and how it is asked.

    Args:
        endpoint: the base address; model: the name under which it serves the model.
        api_key: sent as a bearer token, never written.
        tries: replies to one row that may be unusable before the row is dropped.
        timeout_s, retries, backoff_s: as in `EndpointBackend`.

    Raises:
        CurationError: an option is out of its range. It would be wrong for every row, and no row is to blame.
    """

    endpoint: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 0.2
    seed: int = 0
    max_tokens: int = 4096
    tries: int = 3
    timeout_s: float = 300.0
    retries: int = 3
    backoff_s: float = 1.0
    extra_body: Mapping[str, Any] | None = None
    # A list, so that threads share it. It is no part of what makes two askers equal.
    _failed: list[int] = field(default_factory=lambda: [0], repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise CurationError(f"--retries {self.retries}: a whole number, at least 0.")
        if not 0 < self.timeout_s <= LONGEST_TIMEOUT_S:  # not so for NaN either
            raise CurationError(
                f"--timeout {self.timeout_s:g}: more than 0 and at most {LONGEST_TIMEOUT_S:g} seconds for a request."
            )
        if self.tries < 1 or not (math.isfinite(self.backoff_s) and self.backoff_s >= 0):
            raise CurationError(f"tries {self.tries}, backoff_s {self.backoff_s}: at least 1, and at least 0.")

    def record(self) -> dict[str, Any]:
        """What the answers depend on."""
        return {
            "model": self.model,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "tries": self.tries,
            "extra_body": self.extra_body,
            "prompt": sha256_text(_ASK),
        }

    def ask(self, row: Row, signature: Signature | None, accept: Callable[[Suggestion], Result]) -> Result:
        """What `accept` makes of a reply; a SpecError or AdaptError that it raises is told to the model.

        Raises:
            AskError: the endpoint fails or refuses the prompt, or the last reply was as unusable as those before.
        """
        messages = [{"role": "user", "content": question(row, signature)}]
        problem = ""
        for attempt in range(self.tries):
            reply = self._answer(messages, row["id"], attempt)
            try:
                return accept(parse_reply(reply))
            except (SpecError, AdaptError) as error:
                problem = str(error)
            correction = f"That cannot be used: {problem}\nGive both blocks again, complete and corrected."
            messages = [messages[0], {"role": "assistant", "content": reply}, {"role": "user", "content": correction}]
        raise AskError(f"{problem} (after {self.tries} replies)", again=False)

    def _answer(self, messages: list[dict[str, str]], identity: str, attempt: int) -> str:
        with _GUARD:
            if self._failed[0] >= GIVE_UP_AFTER:
                raise AskError(f"not asked: the endpoint failed {GIVE_UP_AFTER} rows one after the other", again=True)
        try:
            digest = sha256_text(json.dumps(messages))
            request = Request(identity, attempt, tuple(messages), sample_seed(self.seed, identity, attempt), digest)
            reply = next(iter(self._backend().replies([request])))
            problem = reply.message if isinstance(reply, Failure) else None
        except GenerationError as error:
            reply, problem = None, str(error)
            _LOCAL.asker = None  # this back end has ended its run and may not be asked again
        if isinstance(reply, Failure) and _refuses_prompt(reply.message):
            # Nor is it an answer: whether the endpoint works for other rows is left as it was.
            raise AskError(
                f"the endpoint refuses the prompt of {len(messages)} messages: {reply.message}. Give a model that takes longer "
                "prompts, or `spec` with numpy_code or cpu_code; --fresh asks again",
                again=False,
                reason="refused",
            )
        with _GUARD:
            self._failed[0] = 0 if problem is None else self._failed[0] + 1
        if problem is not None:
            raise AskError(problem, again=True)
        # Half a surrogate pair is JSON, but no text that could be sent back or written.
        return reply.answer.encode("utf-8", "replace").decode("utf-8")

    def _backend(self) -> EndpointBackend:
        """This thread's own, made once: what a back end has learnt of the server holds for the rows to come, too.

        Kept beside the asker and not in it, because Ray pickles askers.
        """
        from ..generate.endpoint import EndpointBackend

        if getattr(_LOCAL, "asker", None) != self:
            settings = Settings(
                Backend.ENDPOINT,
                self.model,
                temperature=self.temperature,
                seed=self.seed,
                max_tokens=self.max_tokens,
                extra_body=self.extra_body,
            )
            _LOCAL.backend = EndpointBackend(
                settings, self.endpoint, api_key=self.api_key, concurrency=1, timeout_s=self.timeout_s,
                retries=self.retries, backoff_s=self.backoff_s, tells_usage=False,
            )  # fmt: skip
            _LOCAL.asker = self
        return _LOCAL.backend


def _refuses_prompt(message: str) -> bool:
    """Whether a failure is about this prompt, from its "status 400: ..."."""
    status = re.match(r"status (\d{3}):", message)
    return status is not None and int(status[1]) in REFUSALS


_LOCAL = threading.local()
_GUARD = threading.Lock()

_ASK = """\
You prepare a test for a CUDA program. You get its source; write what is needed to check it on inputs of several sizes.

Answer with two blocks and nothing else.

1. A ```json block with one object:
- "description": two to six sentences that tell a programmer who does not see the source what to compute, with the formula.
- "family": one of matrix product, reduction, scan, softmax, normalisation, convolution, stencil, transpose, histogram, sort, sparse, \
attention, image, physics, random numbers, graph, element-wise, other.
- "sizes": {name: {"min": 1, "max": 65536, "multiple_of": 1}} for every size that may vary.
- "inputs": {array: {"dtype": "float32", "shape": ["rows", "cols"], "values": {"kind": "normal", "mean": 0, "std": 1}}}. Shapes are \
numbers, sizes, or arithmetic over them with + - * // %. Kinds of values: <kinds>. "indices" with "below" for arrays of indices.
- "outputs": {array: {"dtype": "float32", "shape": [...], "tolerance": [rtol, atol]}}; [0, 0] for whole numbers.
- "scalars": {parameter: number or arithmetic over the sizes} for parameters that are no size.
- "cases": a list of five {"name": ..., "parameters": {size: number}}, the names <cases>: sizes that are powers of two, odd and \
prime-like ones, smaller than a block, large (all files under 64 MiB), and one more for special values. Or leave it out.

2. A ```python block that defines `def reference(inputs)`: a dict of NumPy arrays in (the shapes above), a dict with every output \
as a NumPy array of its dtype and shape out. Use NumPy alone. Compute what the program is meant to compute from its definition, in \
float64, and do not imitate its threads.
"""


def question(row: Row, signature: Signature | None) -> str:
    """The whole prompt for a row."""
    parts = [_ASK.replace("<kinds>", ", ".join(KINDS)).replace("<cases>", ", ".join(CASES))]
    if row.get("prompt") or row.get("description"):
        parts.append(f"What is said about the program:\n{row.get('prompt') or row['description']}")
    if signature is not None:
        arrays = "\n".join(f"- {array.name}: {array.dtype}, {array.role.value}" for array in signature.arrays)
        numbers = ", ".join(scalar.name for scalar in signature.scalars) or "none"
        changed = [array.output_name for array in signature.outputs if array.output_name != array.name]
        note = (
            f" An inout array is an input under its name and an output under another: {', '.join(changed)}."
            if changed
            else ""
        )
        if signature.counted:
            note += " Output arrays hold zeros before the call: what is not written stays 0."
        parts.append(
            f"The function `{signature.function}` takes these arrays:\n{arrays}\nand these numbers: {numbers}.{note} Name the arrays "
            "so, and name sizes after the numbers where they are the same. Do not list sizes or scalars as arrays."
        )
    else:
        files = row.get("files") or {}
        parts.append(
            f"The program reads data/<name>.bin for {', '.join(files.get('inputs', []))} and writes "
            f"{', '.join(files.get('outputs', []))}. Name the arrays so."
        )
    source = row.get("code") or row["program"]
    if row.get("wrapper"):
        source = f"{source.rstrip()}\n\n{row['wrapper'].strip()}"
    parts.append(f"```cpp\n{source.strip()}\n```")
    if row.get("cpu_code"):
        parts.append(f"What it computes on the CPU, in C++:\n```cpp\n{row['cpu_code'].strip()}\n```")
    return "\n\n".join(parts)


def parse_reply(text: str) -> Suggestion:
    """The two blocks of a reply.

    Raises:
        SpecError: no JSON object, or one without a description.
    """
    text = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL)
    blocks = [(match[1].lower(), match[2]) for match in _FENCE.finditer(text)]
    candidates = [body for name, body in blocks if name in ("json", "")] or [text]
    record: Any = None
    for body in candidates:
        start = body.find("{")
        if start < 0:
            continue
        try:
            record, _ = json.JSONDecoder().raw_decode(body, start)
            break
        except (ValueError, RecursionError) as error:
            raise SpecError(f"the json block is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise SpecError("a ```json block with one object is missing")
    description = record.get("description")
    if not isinstance(description, str) or len(description.split()) < 5:
        raise SpecError("description: a text of at least five words was expected")
    family = record.get("family")
    spec = {key: record[key] for key in ("sizes", "inputs", "outputs", "scalars") if record.get(key) is not None}
    reference = next((body for name, body in blocks if name in ("python", "py") and "def reference" in body), None)
    return Suggestion(
        description.strip(), family if isinstance(family, str) else None, spec, reference, record.get("cases")
    )
