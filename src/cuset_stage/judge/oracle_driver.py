"""Runs inside the sandbox, in a process of its own: a task set's script, or a reference with its inputs. Never imported.

    python oracle_driver.py script FILE [SEED]    run FILE as __main__; exit() in it ends it, it does not fail
    python oracle_driver.py reference JOB         inputs/<name>.bin, expected/<name>.bin and result.json for one case
    python oracle_driver.py module FILE TOLERANCES    result.json about the outputs of a KernelBench model, on the CPU

The exit code is 0, or CRASHED with a traceback on standard error. Needs the standard library and NumPy; torch where asked for.
"""

import json
import math
import os
import random
import runpy
import sys
import time
import traceback
import zlib


CRASHED = 70
REFUSED = 71  # the reference breaks its contract; the last line of standard error says how


class Refused(Exception):
    """The reference breaks its contract."""


def run_script(file, seed=None):
    if seed is not None:
        with open(file, encoding="utf-8") as script:
            seed_generators(int(seed), uses_torch="torch" in script.read())
    sys.argv = [file]
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:  # what it printed or wrote before counts
        if isinstance(stop.code, str):
            print(f"oracle_driver: sys.exit: {stop.code}", file=sys.stderr)


def seed_generators(seed, uses_torch):
    """Give every generator that the script does not seed itself a fixed start, so that its data can be made again."""
    import numpy as np

    random.seed(seed)
    np.random.seed(seed % 2**32)
    original, sequence = np.random.default_rng, np.random.SeedSequence(seed)

    def default_rng(seed=None):
        return original(sequence.spawn(1)[0] if seed is None else seed)

    np.random.default_rng = default_rng
    if uses_torch:
        import torch

        torch.manual_seed(seed)


# -------------------------------------------------------------------------------------------------------- reference


def run_reference(job_file):
    import numpy as np

    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    module = runpy.run_path("reference.py", run_name="reference")
    for name in ("make_inputs", "reference", "TOLERANCE"):
        if name not in module:
            raise Refused(f"does not define {name}")
    tolerance = check_tolerance(module["TOLERANCE"], [tensor["name"] for tensor in job["outputs"]])
    rng = np.random.default_rng(zlib.crc32(f"{job['id']}/{job['case']}".encode()))
    inputs = module["make_inputs"](rng, **job["parameters"])
    save("make_inputs", "inputs", job["inputs"], inputs)
    save("reference", "expected", job["outputs"], module["reference"](inputs))
    with open("result.json", "w", encoding="utf-8") as file:
        json.dump({"tolerance": tolerance}, file)


def check_tolerance(tolerance, outputs):
    if not isinstance(tolerance, dict) or set(tolerance) != set(outputs):
        raise Refused(f"TOLERANCE is {tolerance!r:.200}, expected {{output: (rtol, atol)}} for {', '.join(outputs)}")
    checked = {}
    for name, pair in tolerance.items():
        try:
            rtol, atol = (float(value) for value in pair)
        except (TypeError, ValueError):
            rtol = atol = -1.0
        if not all(math.isfinite(value) and value >= 0 for value in (rtol, atol)):
            raise Refused(f"TOLERANCE[{name!r}] is {pair!r}, expected (rtol, atol), both finite and at least 0")
        checked[name] = [rtol, atol]
    return checked


def save(function, folder, tensors, arrays):
    import numpy as np

    names = [tensor["name"] for tensor in tensors]
    if not isinstance(arrays, dict) or set(arrays) != set(names):
        found = sorted(map(str, arrays)) if isinstance(arrays, dict) else type(arrays).__name__
        raise Refused(f"{function} returns {found}, the task declares {sorted(names)}")
    os.mkdir(folder)
    for tensor in tensors:
        name, array = tensor["name"], arrays[tensor["name"]]
        if not isinstance(array, np.ndarray):
            raise Refused(f"{function}: {name} is {type(array).__name__}, expected a NumPy array")
        if array.dtype != np.dtype(tensor["dtype"]) or list(array.shape) != tensor["shape"]:
            raise Refused(
                f"{function}: {name} is {array.dtype} {array.shape}, the task declares "
                f"{tensor['dtype']} {tuple(tensor['shape'])}"
            )
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            raise Refused(f"{function}: {name} holds values that are not finite")
        array.astype(array.dtype.newbyteorder("<"), copy=False).tofile(os.path.join(folder, f"{name}.bin"))


