"""What torchrun runs on every rank of `python -m cuset_stage train`, in place of llamafactory/launcher.py.

Its own file, because a rank is a fresh process: where start-up files are not read, nothing else would patch it.
"""

import os
import sys


# Started by path, Python puts this file's folder first on sys.path, where our subpackages would shadow top-level modules of
# their name. What belongs there is the folder that holds the package, last: it may be site-packages itself.
_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
if os.path.dirname(_HERE) not in sys.path:
    sys.path.append(os.path.dirname(_HERE))

from cuset_stage import _startup  # noqa: E402


_startup.install()  # outside the guard: children that multiprocessing spawns import this file as __mp_main__


if __name__ == "__main__":
    from llamafactory.train.tuner import run_exp

    run_exp()
