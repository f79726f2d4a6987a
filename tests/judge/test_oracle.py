"""Making the inputs and references of cases: once, in the sandbox, checked, cached, and made again if the cache is
damaged.
"""

import time
import zlib
from dataclasses import replace

import numpy as np
import pytest
from task_factory import COMPARE, DOUBLE, GEN, GEN_INPUT, cudabench_row, cuset_row, load_row

from cuset_stage.judge.oracle import ORACLE_LIMITS, CaseCache, OracleError, ScriptServer, run_script
from cuset_stage.sandbox import SandboxError, resolve_isolation
from cuset_stage.tasks import Tensor


pytestmark = pytest.mark.usefixtures("forked", "empty_cache")


@pytest.fixture
def cache(tmp_path):
    return CaseCache(tmp_path / "cases")


def prepare(cache, folder, row, case=0):
    task = load_row(folder, row)
    return cache.prepare(task, task.cases[case])


def read(path, dtype="float32"):
    return np.fromfile(path, dtype=dtype)


def inode(prepared):
    return prepared.inputs["data/x.bin"].stat().st_ino


def test_reference_oracle(cache, tmp_path, sandboxed):
    even, odd = (prepare(cache, tmp_path, cuset_row(), case) for case in (0, 1))
    x = read(even.inputs["data/x.bin"])
    expected = np.random.default_rng(zlib.crc32(b"double/even")).normal(size=32).astype(np.float32)
    assert np.array_equal(x, expected)  # as drawn from the documented generator
    assert np.array_equal(read(even.expected["data/y.bin"]), 2 * x)
    assert even.sizes(Tensor("y", "float32", (32,))) == (128,)
    assert even.tolerance == {"y": (1e-5, 1e-6)}
    assert not np.array_equal(read(odd.inputs["data/x.bin"]), x[:17])  # each case has a generator of its own
    assert even.inputs["data/x.bin"].stat().st_mode & 0o222 == 0


def test_parameters_may_be_text(cache, tmp_path):
    source = DOUBLE.replace("(rng, n)", "(rng, n, values)").replace("rng.normal(size=n)", "np.full(n, len(values))")
    row = cuset_row(reference=source, cases=[{"name": "a", "parameters": {"n": 3, "values": "ties"}}])
    assert read(prepare(cache, tmp_path, row).inputs["data/x.bin"]).tolist() == [4, 4, 4]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (DOUBLE.replace("TOLERANCE", "TOLERANZ"), "does not define TOLERANCE"),
        (DOUBLE.replace('{"y": (1e-5', '{"z": (1e-5'), "TOLERANCE is .*expected {output: .rtol, atol.} for y"),
        (DOUBLE.replace("1e-5", "-1"), "TOLERANCE.*expected .rtol, atol., both finite and at least 0"),
        (DOUBLE.replace('{"x": rng', '{"w": rng'), r"make_inputs returns \['w'\], the task declares \['x'\]"),
        (DOUBLE.replace("float32", "float64"), "x is float64 .32,., the task declares float32 .32,."),
        (DOUBLE.replace("size=n", "size=n + 1"), "x is float32 .33,., the task declares float32 .32,."),
        (DOUBLE.replace("2 * inputs", "np.float32('nan') * inputs"), "y holds values that are not finite"),
        (DOUBLE.replace("2 * ", "float(1) / 0 * "), "ZeroDivisionError"),
        (DOUBLE + "raise SystemExit(0)\n", "its oracle left inputs/x.bin: not written"),
        ("def f(:\n", "SyntaxError|invalid syntax"),
    ],
)
def test_a_reference_that_breaks_its_contract(cache, tmp_path, source, message):
    with pytest.raises(OracleError, match=message) as error:
        prepare(cache, tmp_path, cuset_row(reference=source))
    assert "task double, case even" in str(error.value)


def test_a_reference_cannot_reach_the_judge(cache, tmp_path, sandboxed):
    """A reference runs in the sandbox, so it cannot write files elsewhere."""
    mark = tmp_path / "mark"
    source = DOUBLE + f"\ntry:\n    open({str(mark)!r}, 'w').close()\nexcept OSError:\n    pass\n"
    prepare(cache, tmp_path, cuset_row(reference=source))
    assert not mark.exists()


def test_script_oracle(cache, tmp_path, sandboxed):
    """A gen.py that calls exit() has not failed, and an output that it writes itself is not used."""
    gen = GEN + '(2 * x).tofile("data/y.bin")\nimport sys\nsys.exit(1)\n'
    made = prepare(cache, tmp_path, cudabench_row(**{"gen.py": gen}))
    assert np.array_equal(read(made.expected["data/y.bin"]), 2 * read(made.inputs["data/x.bin"]))
    assert (set(made.inputs), set(made.references)) == ({"data/x.bin"}, {"data/y_ref.bin"})
    assert made.sizes(Tensor("y", "float32", (64,))) == (256,)
    assert prepare(cache, tmp_path, cudabench_row(outputs=[])).sizes(Tensor("y", "unknown", ())) == (256,)
    assert made.self_check.passed


