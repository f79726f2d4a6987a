"""Run a task set's script, or a reference with its inputs, inside the sandbox.

This file is started as a process of its own (by oracle.py) and is never imported.

    python oracle_driver.py script FILE [SEED]    run FILE as __main__; an exit() in FILE is not a failure
    python oracle_driver.py reference JOB         write inputs/<name>.bin, expected/<name>.bin and tolerance.json
                                                  for the case that JOB describes
    python oracle_driver.py serve                 read such requests from stdin, which is a socket, and run each one
                                                  in a fork of this process

On failure the exit code is not 0, and the last line of standard error says why. The script needs the standard library
and NumPy, and torch if a script draws from it.
"""

import contextlib
import ctypes
import json
import math
import os
import random
import runpy
import signal
import socket
import sys
import tempfile
import traceback
import zlib


PR_SET_CHILD_SUBREAPER = 36
SAID_BYTES = 1 << 20


def run_script(file, seed=None):
    """Run a Python file as `__main__`, with random generators seeded if a seed is given."""
    if seed is not None:
        with open(file, encoding="utf-8") as script:
            seed_generators(int(seed), uses_torch="torch" in script.read())
    sys.argv = [file]
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:  # not a failure: what was printed or written before it counts
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)


def seed_generators(seed, uses_torch):
    """Seed the random generators, so that a script that does not seed them itself makes the same data again.

    This covers `random`, `numpy.random`, and torch, which is imported if it is used. Calls of NumPy's `default_rng()`
    without a seed get seeds spawned from this one.
    """
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


def run_reference(job_file):
    """Make the inputs, the expected outputs and the tolerance of one case with reference.py."""
    import numpy as np

    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    module = runpy.run_path("reference.py", run_name="reference")
    for name in ("make_inputs", "reference", "TOLERANCE"):
        if name not in module:
            sys.exit(f"does not define {name}")
    tolerance = check_tolerance(module["TOLERANCE"], [tensor["name"] for tensor in job["outputs"]])
    case_hash = zlib.crc32(f"{job['id']}/{job['case']}".encode())
    rng = np.random.default_rng(case_hash if job["seed"] is None else [job["seed"], case_hash])
    inputs = module["make_inputs"](rng, **job["parameters"])
    save("make_inputs", "inputs", job["inputs"], inputs)
    save("reference", "expected", job["outputs"], module["reference"](inputs))
    with open("tolerance.json", "w", encoding="utf-8") as file:
        json.dump(tolerance, file)


def check_tolerance(tolerance, outputs):
    """Return TOLERANCE as {output: [rtol, atol]}, or exit with a message if it is not valid."""
    if not isinstance(tolerance, dict) or set(tolerance) != set(outputs):
        sys.exit(f"TOLERANCE is {tolerance!r:.200}, expected {{output: (rtol, atol)}} for {', '.join(outputs)}")
    checked = {}
    for name, pair in tolerance.items():
        try:
            rtol, atol = (float(value) for value in pair)
        except (TypeError, ValueError):
            rtol = atol = -1.0
        if not all(math.isfinite(value) and value >= 0 for value in (rtol, atol)):
            sys.exit(f"TOLERANCE[{name!r}] is {pair!r}, expected (rtol, atol), both finite and at least 0")
        checked[name] = [rtol, atol]
    return checked


def save(function, folder, tensors, arrays):
    """Check arrays against the tensors that the task declares, and write each to `<folder>/<name>.bin`.

    Args:
        function: Name of the function that returned the arrays, for error messages.
        folder: New folder for the files.
        tensors: Declared tensors, with name, dtype and shape.
        arrays: Name -> NumPy array.
    """
    import numpy as np

    names = [tensor["name"] for tensor in tensors]
    if not isinstance(arrays, dict) or set(arrays) != set(names):
        returned = sorted(map(str, arrays)) if isinstance(arrays, dict) else type(arrays).__name__
        sys.exit(f"{function} returns {returned}, the task declares {sorted(names)}")
    os.mkdir(folder)
    for tensor in tensors:
        name, array = tensor["name"], arrays[tensor["name"]]
        if not isinstance(array, np.ndarray):
            sys.exit(f"{function}: {name} is {type(array).__name__}, expected a NumPy array")
        if array.dtype != np.dtype(tensor["dtype"]) or list(array.shape) != tensor["shape"]:
            sys.exit(
                f"{function}: {name} is {array.dtype} {array.shape}, the task declares "
                f"{tensor['dtype']} {tuple(tensor['shape'])}"
            )
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            sys.exit(f"{function}: {name} holds values that are not finite")
        array.astype(array.dtype.newbyteorder("<"), copy=False).tofile(os.path.join(folder, f"{name}.bin"))


def serve():
    """Serve requests from stdin, which is a socket: for each line of JSON, run a fork and answer with a line of JSON.

    Each fork runs in a folder of its own. All processes that it leaves behind are killed before the answer.
    """
    import numpy  # noqa: F401  imported here once for all forks

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    for line in channel.makefile("rb"):
        request = json.loads(line)
        if any("torch" in text for text in request["files"].values()):
            with contextlib.suppress(ImportError):
                import torch  # noqa: F401  imported once for this fork and later ones
        os.mkdir(request["folder"])
        with tempfile.TemporaryFile() as stderr_file:
            pid = os.fork()
            if pid == 0:
                channel.close()
                become(request, stderr_file.fileno())
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            end_children()
            stderr_file.seek(max(0, os.fstat(stderr_file.fileno()).st_size - SAID_BYTES))
            stderr = stderr_file.read().decode(errors="replace")
        channel.sendall(json.dumps({"returncode": code, "stderr": stderr}).encode() + b"\n")


def become(request, said):
    """Turn a fork into the requested script, as if it had been started as a process. Never returns.

    The file descriptor `said` becomes the standard error.
    """
    code = 1
    try:
        os.dup2(0, 1)  # to /dev/null: nobody reads what these scripts print
        os.dup2(said, 2)
        os.chdir(request["folder"])
        os.environ["HOME"] = os.environ["TMPDIR"] = os.getcwd()
        for name, text in request["files"].items():
            with open(name, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        if request["arguments"][0] == "script":
            os.mkdir("data")
        main(request["arguments"])
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
        if not isinstance(stop.code, int):
            print(stop.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def end_children():
    """Kill all processes that the script left running. As a subreaper, this process is the parent of all of them."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            left = file.read().split()
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def main(arguments):
    {"script": run_script, "reference": run_reference, "serve": serve}[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
