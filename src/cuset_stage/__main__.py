"""`python -m cuset_stage train recipe.yaml`: llamafactory-cli with the hook put in by hand.

For environments where Python does not read start-up files: `pip install --target` folders, a frozen site-packages,
`python -S`. Takes every command that llamafactory-cli takes.
"""

import os
import shutil
import sys

from cuset_stage import _startup


_startup.install()  # outside main: children that multiprocessing spawns import this file as __mp_main__


def main() -> None:
    if _startup.disabled() and _startup.asks_for_cuset():
        raise SystemExit("CUSET_STAGE_DISABLE is set and the recipe asks for stage: cuset; unset one of the two.")
    _prefer_our_torchrun()

    from llamafactory import cli, launcher

    # The launcher hands torchrun its own file to run on every rank.
    launcher.__file__ = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py")
    cli.main()


def _prefer_our_torchrun() -> None:
    """LLaMA-Factory looks for torchrun on PATH: let that find the one of this interpreter.

    An environment that is used but not activated is not on PATH, and another one's torchrun would run the ranks there.
    """
    bin_dir = os.path.dirname(sys.executable or "")
    beside = shutil.which("torchrun", path=bin_dir)
    if beside is not None and shutil.which("torchrun") != beside:
        os.environ["PATH"] = os.pathsep.join(filter(None, (bin_dir, os.environ.get("PATH"))))


if __name__ == "__main__":
    main()
