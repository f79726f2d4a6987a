"""The process that stands between the judge and what it runs: started for each run as `python -I -S __main__.py`.

It is alone in its process (one thread, no library beyond the standard one), so that it can be the reaper of every orphan the
program leaves, may fork safely, and copies files without another thread's fork holding them open. The request comes
on stdin and the answer goes to stdout, both as `marshal` writes them: both ends are the same Python, and importing json takes as
long as all the rest. When stdin closes, the judge is gone: everything is killed.
"""

import os
import sys


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out

from loop import main


sys.exit(main())
