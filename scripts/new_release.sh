#!/usr/bin/env bash
# What to run on the day that LLaMA-Factory, transformers or TRL releases: the tests of all that we use of it, with that version.
#
#   bash scripts/new_release.sh llamafactory==0.9.6
#   bash scripts/new_release.sh transformers==5.20.0 peft==0.20.0
#
# The environment of the suite stays as it is; the new versions lie over it in a folder of the test's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
CUSET_NEW="${*:?name a release, such as llamafactory==0.9.6}" bash scripts/test.sh -m slow tests/package/test_range.py
echo "$* works. Now enter it: CASES of tests/package/test_range.py, requirements/constraints.txt, setup.cfg's bounds, docs/install.md."
case "$*" in *llamafactory*)
    echo "Then see whether its v1 serves custom losses by itself (docs/other_trainers.md): cuset_stage.llamafactory_v1 may go." ;;
esac
