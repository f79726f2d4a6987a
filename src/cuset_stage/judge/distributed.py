"""Judge on the machines of a Ray cluster: an actor a machine, each with the pipeline that a single machine has.

Every machine needs cuset-stage, nvcc (and, with GPUs, the driver); caches are each machine's own. Ray is imported when
a `RayBackend` is made, and is no dependency of ours: `pip install ray`.
"""

import logging
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..sandbox import SandboxError
from .bench import Bench
from .judge_spec import JudgeSpec
from .judgement import Judgement, infra_error
from .oracle_runs import last_line, preparation_cost
from .pipeline import Job, describe, in_order


logger = logging.getLogger(__name__)


class Node:
    """What runs on each machine, as a Ray actor; its methods are called from several threads."""

    def __init__(self, spec: JudgeSpec, language: str, jobs: int, retries: int) -> None:
        bench = Bench(spec, language)
        self._pipeline = bench.pipeline(jobs=jobs, retries=retries)
        self._described = bench.describe(), bench.settings, self._pipeline.width

    def describe(self) -> tuple[dict[str, Any], Mapping[str, Any], int]:
        """What the header says, what verdicts depend on, and how many jobs keep this machine busy."""
        return self._described

    def judge(self, job: Job) -> Judgement:
        return self._pipeline.submit(job).result()


class RayBackend:
    """Judges jobs on every machine of the cluster that RAY_ADDRESS names or that runs here, else on this machine alone.

    Args:
        jobs: Compilations at a time on each machine; None: as many as it has CPUs.
        retries: Further tries when the judge's side fails, on the machine and, when that is lost, on another.

    Raises:
        SandboxError: Ray is not installed, a machine lacks what is needed, or machines differ in what decides verdicts.
    """

    def __init__(self, spec: JudgeSpec, language: str, *, jobs: int | None, retries: int = 2) -> None:
        try:
            import ray
        except ImportError:
            raise SandboxError("ray=true: Ray is not installed here; `pip install ray`, on every machine.") from None
        self._ray = ray
        self._retries = retries
        if not ray.is_initialized():
            ray.init(address=os.environ.get("RAY_ADDRESS"), include_dashboard=False, log_to_driver=False)
        self._nodes = []
        for node in ray.nodes():
            gpus, cpus = node["Resources"].get("GPU", 0), int(node["Resources"].get("CPU", 1))
            if node["Alive"] and (gpus or not spec.runs_on_gpus):
                actor = ray.remote(Node).options(
                    num_cpus=0,
                    num_gpus=gpus if spec.runs_on_gpus else 0,
                    scheduling_strategy=ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                        node["NodeID"], soft=False
                    ),
                    max_concurrency=4 * (cpus + 16),
                )
                self._nodes.append(actor.remote(spec, language, jobs or cpus, retries))
        if not self._nodes:
            raise SandboxError(
                "ray=true: no machine of the cluster has a GPU; no_gpu=true and compile_only=true need none."
            )
        try:
            described = ray.get([node.describe.remote() for node in self._nodes])
        except ray.exceptions.RayError as error:
            self.stop()
            raise SandboxError(f"ray=true: a machine cannot judge: {last_line(str(error))}") from None
        records, settings, self._widths = zip(*described, strict=True)
        if differing := differences(settings):
            self.stop()
            raise SandboxError(f"ray=true: machines differ in what decides verdicts: {differing}")
        self.settings: Mapping[str, Any] = settings[0]
        self._record = {**records[0], "gpus": [gpu for record in records for gpu in record["gpus"]]}

    def describe(self) -> dict[str, Any]:
        """What a results file's header says of the judge."""
        return {**self._record, "machines": len(self._nodes)}

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Judgement]]:
        """Judgements in the order in which they come. A job whose machine is lost goes to another one.

        Jobs of a task go to one machine while that is free for them: another would make the task's inputs as well.
        """
        ray = self._ray
        waiting = deque((job, 0) for job in in_order(jobs, preparation_cost))
        machines = list(zip(self._nodes, self._widths, strict=True))
        free = [node for place in range(max(self._widths)) for node, width in machines if place < width]
        homes: dict[str, Any] = {}  # task -> its machine
        running: dict[Any, tuple[Job, int, Any]] = {}
        while waiting or running:
            while waiting and free:
                job, tries = waiting.popleft()
                home = homes.get(job.task.fingerprint)
                node = home if home in free else free[0]
                free.remove(node)
                homes[job.task.fingerprint] = node
                running[node.judge.remote(replace(job, samples=()))] = job, tries, node
            if not running:
                for job, _ in waiting:
                    yield job, infra_error("ray=true: every machine of the cluster was lost")
                return
            (ready,), _ = ray.wait(list(running), num_returns=1)
            job, tries, node = running.pop(ready)
            try:
                judgement = ray.get(ready)
                free.append(node)
            except ray.exceptions.RayActorError as error:
                free = [other for other in free if other is not node]
                judgement = infra_error(f"its machine was lost: {last_line(str(error))}")
                if tries < self._retries:
                    logger.warning("task %s, tried on another machine: %s", job.task.id, judgement.message)
                    waiting.append((job, tries + 1))
                    continue
            except ray.exceptions.RayError as error:
                free.append(node)
                judgement = infra_error(describe(error))
            yield job, judgement

    def stop(self) -> None:
        """End the actors: what they run is killed with them."""
        for node in self._nodes:
            self._ray.kill(node)
        self._nodes = []

    join = stop  # nothing to wait for


def differences(records: Sequence[Mapping[str, Any]]) -> str:
    """ "toolkit: 12.8 and 13.0; ...": what is not the same on all machines."""
    found = {name: sorted({str(record.get(name)) for record in records}) for name in records[0]}
    return "; ".join(f"{name}: {' and '.join(values)}" for name, values in found.items() if len(values) > 1)
