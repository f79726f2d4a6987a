#!/usr/bin/env bash
# What is to run on a GPU next, in parts that resume; takes 1, 2 or 4 GPUs.
#
#   scripts/gpu_next.sh OUT MODEL CUDABENCH [PART ...]
#
# OUT: folder for logs and results; it becomes outputs/real, where the studies look. MODEL: Qwen2.5-Coder-1.5B-Instruct, by the path that
# OUT's studies began with. CUDABENCH: a clone. Parts, all of them without any:
#   scaling      the paper's recipe on each number of GPUs, a minute a run, 24 runs a number; SCALING: options of scripts/bench_scaling.py
#   rates        yaml_configs/studies/real_rates.yaml: 14 minutes a run; RUNS says which, such as '*/sft/*,*/dft/*', in the study's order
#   tier1        yaml_configs/studies/real.yaml, once the rates stand in it; RUNS as above
#   chain        training under `stage: cuset` and `stage: sft` in turns, sampling and judging, one GPU (20 minutes)
#   real         all tests on real weights (12 minutes)
# and, if named, `smoke`: the jobs of yaml_configs/studies/cpu.yaml (its model: docs/study.md), to see that studies run, also on a CPU; and
# `inputs`: CUDABench's inputs, which tier1 makes beside its first trainings.
# Set CUSET_CACHE and TMPDIR to a large disk or /dev/shm: CUDABench's inputs take 84 GiB; what has no room is made again. Judging on the GPU of a
# training halves its speed. Two of these may run side by side with `taskset` (training waits for its one core): at one study only on one GPU,
# at different ones also on different GPUs (CUDA_VISIBLE_DEVICES).
# Start this with `setsid` where what a call started ends with the call.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,18s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
mkdir -p "$1"
out=$(realpath "$1") model=$(realpath "$2") bench=$(realpath "$3")
shift 3
[ $# -gt 0 ] || set -- scaling rates tier1 chain real
cd "$root"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True CUSET_TEST_WEIGHTS=$model
python3 scripts/build_data.py
mkdir -p outputs
link() { [ "$1" -ef "$2" ] || ln -sfn "$1" "$2"; } # what lies there already stays
link "$out" outputs/real
link "$model" outputs/real/qwen2.5-coder-1.5b
link "$bench" CUDABench
[ -f outputs/real/develop.jsonl ] || python3 scripts/operations.py --tasks outputs/real/develop.jsonl

# STUDY: each GPU takes the next run: its jobs one after the other, on a share of the cores; needs no Snakemake
spread() {
    local written folder workers cores slot queue
    queue=$(mktemp) # of its own: another of these may work at the same study on the same GPU (study.json names the GPUs of whoever wrote last)
    written=$(python3 - "$1" "${RUNS:-*}" "$queue" <<'PYTHON'
import pathlib, sys
from cuset_stage.study.plan import jobs_of, wanted
from cuset_stage.study.run import gpu_names, jobs_left, prepare
from cuset_stage.study.settings import StudySettings

settings = StudySettings.read([sys.argv[1], f"only={sys.argv[2]}"])
jobs = jobs_of(settings)
prepare(settings, jobs) # removes the records that no longer count, so what is left stays visible
runs = {}
for job in jobs_left(settings, wanted(settings, jobs)):
    runs.setdefault(job.run.name, []).append(job.name)
pathlib.Path(sys.argv[3]).write_text("".join(" ".join(names) + "\n" for names in runs.values()))
print(len(gpu_names(settings)) or 1, settings.output)
PYTHON
) || return
    read -r workers folder <<<"$written"
    cores=$(($(env -u OMP_NUM_THREADS nproc) / workers)) # nproc obeys that variable
    for ((slot = 0; slot < workers; slot++)); do
        (cd "$folder" && worker $((slot * cores))-$((slot * cores + cores - 1))) &
    done
    wait
}
worker() { # CORES; in the study's folder
    local jobs job
    while read -ra jobs < <(flock "$queue.lock" sed -i -e '1w /dev/stdout' -e 1d "$queue"); do
        for job in "${jobs[@]}"; do
            taskset -c "$1" python3 -m cuset_stage.study.job "$job" >>"logs/$job.log" 2>&1 || { echo "$job failed: $PWD/logs/$job.log"; break; }
            echo "$(date +%T) $(cat "done/$job.json")"
        done
    done
}
scaling() {
    [ -f "$out/scaling.json" ] || cp benchmarks/scaling_h200.json "$out/scaling.json" # what is there is not measured again
    # shellcheck disable=SC2086
    python3 scripts/bench_scaling.py --json "$out/scaling.json" --real "$model" ${SCALING:-}
}
rates() { spread yaml_configs/studies/real_rates.yaml; }
tier1() {
    inputs & # beside 16 cores of an H200 the first judging took 285 s, as it had to make them
    spread yaml_configs/studies/real.yaml # it waits for both
}
inputs() {
    nice python3 - "$bench/Datasets/CUDABench-Set.jsonl" <<'PYTHON'
import os, pathlib, sys
from concurrent.futures import ThreadPoolExecutor
from cuset_stage.judge.oracle import CaseCache, OracleError
from cuset_stage.tasks import load_tasks

cases = CaseCache()

def make(task):
    try:
        for case in task.cases:
            cases.prepare(task, case)
    except OracleError as error: # the judge will say so, too
        return print(error)
    return 1

with ThreadPoolExecutor(len(os.sched_getaffinity(0)) // 2 or 1) as pool:
    made = list(filter(None, pool.map(make, load_tasks(pathlib.Path(sys.argv[1])))))
print("inputs of", len(made), "tasks")
PYTHON
}
smoke() { spread yaml_configs/studies/cpu.yaml; }
chain() { python3 scripts/bench_chain.py "$model" "$bench" --rounds 3 --out "$out"; }
real() { python3 -m pytest tests/real -m real -o addopts= -v -rA --tb=short -p no:cacheprovider; }

for part; do
    [ -f "$out/$part.done" ] && continue
    echo "$part: $(date +%T)"
    if "$part" >"$out/$part.log" 2>&1; then
        [ -n "${RUNS:-}" ] || touch "$out/$part.done" # some runs of a study are not all of it
    else
        echo "$part failed: $out/$part.log"
        tail -n 5 "$out/$part.log"
    fi
done