def test_every_generator_starts_from_the_task(tmp_path):
    """Unseeded generators are seeded by the task.

    Two machines draw the same inputs for a task, and two tasks get different ones. A script that sets a seed keeps it.
    """
    draws = "[random.random() for _ in range(16)], np.random.rand(16), np.random.default_rng().normal(size=16), torch.rand(16)"
    gen = f"import random, torch\nimport numpy as np\nx = np.concatenate([{draws}]).astype(np.float32)\n"
    gen += 'x.tofile("data/x.bin")\n(2 * x).tofile("data/y_ref.bin")\n'

    def drawn(number, text):
        made = prepare(CaseCache(tmp_path / str(number)), tmp_path, cudabench_row(**{"gen.py": text}))
        return read(made.inputs["data/x.bin"])

    first, second, other, seeded = (drawn(*given) for given in enumerate((gen, gen, gen + "\n", GEN)))
    assert np.array_equal(first, second) and (first != other).reshape(4, 16).any(axis=1).all()
    assert np.array_equal(seeded, np.random.default_rng(7).normal(size=64).astype(np.float32))


def test_references_with_misleading_names(cache, tmp_path):
    """If names mislead and sizes do not tell, the files are paired with the outputs as compare.py accepts them."""
    gen = GEN.replace("y_ref", "z_ref") + 'x.tofile("data/y_ref.bin")\n'
    compare = """
import numpy as np
y, z, double, same = (np.fromfile(f"data/{name}.bin", np.float32) for name in ("y", "z", "z_ref", "y_ref"))
print("T" if np.array_equal(y, double) and np.array_equal(z, same) else "F")
"""
    outputs = [{"name": name, "dtype": "float32", "shape": "(64,)"} for name in "yz"]
    made = prepare(cache, tmp_path, cudabench_row(outputs=outputs, **{"gen.py": gen, "compare.py": compare}))
    assert made.self_check.passed
    assert made.expected["data/y.bin"].name == "z_ref.bin"
    assert made.expected["data/z.bin"].name == "y_ref.bin"


@pytest.mark.parametrize(("values", "state"), [("x[:1]", "unpaired"), ("x", "refused")])
def test_what_compare_refuses_is_not_what_is_right(cache, tmp_path, values, state):
    """Here gen.py writes a parameter, and compare.py computes the right output.

    The file must not be taken for the output.
    """
    gen = GEN_INPUT + f'{values}.tofile("data/parameter.bin")\n'
    compare = """
import numpy as np
x, p, y = (np.fromfile(f"data/{name}.bin", np.float32) for name in ("x", "parameter", "y"))
print("T" if y.shape == x.shape and np.array_equal(y, x + p) else "F")
"""
    made = prepare(cache, tmp_path, cudabench_row(**{"gen.py": gen, "compare.py": compare}))
    assert made.expected == {} and set(made.references) == {"data/parameter.bin"}
    assert made.self_check.state == state


@pytest.mark.parametrize(
    ("gen", "message"),
    [
        ("raise ValueError('no such luck')", "task 3: gen.py failed .*ValueError: no such luck"),
        ("pass", "task 3: gen.py did not write data/x.bin: it printed nothing"),
        ("import sys; sys.exit('it needs 40 GB')", "task 3: gen.py did not write data/x.bin: it needs 40 GB"),
        ("import os; os.symlink('/etc/passwd', 'data/x.bin')", "task 3: gen.py did not write data/x.bin"),
        ("import os; os.mkfifo('data/x.bin')", "task 3: gen.py failed .*PermissionError"),
        ("import os; os.kill(os.getpid(), 9)", "task 3: gen.py failed .exit code -9"),
    ],
)
def test_a_gen_that_fails(cache, tmp_path, gen, message):
    with pytest.raises(OracleError, match=message):
        prepare(cache, tmp_path, cudabench_row(**{"gen.py": gen}))


def test_a_full_disk_is_said_and_not_remembered(cache, tmp_path, monkeypatch):
    """A script need not say that its disk is full: what it says goes to that disk. Here every disk counts as full."""
    full = tmp_path / "full"
    full.touch()
    stopped = cudabench_row(**{"compare.py": f"import os\nassert not os.path.exists({str(full)!r})\n{COMPARE}"})
    with monkeypatch.context() as patched:
        patched.setattr("cuset_stage.sandbox.folders.ROOM_BYTES", 2**60)
        for row in (cudabench_row(**{"gen.py": "absent"}), stopped):
            with pytest.raises(SandboxError, match=r"^task 3: .*py .* of the disk are free.*CUSET_SCRATCH"):
                prepare(cache, tmp_path, row)
    full.unlink()
    assert prepare(cache, tmp_path, stopped).self_check.passed


