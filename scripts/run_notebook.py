"""Run a notebook's code cells in order without Jupyter, and record what they print and the GPU's peak memory.

    python scripts/run_notebook.py notebooks/qlora_15gib.ipynb --json outputs/notebook.json
    python scripts/run_notebook.py notebooks/qlora_15gib.ipynb --json outputs/notebook.json --memory-gib 15

With --memory-gib, PyTorch may use no more than that of the GPU, less the size of a CUDA context, in this process and
in all processes that the cells start. This is a setting of the allocator in torch 2.11, and the script stops if the
cap does not hold. `peak_gib` is the driver's count for the whole GPU, read five times a second, less what was in use
before. So nothing else may use the GPU meanwhile. The record is written after every cell. The exit code is 1 if a cell
failed or the peak was above --memory-gib.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

from cuset_stage.files import write_atomically
from cuset_stage.sandbox.gpus import list_gpus, nvml


CONTEXT_GIB = 0.6  # of GPU memory that a process takes beside PyTorch's tensors
PACKAGES = ("torch", "transformers", "llamafactory", "peft", "bitsandbytes")
ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"
PROBE = """
import sys, torch
try:
    torch.empty(int(float(sys.argv[1]) * 2**30), dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError as error:
    print(error)
else:
    sys.exit("PyTorch got more of the GPU than --memory-gib allows: it needs a torch with per_process_memory_fraction.")
"""


class Tee(io.StringIO):
    """A text buffer that also prints what is written to it."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


class PeakMemory(threading.Thread):
    """A thread that watches the memory in use on a GPU.

    Attributes:
        before: bytes in use when the object was made.
        peak: most bytes in use so far.
    """

    def __init__(self, uuid: str) -> None:
        super().__init__(daemon=True)
        self._gpu = nvml().nvmlDeviceGetHandleByUUID(uuid)
        self.before = self.peak = self._used()

    def _used(self) -> int:
        return nvml().nvmlDeviceGetMemoryInfo(self._gpu).used

    def run(self) -> None:
        while True:
            self.peak = max(self.peak, self._used())
            time.sleep(0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--json", type=Path, required=True, help="the record to write")
    parser.add_argument("--memory-gib", type=float, help="as if the GPU had no more memory")
    args = parser.parse_args()
    cells = [cell for cell in json.loads(args.notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    output = args.json.resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    gpus = list_gpus()
    if gpus:
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # as the driver counts
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpus[0].index)  # the cells see only the GPU that is measured
    record = {
        "notebook": args.notebook.name,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "gpu": gpus[0].name if gpus else None,
        "versions": {name: version(name) for name in PACKAGES},
        "settings": {name: value for name, value in os.environ.items() if name.startswith("CUSET_NOTEBOOK_")},
        "memory_gib": args.memory_gib,
    }
    if args.memory_gib is not None:
        if not gpus:
            sys.exit("run_notebook: --memory-gib needs a GPU; nvidia-smi shows none.")
        fraction = (args.memory_gib - CONTEXT_GIB) * 2**30 / gpus[0].memory_bytes
        os.environ[ALLOCATOR] = f"per_process_memory_fraction:{fraction:.6f}"
        record["cap"] = subprocess.check_output([sys.executable, "-c", PROBE, str(args.memory_gib)], text=True).strip()
    memory = PeakMemory(gpus[0].uuid) if gpus else None
    if memory:
        memory.start()
    os.chdir(args.notebook.resolve().parent)
    names: dict = {"__name__": "__main__"}
    record["cells"], failed = [], False
    for number, cell in enumerate(cells, 1):
        began, printed = time.perf_counter(), Tee()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        except Exception:
            failed = True
            traceback.print_exc(file=printed)
        seconds = round(time.perf_counter() - began, 1)
        record["cells"].append({"id": cell["id"], "seconds": seconds, "printed": printed.getvalue()})
        if memory:
            record["used_before_gib"] = round(memory.before / 2**30, 3)
            record["peak_gib"] = round((memory.peak - memory.before) / 2**30, 3)
        record["complete"] = not failed and number == len(cells)
        write_atomically(output, json.dumps(record, indent=1) + "\n")
        if failed:
            break
    print(f"{output}: {'failed' if failed else 'complete'}, peak {record.get('peak_gib')} GiB")
    return int(failed or (args.memory_gib is not None and record["peak_gib"] > args.memory_gib))


def version(name: str) -> str | None:
    """Return the version of an installed package, or None."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    return None


if __name__ == "__main__":
    sys.exit(main())
