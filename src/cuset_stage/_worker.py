"""The script that torchrun runs on every rank of `python -m cuset_stage train`, in place of llamafactory/launcher.py.

A rank is a new process. Where Python does not read start-up files, nothing but this script would install the hook in
it.
"""

import os
import sys


# When Python starts a file by its path, it puts the file's folder first on sys.path. Our subpackages would then shadow
# top-level modules with the same names. Remove that folder, and add the one that holds the package instead. It goes
# last because it may be site-packages itself.
_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
if os.path.dirname(_HERE) not in sys.path:
    sys.path.append(os.path.dirname(_HERE))

from cuset_stage import _startup  # noqa: E402


# Outside of the guard, because child processes that multiprocessing spawns import this file as __mp_main__.
_startup.install()


if __name__ == "__main__":
    from llamafactory.train.tuner import run_exp

    run_exp()
