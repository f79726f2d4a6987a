#!/usr/bin/env bash
# What is to run on a GPU next, in parts that resume; takes 1, 2 or 4 GPUs.
#
#   scripts/gpu_next.sh OUT MODEL CUDABENCH [PART ...]
#
# OUT: folder for logs and results; it becomes outputs/real, where the studies look. MODEL: Qwen2.5-Coder-1.5B-Instruct, by the path that
# OUT's studies began with. CUDABENCH: a clone. Parts, all of them without any:
#   scaling      the paper's recipe on each number of GPUs, a minute a run, 24 runs a number; SCALING: options of scripts/bench_scaling.py
#   rates        yaml_configs/studies/real_rates.yaml: 14 minutes a run; RUNS says which, in that order, such as '*/sft/*,*/dft/*'
#   tier1        yaml_configs/studies/real.yaml, once the rates stand in it; RUNS as above
#   tier2        the same file: 0.5B (SMALL: its path), and parts of CuSeT on 1.5B; TRAININGS: how many side by side on a GPU (1); RUNS as above
#   why          yaml_configs/studies/real_why.yaml: changes of CuSeT on 0.5B (SMALL), once tier2 has its rows; TRAININGS and RUNS as above
#   repeated     SFT and CuSeT of tier1 trained again, with pairs and confidence; SAMPLES: answers a prompt (3); RUNS as above
#   chain        training under `stage: cuset` and `stage: sft` in turns, sampling and judging, one GPU (20 minutes)
#   real         all tests on real weights (12 minutes)
# and, if named, `smoke`: the jobs of yaml_configs/studies/cpu.yaml (its model: docs/study.md), to see that studies run, also on a CPU; and
# `inputs`: CUDABench's inputs, which tier1, tier2, why and repeated make beside their first trainings.
# Set CUSET_CACHE, CUSET_SCRATCH and TMPDIR to folders of one large disk, or a tmpfs of 118 GiB for one GPU, 200 for two: CUDABench's inputs take 84,
# and what has no room is made again (two judges in 118 GiB judged 2 answers a second each, one alone judges 7). Judging on the GPU of a training
# halves its speed.
# Two of these may run side by side at different studies on different GPUs (CUDA_VISIBLE_DEVICES).
# Start this with `setsid` where what a call started ends with the call.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,23s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
mkdir -p "$1"
out=$(realpath "$1") model=$(realpath "$2") bench=$(realpath "$3")
shift 3
[ $# -gt 0 ] || set -- scaling rates tier1 repeated tier2 why chain real
cd "$root"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True CUSET_TEST_WEIGHTS=$model
python3 scripts/build_data.py
mkdir -p outputs
link() { [ "$1" -ef "$2" ] || ln -sfn "$1" "$2"; } # what lies there already stays
link "$out" outputs/real
link "$model" outputs/real/qwen2.5-coder-1.5b
link "$bench" CUDABench
[ -z "${SMALL:-}" ] || link "$(realpath "$SMALL")" outputs/real/qwen2.5-coder-0.5b
[ -f outputs/real/develop.jsonl ] || python3 scripts/operations.py --tasks outputs/real/develop.jsonl

# STUDY [KEY=VALUE ...]: on each GPU TRAININGS lanes train run after run, and two others sample and judge what is trained, at last all of them;
# needs no Snakemake
spread() ( # a shell of its own: it binds itself to each GPU in turn
    lists=$(mktemp -d)
    written=$(python3 - "$lists" "$@" "only=${RUNS:-*}" executor=lanes <<'PYTHON'
import os, pathlib, sys
from fnmatch import fnmatchcase
from cuset_stage.study.plan import jobs_of, wanted
from cuset_stage.study.run import gpu_names, jobs_left, prepare
from cuset_stage.study.settings import StudySettings

lists, settings = pathlib.Path(sys.argv[1]), StudySettings.read(sys.argv[2:])
if samples := os.environ.get("SAMPLES"):
    settings = settings.model_copy(update={"generate": {**settings.generate, "samples": int(samples)}})
jobs = jobs_of(settings)
prepare(settings, jobs) # removes the records that no longer count, so what is left stays visible
trainings, others = [], {}
def order(job):
    return [fnmatchcase(job.run.name, pattern) for pattern in settings.only].index(True)

for job in sorted(jobs_left(settings, wanted(settings, jobs)), key=order):
    if job.kind == "train":
        trainings.append(job.name)
        (lists / job.run.name.replace("/", "%")).touch() # until it is trained
    else:
        others.setdefault(job.run.name, []).append(job.name)
(lists / "train").write_text("".join(f"{name}\n" for name in trainings))
(lists / "others").write_text("".join(" ".join(names) + "\n" for names in others.values()))
print(",".join(gpu_names(settings)) or "none", settings.output)
PYTHON
) || exit
    read -r gpus folder <<<"$written"
    IFS=, read -ra gpus <<<"$gpus"
    cores=$(($(env -u OMP_NUM_THREADS nproc) / ${#gpus[@]})) # nproc obeys that variable
    cd "$folder" || exit
    for gpu in "${!gpus[@]}"; do
        export CUDA_VISIBLE_DEVICES=${gpus[gpu]#none}
        taskset -cp $((gpu * cores))-$((gpu * cores + cores - 1)) $BASHPID >/dev/null
        for ((i = 0; i < ${TRAININGS:-1}; i++)); do
            { lane train; lane others 10; } &
        done
        for _ in 1 2; do # one samples while the other judges
            lane others 10 & # a training waits for its one core, so the others let it go first
        done
    done
    wait
    rm -r "$lists"
)
lane() { # LIST [NICENESS]; in the study's folder
    local jobs job marker alone
    while read -ra jobs < <(flock "$lists/lock" sed -i -e '1w /dev/stdout' -e 1d "$lists/$1"); do
        marker=${jobs[0]#*/}
        marker=$lists/${marker//\//%}
        while [ "$1" = others ] && [ -e "$marker" ]; do sleep 2; done
        for job in "${jobs[@]}"; do
            alone=()
            [[ $job != evaluate/* ]] || alone=(flock "$lists/judge$CUDA_VISIBLE_DEVICES") # two judges have too little room
            nice -n "${2:-0}" "${alone[@]}" python3 -m cuset_stage.study.job "$job" >>"logs/$job.log" 2>&1 ||
                { echo "$job failed: $PWD/logs/$job.log"; break; }
            echo "$(date +%T) $(cat "done/$job.json")"
        done
        [ "$1" = others ] || rm "$marker"
    done
}
scaling() {
    [ -f "$out/scaling.json" ] || cp benchmarks/scaling_h200.json "$out/scaling.json" # what is there is not measured again
    # shellcheck disable=SC2086
    python3 scripts/bench_scaling.py --json "$out/scaling.json" --real "$model" ${SCALING:-}
}
rates() { spread yaml_configs/studies/real_rates.yaml; }
cudabench() { # RUNS [KEY=VALUE ...]: the study on CUDABench, with these runs unless RUNS names others
    [ -f "$out/inputs.done" ] || inputs & # beside 16 cores of an H200 the first judging took 285 s, as it had to make them
    local RUNS=${RUNS:-$1}
    spread "${study:-yaml_configs/studies/real.yaml}" "${@:2}"
}
tier1() { cudabench '*1.5b/vanilla/seed0,*1.5b/*ft/*,*1.5b/cuset/*,*1.5b/profit/*'; }
tier2() {
    cudabench '*0.5b/vanilla/seed0,*0.5b/sft/*,*0.5b/cuset/*,*/both_masks/*,*/region/*,*0.5b/*ft/*,*0.5b/profit/*' output=outputs/real/tier2
}
why() { study=yaml_configs/studies/real_why.yaml cudabench '*/seed0,*/seed1,*/seed2'; }
repeated() {
    local -x SAMPLES=${SAMPLES:-3}
    cudabench '*1.5b/sft/*,*1.5b/cuset/*' output=outputs/real/repeated 'pairs={}' 'analyze={dataset: cuset_kernels_eval}'
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
