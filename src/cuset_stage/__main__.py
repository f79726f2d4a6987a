"""Run llamafactory-cli with the start-up hook installed by hand: `python -m cuset_stage train recipe.yaml`.

This is for environments in which Python does not read start-up files, such as `pip install --target` folders, a frozen
site-packages or `python -S`. It takes every command that llamafactory-cli takes.
"""

import os
import shutil
import sys

from cuset_stage import _startup


# Outside of main, because child processes that multiprocessing spawns import this file as __mp_main__.
_startup.install()


def main() -> None:
    """Run llamafactory-cli on the command line of this process.

    Raises:
        SystemExit: if the hook is disabled and the recipe asks for `stage: cuset`.
    """
    if _startup.disabled() and _startup.asks_for_cuset():
        raise SystemExit("CUSET_STAGE_DISABLE is set and the recipe asks for stage: cuset; unset one of the two.")
    _prefer_our_torchrun()

    from llamafactory import cli, launcher

    # The launcher tells torchrun to run the launcher's own file on every rank. Put our file in its place, which
    # installs the hook there too.
    launcher.__file__ = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py")
    cli.main()


def _prefer_our_torchrun() -> None:
    """Put this interpreter's folder first on PATH if PATH leads to another environment's torchrun.

    LLaMA-Factory looks for torchrun on PATH. An environment that is used without being activated is not on PATH, and
    another environment's torchrun would run the ranks in that other environment.
    """
    bin_dir = os.path.dirname(sys.executable or "")
    beside = shutil.which("torchrun", path=bin_dir)
    if beside is not None and shutil.which("torchrun") != beside:
        os.environ["PATH"] = os.pathsep.join(filter(None, (bin_dir, os.environ.get("PATH"))))


if __name__ == "__main__":
    main()
