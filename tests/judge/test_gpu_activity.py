"""The library that records what runs on a GPU, as far as that goes without one: it is built, loaded in the sandbox, and its record read."""

from pathlib import Path

import pytest
from host_programs import HOST_FLAGS

from cuset_stage.judge.gpu_activity import RECORD, Activity, Kernel, Recorder, Transfer, find_recorder, read_activity
from cuset_stage.sandbox import Compiler, Toolkit, find_toolkit, run_program


# What the driver does at the first call of a program: load the library and call its entry.
LOADS = r"""
#include <cstdlib>
#include <dlfcn.h>

int main() {
  void* library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (!library) return 90;
  return ((int (*)())dlsym(library, "InitializeInjection"))() == 1 ? 0 : 91;
}
"""
RIGHT = (
    "begin\nK 100 200 2 1 1 256 1 1 _Z4axpyfPfi\nC 10 90 1 4096\nC 150 260 8 64\nS 300 350 64\nC 400 500 2 128\nend\n"
)


def read(folder: Path, text: str | bytes) -> Activity:
    path = folder / "record"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_activity(path)


def test_a_program_in_the_sandbox_loads_it(isolation, cache, monkeypatch):
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    recorder = find_recorder()
    assert isinstance(recorder, Recorder), recorder
    program = Compiler(cache=cache / "programs", flags=(*HOST_FLAGS, "-ldl")).compile(LOADS).binary
    environment = recorder.environment("{folder}")
    with run_program(
        program, inputs=recorder.files, outputs={}, optional=[RECORD], environment=environment, isolation=isolation
    ) as ran:
        assert ran.verdict is None, ran.message
        assert not read_activity(ran.outputs[RECORD]).kernels


def test_without_cupti_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    toolkit = Toolkit(find_toolkit().nvcc, "13.0.0", tmp_path)
    monkeypatch.setattr("cuset_stage.judge.gpu_activity.find_toolkit", lambda: toolkit)
    assert "pip install nvidia-cuda-cupti" in find_recorder()


def test_what_a_record_says(tmp_path):
    activity = read(tmp_path, RIGHT)
    assert activity.kernels == (Kernel(100, 200, (2, 1, 1), (256, 1, 1), "_Z4axpyfPfi"),)
    assert activity.transfers[1] == Transfer(150, 260, 8, 64)
    assert (activity.bytes_to_gpu, activity.bytes_from_gpu) == (4096, 128)
    assert activity.busy_s == pytest.approx(210e-9)  # 100 to 260, where kernel and copy overlap, and the fill
    assert activity.complete and activity.works
    assert read(tmp_path, RIGHT + RIGHT).complete  # of two processes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "end\n",
        RIGHT + RIGHT.removesuffix("end\n"),
        RIGHT.replace("end", "lost 3\nend"),
        RIGHT.replace("K 100 200", "K 200 100"),
        # what no results file holds, or Python does not write
        RIGHT.replace("1 4096", f"1 {2**53}"),
        RIGHT.replace("1 4096", f"1 {'9' * 4300}"),
        RIGHT.replace("100 200", f"100 {2**62}"),
        RIGHT.replace("200 2 1 1 256 1 1", "200 2"),
        RIGHT.replace("4096", "many"),
        RIGHT.replace("C 10 ", "C "),
        RIGHT.replace("end", "U 1 2 3 4 -5\nend"),
        b"begin\n\xff\x00\nend\n",
        f"begin\nK {'9' * 5000} 1 1 1 1 1 1 1 x\nend\n",
    ],
)
def test_a_record_that_is_none_is_not_complete(tmp_path, text):
    assert not read(tmp_path, text).complete
