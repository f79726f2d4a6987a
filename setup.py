"""Ships what lies outside the package: the two start-up files, the recipes and the data. Everything else stands in setup.cfg.

Python's `site` reads `*.pth` and `*.start` only where they lie directly in site-packages, a place that setuptools'
package_data cannot reach and that data_files misses by a folder. Recipes and data stand at the top of a checkout, and in
the wheel under cuset_stage/share (`cuset_stage.bundled` finds either).
"""

import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


BUNDLED = ("yaml_configs/**/*.yaml", "yaml_configs/**/*.json", "data/*.json", "data/cuset_*.jsonl", "data/README.md")


class BuildPyWithMore(build_py):
    startup_files = ("cuset_stage.pth", "cuset_stage.start")

    def run(self):
        subprocess.run([sys.executable, "scripts/build_data.py"], check=True)
        # (package, folder, folder in the build, files): copied into a wheel, linked by a strict editable install.
        target = str(Path(self.build_lib, "cuset_stage", "share"))
        names = sorted(str(path) for pattern in BUNDLED for path in Path().glob(pattern))
        self.data_files = [*self.data_files, ("cuset_stage", "", target, names)]
        super().run()
        # An editable install drops build_lib and keeps the folder that `install` points at: what lies there becomes
        # the wheel that pip unpacks and records, so that `pip uninstall` finds the files again.
        target = self.get_finalized_command("install").install_lib if self.editable_mode else self.build_lib
        for name in self.startup_files:
            self.mkpath(target)
            self.copy_file(str(Path("src", name)), str(Path(target, name)), preserve_mode=False)


setup(cmdclass={"build_py": BuildPyWithMore})