# ----------------------------------------------------------------------------------------------------------- module


def run_module(file, tolerances):
    """What the outputs of a model look like, for two draws of inputs, and whether the same seeds draw the same again.

    Arguments and outputs are what the judge's worker takes them for (worker.py lies beside this file here).
    """
    import worker

    try:
        result = examine_module(file, worker, json.loads(tolerances))
    except worker.Problem as problem:
        raise Refused(str(problem)) from None
    with open("result.json", "w", encoding="utf-8") as out:
        json.dump(result, out)


def examine_module(file, worker, tolerances):
    torch = worker.Torch("cpu")
    module = worker.import_module(file, {})
    init, _, init_digest = draw(module.get_init_inputs, worker.INIT_SEED, "init", worker, torch)
    worker.seed_all(worker.INIT_SEED, torch)
    model = worker.call(worker.find_model(module, "Model"), init)
    trials, digests = [], [init_digest]
    for seed in (0, 1):
        values, tensors, digest = draw(module.get_inputs, seed, str(seed), worker, torch)
        digests.append(digest)
        given = [torch.clone(tensor) for tensor in tensors]  # forward may write into its inputs
        worker.seed_all(seed, torch)
        with torch.no_grad():
            outputs = [tensor for _, tensor in worker.flatten(worker.call(model, values), torch)]
        trials.append(describe(outputs, given, torch.module, tolerances))
    with open(file, encoding="utf-8") as source:
        if "time" in source.read():
            time.sleep(1.1)  # a generator may be seeded with the time in seconds
    again = worker.import_module(file, {})  # as another process would: generators of the module start anew
    draws = [(again.get_init_inputs, worker.INIT_SEED, "init")]
    draws += [(again.get_inputs, seed, str(seed)) for seed in (0, 1)]
    same = [draw(*one, worker, torch)[2] for one in draws] == digests
    return {"trials": trials, "reproducible": same}


def draw(make, seed, place, worker, torch):
    """The arguments as they are, the tensors among them, and a digest of both."""
    import hashlib

    worker.seed_all(seed, torch)
    values, tensors = make(), []
    digest = hashlib.sha256(json.dumps(worker.encode(values, place, tensors, torch.module)).encode())
    for tensor in tensors:
        digest.update(torch.raw(tensor))
    return values, tensors, digest.hexdigest()


def describe(outputs, inputs, torch, tolerances):
    """The largest value, the spread and a digest of all outputs, and whether each is a copy of an input."""
    import hashlib

    parts = [torch.view_as_real(part.resolve_conj()) if part.is_complex() else part for part in outputs]
    flat = torch.cat([part.detach().double().flatten() for part in parts]) if parts else torch.empty(0)
    if not flat.numel():
        raise Refused("forward returns no values")
    return {
        "elements": flat.numel(),
        "finite": bool(torch.isfinite(flat).all()),
        "max_abs": float(flat.abs().max()),
        "mean": float(flat.mean()),
        "std": float(flat.std(unbiased=False)),
        "sha256": hashlib.sha256(flat.numpy().tobytes()).hexdigest(),
        "copies": all(any(is_copy(one, other, torch, tolerances) for other in inputs) for one in outputs),
    }


def is_copy(output, given, torch, tolerances):
    """Whether the judge would take the input for this output."""
    if output.shape != given.shape or output.dtype != given.dtype:
        return False
    tolerance = tolerances.get(str(output.dtype).removeprefix("torch."), 0.0)
    return torch.allclose(given, output, rtol=tolerance, atol=tolerance)


if __name__ == "__main__":
    modes = {"script": run_script, "reference": run_reference, "module": run_module}
    try:
        modes[sys.argv[1]](*sys.argv[2:])
        sys.stdout.flush()
    except Refused as refused:
        print(refused, file=sys.stderr)
        sys.exit(REFUSED)
    except BaseException:
        sys.stdout.flush()
        traceback.print_exc()
        sys.exit(CRASHED)
