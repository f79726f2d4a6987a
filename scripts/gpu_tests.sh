#!/usr/bin/env bash
# The tests that need a GPU: each file on a GPU that it has to itself, several beside each other where there are several. Prints the lines of
# benchmarks/gpu_tests_h200.txt as files end; their logs are in outputs/gpu_tests.
#
#   scripts/gpu_tests.sh                     all of tests/gpu
#   scripts/gpu_tests.sh judge analyze       tests/gpu/test_judge_gpu.py and test_analyze_gpu.py
#   CUSET_SECONDS=300 scripts/gpu_tests.sh   a file is stopped after so many seconds; default 1,800
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
gpus=${CUDA_VISIBLE_DEVICES-$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd,)}
[ -n "$gpus" ] || { echo "gpu_tests.sh: no GPU; nvidia-smi shows none, or CUDA_VISIBLE_DEVICES is empty" >&2; exit 2; }
# the longest first
[ $# -gt 0 ] || set -- judge training mutants programs curate fused sandbox generate analyze
export gpus logs=outputs/gpu_tests
mkdir -p $logs

one() { # NAME
    local name=$1 workers=1 begin=$SECONDS
    case $name in mutants | programs | fused) workers=4 ;; esac # they measure neither time nor all of the GPU's memory
    CUDA_VISIBLE_DEVICES=$(cut -d, -f$((slot + 1)) <<<"$gpus") timeout -s INT "${CUSET_SECONDS:-1800}" \
        python3 -m pytest -q -o addopts= -m gpu -rsP --durations=5 -n $workers "tests/gpu/test_${name}_gpu.py" >"$logs/$name.log" 2>&1
    local status=$?
    echo "\$ pytest -m gpu -n $workers tests/gpu/test_${name}_gpu.py"
    echo "$(grep -E '(passed|failed|skipped|error).* in ' "$logs/$name.log" | tail -n 1) [exit $status after $((SECONDS - begin)) s]"
    return $status
}
export -f one
printf '%s\n' "$@" | xargs -P "$(tr , '\n' <<<"$gpus" | wc -l)" --process-slot-var=slot -I{} bash -c 'one "$1"' one {} || failed=1
if [[ $gpus == *,* && " $* " =~ " training "|" fused " ]]; then # what takes several GPUs was skipped above
    timeout -s INT "${CUSET_SECONDS:-1800}" python3 -m pytest -q -o addopts= -m gpu -k "two_gpus or another_than" tests/gpu 2>&1 | tee "$logs/two_gpus.log" | tail -n 1 || failed=1
fi
exit "${failed:-0}"
