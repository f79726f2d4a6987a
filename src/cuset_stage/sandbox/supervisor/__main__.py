"""The processes that stand between the judge and what it runs: started once a judge as `python -I -S __main__.py`.

This one forks a supervisor for each run (`server`), which is alone in its process (one thread, no library beyond the standard one),
so that it can be the reaper of every orphan the program leaves, may fork safely, and copies files without another thread's fork
holding them open. Starting Python for each run would take longer than all the rest. The requests come and the answers go as
`marshal` writes them: both ends are the same Python, and json takes longer.
"""

import os
import sys


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out

from server import serve


sys.exit(serve())
