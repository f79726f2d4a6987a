"""Runs of llamafactory-cli in children of one process that has imported LLaMA-Factory: importing takes longer than a tiny run.

A child has its own environment, folder and command line, and calls what the console script calls. Ranks are children with the
environment that torchrun gives them, and call what torchrun runs. Beside the server, a test file keeps a run or two through the real
console script and the real torchrun.
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
    """A server at folder/socket, which ends after the tests: all of their workers use one."""
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
    """Exit status (of the first rank that failed) and standard output followed by standard error. ranks: 0: no torchrun."""
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
        super().service_actions()
        try:
            os.kill(self.owner, 0)
        except ProcessLookupError:
            raise SystemExit from None


def serve(listener: socket.socket, owner: int) -> None:
    os.dup2(2, 1)
    import_all()
    gc.freeze()  # a child's collections leave alone what was there before it
    server = Server("", Request, bind_and_activate=False)
    server.socket, server.owner = listener, owner
    server.serve_forever(poll_interval=1.0)


def import_all() -> None:
    """What a run imports, most of it while it loads the model: two thirds of what a tiny run takes."""
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

    # Sums over ranks go through gloo: DeepSpeed would have g++ compile an operator for them, which takes a minute.
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    # What load_model asks: a module for each kind of model.
    for auto in ("ImageTextToText", "Seq2SeqLM", "TextToWaveform"):
        list(getattr(loader, f"AutoModelFor{auto}")._model_mapping.keys())


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def run(recipe: str, env: dict[str, str], ranks: int, timeout: float) -> int:
    port = free_port()
    pids = set()
    for rank in range(max(ranks, 1)):
        pid = os.fork()
        if pid == 0:
            place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            place |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            place |= {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
            child(Path(recipe), env | (place if ranks else {}), bool(ranks))
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
            for each in pids:
                os.killpg(each, signal.SIGKILL)
            deadline = float("inf")
        else:
            time.sleep(0.02)
    return status


def child(recipe: Path, env: dict[str, str], is_rank: bool) -> None:
    """Does not return."""
    import torch

    os.setsid()
    os.chdir(recipe.parent)
    for fd, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), fd)
    os.environ.clear()
    os.environ.update(env)
    status = 1
    try:
        torch.set_num_threads(int(env["OMP_NUM_THREADS"]))  # OpenMP read the server's variable when it was loaded
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
