"""Ships the two start-up files; everything else about the package stands in setup.cfg.

Python's `site` reads `*.pth` and `*.start` only where they lie directly in site-packages, a place that setuptools'
package_data cannot reach and that data_files misses by a folder.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPyWithStartupFiles(build_py):
    startup_files = ("cuset_stage.pth", "cuset_stage.start")

    def run(self):
        super().run()
        # An editable install drops build_lib and keeps the folder that `install` points at: what lies there becomes
        # the wheel that pip unpacks and records, so that `pip uninstall` finds the files again.
        target = self.get_finalized_command("install").install_lib if self.editable_mode else self.build_lib
        for name in self.startup_files:
            self.mkpath(target)
            self.copy_file(str(Path("src", name)), str(Path(target, name)), preserve_mode=False)


setup(cmdclass={"build_py": BuildPyWithStartupFiles})
