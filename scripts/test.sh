#!/usr/bin/env bash
# The environment, the style checks and the test suite; CI calls exactly this.
#
#   bash scripts/test.sh                     everything that runs without a GPU
#   bash scripts/test.sh tests/objective -k window      only these; arguments go to pytest
#   bash scripts/test.sh -m gpu              the tests that need a GPU
#   CUSET_TEST_WEIGHTS=DIR bash scripts/test.sh -m real      those on real weights, from a Hugging Face model folder
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

# Half of the sandbox tests need bubblewrap. It is installed where that takes no question; without it they are skipped.
if ! command -v bwrap >/dev/null && ! [ -x "${CUSET_BWRAP:-}" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
        { timeout 120 apt-get install -qq -y --no-install-recommends bubblewrap ||
            { timeout 120 apt-get update -qq && timeout 120 apt-get install -qq -y --no-install-recommends bubblewrap; }; } >/dev/null 2>&1; then
        echo "test: installed $(bwrap --version)"
    else
        echo "test: bubblewrap is not installed and cannot be installed here; the tests that need it are skipped"
    fi
fi

ruff check .
ruff format --check .

export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
# Where a machine forbids compiled modules, every process compiles all that it imports: 12 of LLaMA-Factory's 31 s.
unset PYTHONDONTWRITEBYTECODE
if [ $# -eq 0 ]; then
    # A process a core, and one more since many tests wait, eight at most; a thread and a file of tests to each. In order: files of few tests
    # are the longest, and would come last.
    set -- tests --dist loadfile --no-loadscope-reorder --numprocesses "$(($(nproc) + 1))" --maxprocesses 8
    # Folders of passed tests go with them: some disks take 3 ms for each file that is on them, all of which a later run would wait for.
    set -- "$@" -o tmp_path_retention_policy=failed
    export OMP_NUM_THREADS=1 # nproc would heed it
fi
python -m pytest "$@"
