"""A server that runs llamafactory-cli in forks of one process that has already imported LLaMA-Factory.

Importing takes longer than training a tiny model, so the tests import once and fork for each run. A child has its own
environment, working folder and command line, and calls the function that the console script calls. With several ranks,
each rank is a child with the environment variables that torchrun would set, and calls the function that torchrun would
run. To keep this honest, test files also have a few runs through the real console script and the real torchrun.
"""

import gc
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import time
import traceback
from pathlib import Path


def start(folder: Path) -> None:
    """Start the server. It listens at folder/socket and ends by itself when the test run has ended.

    All workers of pytest-xdist share one server, so its owner is the workers' parent process.
    """
    owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        listener.listen(64)
        subprocess.Popen(
            [sys.executable, __file__, str(listener.fileno()), str(owner)],
            pass_fds=[listener.fileno()],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )


def ask(folder: Path, recipe: Path, env: dict[str, str], ranks: int, timeout: float) -> tuple[int, str]:
    """Have the server of this folder run a recipe file in the file's folder, where `stdout` and `stderr` go as well.

    Args:
        env: The whole environment of the run.
        ranks: Number of ranks, or 0 for a run without torchrun.
        timeout: Seconds after which the run is killed.

    Returns:
        The exit status (that of the first rank that failed; 124 after a timeout), and standard output followed by
        standard error.
    """
    request = {"recipe": str(recipe), "env": env, "ranks": ranks, "timeout": timeout}
    with socket.socket(socket.AF_UNIX) as server, server.makefile("rw") as messages:
        server.connect(str(folder / "socket"))
        print(json.dumps(request), file=messages, flush=True)
        status = int(messages.readline())
    return status, "".join((recipe.parent / name).read_text(errors="replace") for name in ("stdout", "stderr"))


class Request(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(f"{run(**json.loads(self.rfile.readline()))}\n".encode())


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    def service_actions(self) -> None:
        """End the server once the process that owns it, `self.owner`, is gone. Called once a second."""
        super().service_actions()
        try:
            os.kill(self.owner, 0)
        except ProcessLookupError:
            raise SystemExit from None


def serve(listener: socket.socket, owner: int) -> None:
    os.dup2(2, 1)
    import_all()
    gc.freeze()  # children must not collect, and so copy, the pages of what was imported before the fork
    server = Server("", Request, bind_and_activate=False)
    server.socket, server.owner = listener, owner
    server.serve_forever(poll_interval=1.0)


def import_all() -> None:
    """Import what a run imports, much of it only when it loads the model.

    Importing is two thirds of the time of a tiny run.
    """
    import bitsandbytes  # noqa: F401
    import deepspeed
    import matplotlib.pyplot  # noqa: F401
    import peft  # noqa: F401
    import scipy.io  # noqa: F401
    import torchdata.stateful_dataloader  # noqa: F401
    import transformers.models.qwen2.modeling_qwen2  # noqa: F401
    from llamafactory import cli  # noqa: F401
    from llamafactory.model import loader
    from llamafactory.train import tuner  # noqa: F401

    import cuset_stage.stage.workflow  # noqa: F401

    # Reduce over ranks with gloo: otherwise DeepSpeed compiles an operator of its own with g++, which takes a minute.
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    # load_model looks into these mappings, which imports a module for each kind of model.
    for auto in ("ImageTextToText", "Seq2SeqLM", "TextToWaveform"):
        list(getattr(loader, f"AutoModelFor{auto}")._model_mapping.keys())


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def run(recipe: str, env: dict[str, str], ranks: int, timeout: float) -> int:
    """Fork a child for each rank, wait for all of them, and return the exit status that `ask` describes."""
    port = free_port()
    pids = set()
    for rank in range(max(ranks, 1)):
        pid = os.fork()
        if pid == 0:
            rank_env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            rank_env |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            rank_env |= {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
            child(Path(recipe), env | (rank_env if ranks else {}), bool(ranks))
        pids.add(pid)
    deadline, status = time.monotonic() + timeout, 0
    while pids:
        pid, code = os.waitpid(-1, os.WNOHANG)
        if pid in pids:
            pids.remove(pid)
            code = os.waitstatus_to_exitcode(code)
            if code and not status:
                status, deadline = code, min(deadline, time.monotonic() + 10)  # the other ranks wait for this one
        elif time.monotonic() > deadline:
            status = status or 124
            for remaining_pid in pids:
                os.killpg(remaining_pid, signal.SIGKILL)
            deadline = float("inf")
        else:
            time.sleep(0.02)
    return status


def child(recipe: Path, env: dict[str, str], is_rank: bool) -> None:
    """Run the recipe in this freshly forked process, and exit. Does not return."""
    import torch

    os.setsid()
    os.chdir(recipe.parent)
    for fd, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), fd)
    os.environ.clear()
    os.environ.update(env)
    status = 1
    try:
        torch.set_num_threads(int(env["OMP_NUM_THREADS"]))  # OpenMP has read the server's OMP_NUM_THREADS already
        if is_rank:
            from llamafactory.train.tuner import run_exp as main

            sys.argv = ["launcher.py", str(recipe)]
        else:
            from llamafactory.cli import main

            sys.argv = ["llamafactory-cli", "train", str(recipe)]
        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), owner=int(sys.argv[2]))
