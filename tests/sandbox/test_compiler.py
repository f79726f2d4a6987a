"""nvcc in the sandbox: verdicts, diagnostics, and a cache that compiles each source once."""

import json
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cuset_stage.sandbox import (
    Compiler,
    Isolation,
    Limits,
    SandboxError,
    Verdict,
    find_toolkit,
    folders,
    run_program,
)
from cuset_stage.sandbox.scan import find_reach
from cuset_stage.sandbox.toolkit import _find


GOOD = "#include <cuda_fp16.h>\n__global__ void k(half* x) { x[0] = 1; }\nint main() { return 5; }\n"
BAD = "int main() {\n    return undefined_name;\n}\n"


@pytest.fixture
def compiler(own_caches, isolation):
    return Compiler(isolation=isolation, flags=("-O0", "-std=c++17"))


def test_compiles_once_and_remembers(compiler, tmp_path):
    first, second = compiler.compile(GOOD), compiler.compile(GOOD)
    assert (first.verdict, first.cached, second.verdict, second.cached) == (None, False, None, True)
    assert second.binary == first.binary and second.seconds == first.seconds and second.message == first.message
    assert first.command[1:] == ("-O0", "-std=c++17", "-arch=sm_90", "program.cu", "-o", "program")
    with run_program(first.binary, inputs={}, outputs={}, isolation=compiler.isolation) as ran:
        assert ran.verdict is Verdict.RUNTIME_ERROR and ran.message == "the program returned 5"
    with run_program(first.binary, inputs={}, outputs={}, isolation=compiler.isolation, keep=tmp_path / "kept") as ran:
        pass
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"program", "data", "tmp"}

    damaged = bytearray(first.binary.read_bytes())
    damaged[100] ^= 1
    first.binary.write_bytes(damaged)
    third = compiler.compile(GOOD)
    assert not third.cached and third.binary.read_bytes() != bytes(damaged)
    (third.binary.parent / "record.json").write_text("{")
    assert not compiler.compile(GOOD).cached
    assert compiler.compile(GOOD).cached


def test_an_error_is_remembered_and_names_no_folder_of_ours(compiler, own_caches):
    first, second = compiler.compile(BAD), compiler.compile(BAD)
    assert first.verdict is Verdict.COMPILE_ERROR and first.binary is None and not first.cached
    assert second.cached and second.verdict is Verdict.COMPILE_ERROR and second.message == first.message
    assert "program.cu(2)" in first.message and "undefined_name" in first.message
    assert str(own_caches) not in first.message and "tmpxft" not in first.message


def test_a_timeout_is_not_remembered(own_caches, isolation):
    compiler = Compiler(isolation=isolation, limits=Limits(wall_s=0.05))
    for _ in range(2):
        compiled = compiler.compile(GOOD)
        assert compiled.verdict is Verdict.COMPILE_TIMEOUT and not compiled.cached
        assert "wall time limit of 0.05 s" in compiled.message


def test_a_full_disk_is_not_charged_and_not_remembered(compiler, monkeypatch):
    """nvcc alone says "ended with 1", or that it cannot write; here any disk is too full."""
    with monkeypatch.context() as patched:
        patched.setattr(folders, "ROOM_BYTES", 2**60)
        compiled = compiler.compile(BAD)
        assert compiled.verdict is Verdict.INFRA_ERROR and "of the disk are free" in compiled.message
        assert "CUSET_SCRATCH" in compiled.message
        assert compiler.compile(GOOD).verdict is None
    compiled = compiler.compile(BAD)
    assert compiled.verdict is Verdict.COMPILE_ERROR and not compiled.cached


HUNGRY = """
import sys
from pathlib import Path
from cuset_stage.sandbox import Compiler
Path(sys.argv[1], "cgroup.procs").write_text("0")
source = "#include <regex>\\n#include <thrust/sort.h>\\nint main() { std::regex expression(sys); }"
print(Compiler(isolation=sys.argv[2]).compile(source))
"""


def test_a_compiler_killed_for_want_of_memory_is_not_charged(own_caches, isolation, small_memory):
    said = subprocess.run([sys.executable, "-c", HUNGRY, small_memory, isolation], capture_output=True, text=True)
    assert "Verdict.INFRA_ERROR" in said.stdout, (
        said
    )  # in other words where the kernel chose bubblewrap or nvcc itself
    assert not list((own_caches.parent / "cache" / "programs").glob("??/*/record.json"))


