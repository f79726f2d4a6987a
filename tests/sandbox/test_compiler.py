"""nvcc in the sandbox: verdicts, messages, and the cache by which each source is compiled once."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from host_programs import HOST_FLAGS

from cuset_stage.sandbox import COMPILE_LIMITS, Compiler, Isolation, Limits, SandboxError, find_toolkit, run_program
from cuset_stage.sandbox.compiler import _find


GOOD = "int main() { return 5; }\n"
KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n" + GOOD
PATIENT = replace(COMPILE_LIMITS, wall_s=600)  # the machine may be busy
BAD = "int main() {\n    return undefined_name;\n}\n"


@pytest.fixture
def compiler(own_caches):
    return Compiler(flags=HOST_FLAGS, limits=PATIENT)


def test_compiles_in_both_ways(own_caches, isolation):
    compiler = Compiler(isolation=isolation, flags=("-O0", "-std=c++17"), limits=PATIENT)
    compiled = compiler.compile(KERNEL)
    assert compiled.verdict is None, compiled
    assert compiler.command()[1:] == ("-O0", "-std=c++17", "-arch=sm_90", "program.cu", "-o", "program")
    with run_program(compiled.binary, inputs={}, outputs={}, isolation=isolation) as ran:
        assert ran.verdict == "runtime_error" and ran.message == "the program returned 5"


def test_compiles_once_and_remembers(compiler):
    first, second = compiler.compile(GOOD), compiler.compile(GOOD)
    assert [(done.verdict, done.cached) for done in (first, second)] == [(None, False), (None, True)]
    assert second.binary == first.binary and second.seconds == first.seconds and second.message == first.message

    damaged = bytearray(first.binary.read_bytes())
    damaged[100] ^= 1
    first.binary.write_bytes(damaged)
    third = compiler.compile(GOOD)
    assert not third.cached and third.binary.read_bytes() != bytes(damaged)
    (third.binary.parent / "record.json").write_text("{")
    assert not compiler.compile(GOOD).cached
    assert compiler.compile(GOOD).cached


def test_an_error_is_remembered_and_names_no_folder_of_ours(own_caches):
    compiler, source = Compiler(limits=PATIENT), f"{BAD}#warning \x1b[2K\n"
    first, second = compiler.compile(source), compiler.compile(source)
    assert first.verdict == "compile_error" and first.binary is None and not first.cached
    assert second.cached and second.verdict == "compile_error" and second.message == first.message
    assert "program.cu(2)" in first.message and "undefined_name" in first.message
    assert str(own_caches) not in first.message and "tmpxft" not in first.message
    assert r"#warning \x1b[2K" in first.message and "\x1b" not in first.message  # no escape code for the terminal


def test_the_linkers_messages_name_no_folder_of_ours_behind_a_link(own_caches, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "scratch")
    monkeypatch.setenv("CUSET_SCRATCH", str(tmp_path / "link"))
    message = (
        Compiler(flags=HOST_FLAGS, limits=PATIENT).compile("int absent(); int main() { return absent(); }\n").message
    )
    assert "absent" in message and "cuset-run" not in message


def test_a_timeout_is_not_remembered(own_caches):
    compiler = Compiler(limits=Limits(wall_s=0.01))
    for _ in range(2):
        compiled = compiler.compile(GOOD)
        assert compiled.verdict == "compile_timeout" and not compiled.cached
        assert "wall time limit of 0.01 s" in compiled.message


def test_a_full_disk_is_not_charged_and_not_remembered(compiler, monkeypatch):
    """nvcc itself reports a full disk as "ended with 1" or a failed write. Here every disk counts as too full."""
    with monkeypatch.context() as patched:
        patched.setattr("cuset_stage.sandbox.folders.ROOM_BYTES", 2**60)
        compiled = compiler.compile(BAD)
        assert compiled.verdict == "infra_error" and "of the disk are free" in compiled.message
        assert "CUSET_SCRATCH" in compiled.message
        assert compiler.compile(GOOD).verdict is None
    compiled = compiler.compile(BAD)
    assert compiled.verdict == "compile_error" and not compiled.cached


def test_what_decides_the_result_is_in_the_key(own_caches, monkeypatch, isolation):
    def key(source=GOOD, **settings):
        return Compiler(**settings).key(source)

    def keys():
        return [key(), key(arch="sm_80"), key(flags=("-O2",)), key(BAD)]

    monkeypatch.delenv("NVCC_APPEND_FLAGS", raising=False)
    before = keys()
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DX")
    assert len({*before, *keys()}) == 8
    assert key(toolkit=replace(find_toolkit(), version="99.0")) != key()
    # A compiler that is confined less may have read more of the machine, so its results are not shared.
    assert key(isolation=isolation) != key(isolation=Isolation.NONE)
    with pytest.raises(SandboxError, match="arch='90'"):
        Compiler(arch="90")


COMPILE = """
import sys, json
from cuset_stage.sandbox import Compiler
compiled = Compiler(flags=sys.argv[2:]).compile(sys.argv[1])
print(json.dumps([compiled.cached, str(compiled.binary)]))
"""


def test_threads_and_processes_compile_one_source_once(compiler):
    command = [sys.executable, "-c", COMPILE, GOOD, *HOST_FLAGS]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    with ThreadPoolExecutor(3) as pool:
        compiled = [(result.cached, str(result.binary)) for result in pool.map(compiler.compile, 3 * [GOOD])]
    compiled += [tuple(json.loads(other.communicate(timeout=600)[0])) for other in others]
    assert len(compiled) == 5 and [cached for cached, _ in compiled].count(False) == 1
    assert len({binary for _, binary in compiled}) == 1


def test_odd_sources(compiler):
    assert compiler.compile("").verdict == "compile_error"  # no main
    assert compiler.compile("int main() { return 0; } // \ud800 é\0").verdict is None


def test_toolkit(tmp_path, monkeypatch):
    toolkit = find_toolkit()
    assert toolkit.nvcc.is_file() and (toolkit.folder / "bin" / "nvcc").exists()
    assert toolkit.version.count(".") == 2
    with pytest.raises(SandboxError, match="CUDA_HOME"):
        _find((tmp_path / "missing",))
    # A host compiler below the home folder makes only its own folder visible.
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder, opened in (("bin", tmp_path / "bin"), ("tools/gcc/bin", tmp_path / "tools" / "gcc")):
        monkeypatch.setenv("NVCC_CCBIN", str(tmp_path / folder / "g++"))
        visible = find_toolkit().visible
        assert opened in visible and not {tmp_path, *tmp_path.parents} & set(visible)
