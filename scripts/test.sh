#!/usr/bin/env bash
# The environment, the style checks and the test suite; CI calls exactly this.
#
#   bash scripts/test.sh                     everything that runs without a GPU
#   bash scripts/test.sh tests/objective -k window      only these; arguments go to pytest
#   bash scripts/test.sh -m gpu              the tests that need a GPU
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

ruff check .
ruff format --check .

export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
if [ $# -eq 0 ]; then
    set -- tests
fi
python -m pytest "$@"