def test_again_does_not_ask_the_cache(compiler):
    compiler.compile(GOOD)
    assert not compiler.compile(GOOD, again=True).cached
    assert compiler.compile(GOOD).cached


def test_what_decides_the_result_is_in_the_key(own_caches, isolation, monkeypatch):
    def keys():
        return [
            Compiler(isolation=isolation, arch=arch, flags=flags).key(source)
            for arch, flags, source in [
                ("sm_90", ("-O3",), GOOD),
                ("sm_80", ("-O3",), GOOD),
                ("sm_90", ("-O2",), GOOD),
                ("sm_90", ("-O3",), BAD),
            ]
        ]

    monkeypatch.delenv("NVCC_APPEND_FLAGS", raising=False)
    before = keys()
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DX")
    assert len({*before, *keys()}) == 8
    other = replace(find_toolkit(), version="99.0")
    assert Compiler(other, isolation=isolation).key(GOOD) != Compiler(isolation=isolation).key(GOOD)
    with pytest.raises(SandboxError, match="arch='90'"):
        Compiler(arch="90")


COMPILE = """
    import sys, json
    from cuset_stage.sandbox import Compiler
    compiled = Compiler(isolation=sys.argv[1], flags=("-O0", "-std=c++17")).compile(sys.argv[2])
    print(json.dumps([compiled.cached, str(compiled.binary)]))
"""


def test_threads_and_processes_compile_one_source_once(compiler):
    results = []
    threads = [threading.Thread(target=lambda: results.append(compiler.compile(GOOD))) for _ in range(3)]
    command = [sys.executable, "-c", textwrap.dedent(COMPILE), str(compiler.isolation), GOOD]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(result.cached, str(result.binary)) for result in results]
    found += [tuple(json.loads(other.communicate(timeout=60)[0])) for other in others]
    assert len(found) == 5 and [cached for cached, _ in found].count(False) == 1
    assert len({binary for _, binary in found}) == 1


def test_odd_sources(compiler):
    assert compiler.compile("").verdict is Verdict.COMPILE_ERROR  # no main
    assert compiler.compile("int main() { return 0; } // \ud800 é\0").verdict is None


def test_toolkit(monkeypatch, tmp_path):
    toolkit = find_toolkit()
    assert toolkit.nvcc.is_file() and (toolkit.folder / "bin" / "nvcc").exists()
    assert toolkit.version.count(".") == 2
    with pytest.raises(SandboxError, match="CUDA_HOME"):
        _find((tmp_path / "missing",))


@pytest.mark.parametrize(
    "source",
    [
        '#include "/etc/passwd"',
        "#include </etc/passwd>",
        '#include "../secret"',
        '  #  include\t"/etc/passwd"',
        '%:include "/etc/passwd"',
        '#incl\\\nude "/etc/passwd"',
        '/* a */ #include "/etc/passwd"',
        '#define F "/etc/passwd"\n#include F',
        '#include_next "/etc/passwd"',
        '#embed "/etc/passwd"',
        '#if __has_include("/etc/shadow")\n#endif',
        'asm(".incbin \\"/etc/passwd\\"");',
        'asm(".inc" "bin \\"/etc/passwd\\"");',
        'asm(".in"\n   "clude \\"/etc/passwd\\"");',
        "#define P in##cbin",
        'asm(".macro x\\n.endm");',
    ],
)
def test_the_scan_sees_the_usual_ways_to_files(source):
    reach = find_reach("int a;\n" + source + "\nint main() {}\n")
    assert reach is not None and reach.startswith("program.cu(") and "without bubblewrap" in reach


def test_the_scan_names_the_line_and_leaves_honest_code_alone():
    assert find_reach('int a;\n\n#include "/etc/passwd"\n').startswith("program.cu(3): error:")
    assert find_reach('asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0};" : "=f"(x));') is None
    assert (
        find_reach("#include <cub/cub.cuh>\n#include <thrust/sort.h>\n#pragma unroll\n// #include the rest\n") is None
    )
    sources = sorted((Path(__file__).parents[2] / "data" / "kernels").glob("*/kernel.cu"))
    assert len(sources) >= 30
    assert [path.parent.name for path in sources if find_reach(path.read_text())] == []


def test_isolations_do_not_share_results(own_caches):
    """Without bubblewrap a compilation sees more of the machine."""
    keys = {Compiler(isolation=Isolation.PROCESSES).key(GOOD)}
    try:
        keys.add(Compiler(isolation=Isolation.BUBBLEWRAP).key(GOOD))
    except SandboxError:
        pytest.skip("bubblewrap does not work here")
    assert len(keys) == 2
