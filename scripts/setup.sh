#!/usr/bin/env bash
# Makes the environment this checkout runs in: a virtual environment, the tested versions, cuset-stage in editable mode.
#
#   scripts/setup.sh                run it, or source it: then the environment's programs come first on PATH
#   CUSET_VENV=/somewhere           where the environment lies; default: .venv in this checkout
#   CUSET_PYTHON=python3.12         the Python it is made from; default: the first of 3.11 to 3.13 found
#
# It also builds data/cuset_*.json(l) from their sources. The second run takes no time: it compares dates, and a stamp of the files that say
# what is installed. CUDA is not needed.
set -euo pipefail

cuset_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cuset_venv="${CUSET_VENV:-$cuset_root/.venv}"

cuset_recent() { # whether this command is a Python that cuset-stage runs on
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' >/dev/null 2>&1
}

cuset_find_python() {
    local candidate
    for candidate in ${CUSET_PYTHON:-python3.11 python3.12 python3.13 python3 python}; do
        if cuset_recent "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "setup: no Python 3.11 to 3.13 among: ${CUSET_PYTHON:-python3.11 python3.12 python3.13 python3 python}." >&2
    echo "setup: install one, or name yours: CUSET_PYTHON=/path/to/python3.11 scripts/setup.sh" >&2
    return 1
}

cuset_stamp() { # the files that decide what is installed, and where the editable install points
    "$cuset_venv/bin/python" - "$cuset_root" <<'PYTHON'
import hashlib, pathlib, sys

root = pathlib.Path(sys.argv[1])
names = ("setup.cfg", "setup.py", "pyproject.toml", "requirements/constraints.txt", "src/cuset_stage.pth", "src/cuset_stage.start")
print(hashlib.sha256(b"\0".join([str(root).encode(), *((root / name).read_bytes() for name in names)])).hexdigest())
PYTHON
}

if [ ! -x "$cuset_venv/bin/python" ]; then
    cuset_python="$(cuset_find_python)"
    echo "setup: making $cuset_venv with $("$cuset_python" --version)"
    if ! "$cuset_python" -m venv "$cuset_venv"; then
        echo "setup: '$cuset_python -m venv' failed; on Debian and Ubuntu it needs the python3-venv package" >&2
        exit 1
    fi
elif ! cuset_recent "$cuset_venv/bin/python"; then
    echo "setup: $cuset_venv holds $("$cuset_venv/bin/python" --version); cuset-stage needs 3.11 or later." >&2
    echo "setup: remove it, or set CUSET_VENV to another folder" >&2
    exit 1
fi

if [ -x "$cuset_venv/bin/cuset" ] && [ "$(cat "$cuset_venv/cuset-stage.stamp" 2>/dev/null)" = "$(cuset_stamp)" ]; then
    echo "setup: $cuset_venv is up to date"
else
    echo "setup: installing cuset-stage and the tested versions into $cuset_venv (a few GB the first time)"
    # uv takes half a minute where pip takes three; it does not read pip's configuration, so pip is asked where uv fails. Like pip, it is to
    # trust the system's certificates: a company's proxy may have its own.
    cuset_asked=(-c "$cuset_root/requirements/constraints.txt" -e "$cuset_root[dev]")
    "$cuset_venv/bin/python" -m pip install --disable-pip-version-check -q uv &&
        UV_NATIVE_TLS="${UV_NATIVE_TLS:-true}" "$cuset_venv/bin/uv" pip install --python "$cuset_venv/bin/python" "${cuset_asked[@]}" ||
        "$cuset_venv/bin/python" -m pip install --disable-pip-version-check "${cuset_asked[@]}"
    cuset_stamp >"$cuset_venv/cuset-stage.stamp"
    echo "setup: done; activate it with: source $cuset_venv/bin/activate"
fi

"$cuset_venv/bin/python" "$cuset_root/scripts/build_data.py"

# For a script that sources this file. A shebang line of the environment works without it.
export PATH="$cuset_venv/bin:$PATH"
