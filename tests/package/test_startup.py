"""The start-up hook: cheap, silent, applied wherever a Python of the environment starts, invisible afterwards."""

import pytest

from .conftest import write


def test_imports_nothing_else(installed):
    """The whole hook is three modules on top of os and sys, which `site` itself has imported by then."""
    code = (
        f"import os, sys; sys.path.append({str(installed.site)!r}); before = set(sys.modules)\n"
        "import cuset_stage._startup as s; s.install()\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    expected = ["cuset_stage", "cuset_stage._compatibility", "cuset_stage._startup"]
    assert installed.run("-S", "-c", code).stdout.split() == expected


@pytest.mark.parametrize("flags", [(), ("-I",), ("-S",)])
def test_every_start_is_silent_and_has_the_hook_unless_site_is_off(flags, installed):
    code = "import sys; print(getattr(sys.meta_path[0], 'is_cuset_stage_finder', False))"
    started = installed.run(*flags, "-c", code)
    assert (started.returncode, started.stdout, started.stderr) == (0, f"{flags != ('-S',)}\n", "")


def test_broken_install_is_silent(built, new_environment):
    environment = new_environment()
    environment.install(built.wheel)
    startup = environment.site / "cuset_stage" / "_startup.py"
    for damage in (lambda: startup.write_text("1 / 0\n", encoding="utf-8"), startup.unlink):
        damage()
        started = environment.run("-c", "print('alive')")
        assert (started.returncode, started.stdout.strip(), started.stderr) == (0, "alive", "")


@pytest.mark.parametrize("value, patched", [("YES", 0), ("0", 1)])
def test_disable(value, patched, installed, pretend):
    code = "import llamafactory.data.loader as loader; print(getattr(loader, 'patched', 0))"
    assert installed.run("-c", code, path=pretend, CUSET_STAGE_DISABLE=value).stdout.strip() == str(patched)


def test_install_twice_and_after_the_import(installed, pretend):
    code = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if not hasattr(f, 'is_cuset_stage_finder')]\n"
        "import llamafactory.data.loader as loader; assert not hasattr(loader, 'patched')\n"
        "from cuset_stage import _startup; _startup.install(); _startup.install()\n"
        "print(loader.patched, sum(hasattr(f, 'is_cuset_stage_finder') for f in sys.meta_path), _startup.applied)"
    )
    assert installed.run("-c", code, path=pretend).stdout.strip() == "1 1 {'llamafactory.data.loader'}"


def test_loader_is_untouched_after_the_import(installed, pretend):
    code = (
        "import importlib, inspect, pickle, sys\n"
        "import llamafactory.data.loader as loader, llamafactory.cli as plain\n"
        "for module in (loader, plain):\n"
        "    assert module.__loader__ is module.__spec__.loader\n"
        "    assert type(module.__loader__) is importlib.machinery.SourceFileLoader\n"
        "    assert pickle.loads(pickle.dumps(module.__loader__)) == module.__loader__\n"
        "assert inspect.getsource(loader) == 'VALUE = 1\\n'\n"
        "assert inspect.getfile(loader) == loader.__file__ == loader.__spec__.origin\n"
        "assert importlib.reload(loader).patched == 2\n"
        "del sys.modules['llamafactory.data.loader']\n"
        "print(importlib.import_module('llamafactory.data.loader').patched)"
    )
    done = installed.run("-c", code, path=pretend)
    assert done.stdout.strip() == "1", done.stderr


def test_spawned_children_are_patched(installed, pretend, tmp_path):
    write(tmp_path, {
        "work.py": "def report(_):\n    from llamafactory.data import loader\n    return loader.patched\n",
        "main.py": "import multiprocessing, work\nif __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool: print(pool.map(work.report, range(2)))\n",
    })  # fmt: skip
    done = installed.run(str(tmp_path / "main.py"), path=pretend)
    assert done.stdout.strip() == "[1, 1]", done.stderr


def test_package_imports_its_subpackages_on_first_use(installed):
    code = (
        "import sys, cuset_stage\n"
        "loaded = lambda: [name for name in sys.modules if name.startswith('cuset_stage.') and '._' not in name]\n"
        "assert loaded() == [], loaded()\n"
        "assert {*cuset_stage.__all__} <= {*dir(cuset_stage)} and cuset_stage.__version__ == '0.2.0'\n"
        "try: cuset_stage.nothing\n"
        "except AttributeError as error: print(error)"
    )
    done = installed.run("-c", code)
    assert done.stdout.strip() == "module 'cuset_stage' has no attribute 'nothing'", done.stderr