def test_limits_on_time_and_size(tmp_path, sandboxed):
    cache = CaseCache(tmp_path / "cases", limits=replace(ORACLE_LIMITS, wall_s=2.0))
    with pytest.raises(OracleError, match="wall time limit of 2 s"):
        prepare(cache, tmp_path, cudabench_row(**{"gen.py": "while True: pass"}))
    cache = CaseCache(tmp_path / "cases", limits=replace(ORACLE_LIMITS, file_bytes=1 << 20))
    with pytest.raises(OracleError, match=r"gen\.py failed"):
        prepare(cache, tmp_path, cudabench_row(**{"gen.py": "open('data/x.bin', 'wb').write(bytes(2 << 20))"}))


def test_a_case_is_made_once(cache, tmp_path):
    first = prepare(cache, tmp_path, cuset_row())
    assert inode(prepare(cache, tmp_path, cuset_row())) == inode(first)
    assert inode(prepare(CaseCache(cache.folder), tmp_path, cuset_row(prompt="Other words."))) == inode(first)
    assert inode(prepare(cache, tmp_path, cuset_row(reference=DOUBLE + "\n"))) != inode(first)


@pytest.mark.parametrize("damaged", ["expected/y.bin", "manifest.json"])
def test_a_damaged_entry_is_made_again(cache, tmp_path, damaged):
    first = prepare(cache, tmp_path, cuset_row())
    right = read(first.expected["data/y.bin"])
    (first.folder / damaged).chmod(0o644)
    (first.folder / damaged).write_bytes(bytes((first.folder / damaged).stat().st_size))
    assert np.array_equal(read(prepare(cache, tmp_path, cuset_row()).expected["data/y.bin"]), right)


def test_a_script_that_may_visit_all_pairs_is_prepared_early(cache, tmp_path):
    """Nested loops count more than the amount of data when the cost of preparing a case is estimated.

    The row of CUDABench that takes longest compares each of 8,192 points with every other one, and has less data than
    most rows.
    """
    loops = "for i in range(2):\n    for j in range(2):\n        pass\n"

    def cost(values, generate=GEN):
        outputs = [{"name": "y", "dtype": "float32", "shape": f"({values},)"}]
        return cache.preparation_cost(load_row(tmp_path, cudabench_row(**{"gen.py": generate, "outputs": outputs})))

    assert cost(50_000_000) < cost(20_000, GEN + loops)
    assert cost(64, GEN + loops) < cost(50_000)
    row = cudabench_row(**{"gen.py": GEN + loops})
    before = cache.preparation_cost(load_row(tmp_path, row))
    prepare(cache, tmp_path, row)
    assert cache.preparation_cost(load_row(tmp_path, row)) < before


# ---- the script server: scripts run in forks of a process with numpy imported, and all their processes end with them


@pytest.fixture
def server(sandboxed):
    server = ScriptServer(ORACLE_LIMITS, resolve_isolation())
    yield server
    server.close()


def run(server, folder, source):
    folder.mkdir()
    finished = server.run(["script", "gen.py"], {"gen.py": source}, folder)
    return finished.returncode, finished.stderr


def test_scripts_run_one_after_the_other_and_share_nothing(server, tmp_path):
    spoil = "import numpy, os, sys\nnumpy.zeros = None\nos.environ['LEFT'] = '1'\nopen('data/x', 'w').write('one')"
    assert run(server, tmp_path / "one", spoil) == (0, "")
    look = "import numpy, os\nnumpy.zeros(1)\nassert 'LEFT' not in os.environ\nassert not os.listdir('data'), os.listdir('..')"
    assert run(server, tmp_path / "two", look) == (0, "")
    assert (tmp_path / "one" / "data" / "x").read_text() == "one"
    code, said = run(server, tmp_path / "three", "print('to people'); raise ValueError('bad luck')")
    assert code == 1 and said.endswith("ValueError: bad luck\n")
    code, said = run(server, tmp_path / "four", "import os; os.kill(os.getpid(), 11)")
    assert code == -11


def test_what_a_script_started_ends_with_it(server, tmp_path):
    leaves = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        for _ in range(600):\n"
        "            open('data/alive', 'a').write('.')\n"
        "            time.sleep(0.02)\n"
        "    os._exit(0)\n"
        "while not os.path.exists('data/alive') or not os.path.getsize('data/alive'):\n"
        "    time.sleep(0.02)\n"
    )
    assert run(server, tmp_path / "one", leaves) == (0, "")
    size = (tmp_path / "one" / "data" / "alive").stat().st_size
    time.sleep(0.2)
    assert size and (tmp_path / "one" / "data" / "alive").stat().st_size == size


def test_a_server_that_is_killed_is_replaced(tmp_path, sandboxed):
    codes = []
    for name, source in (("one", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"), ("two", "pass")):
        (tmp_path / name).mkdir()
        given = ["script", "gen.py"], {"gen.py": source}, tmp_path / name, ORACLE_LIMITS, resolve_isolation()
        codes.append(run_script(*given).returncode)
    assert codes[0] != 0 and codes[1] == 0
