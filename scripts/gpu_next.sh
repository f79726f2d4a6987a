#!/usr/bin/env bash
# What is to run on a GPU next, in parts that resume; takes 1, 2 or 4 GPUs.
#
#   scripts/gpu_next.sh OUT MODEL CUDABENCH [PART ...]
#
# OUT: folder for logs and results; it becomes outputs/real, where the studies look. MODEL: Qwen2.5-Coder-1.5B-Instruct, by the path that
# OUT's studies began with. CUDABENCH: a clone. Parts, all of them without any:
#   own          SFT on `cuset_kernels`, and that model's own answers to the training tasks, judged
#   onpolicy     SFT on those that are right, and on both; answers of all three to the development tasks and to cuset-mini
#   rates        yaml_configs/studies/real_rates.yaml: 14 minutes a run; RUNS says which, such as '*/sft/*,*/dft/*', in the study's order
#   tier1        yaml_configs/studies/real.yaml, once the rates stand in it; RUNS as above
#   sampling     transformers' continuous batching beside ours, 500 answers, in turns (one GPU, 15 minutes)
#   notebook     notebooks/qlora_15gib.ipynb in bf16 and in fp16, as if the GPU had 15 GiB (one GPU; needs bitsandbytes for its CUDA)
#   chain        training under `stage: cuset` and `stage: sft` in turns, sampling and judging, one GPU (20 minutes)
#   real         all tests on real weights (12 minutes)
# and, if named, `smoke`: the jobs of yaml_configs/studies/cpu.yaml (its model: docs/study.md), to see that studies run, also on a CPU.
# Set CUSET_CACHE and TMPDIR to a large disk or /dev/shm: CUDABench's inputs take 25 GiB and more beside a run's own. `own` finds its samples
# again on the same kind of card and with the same weights. Judging on the GPU of a training halves its speed. Two of these may run side by side with CUDA_VISIBLE_DEVICES and `taskset`: training waits for its one core.
# Start this with `setsid` where what a call started ends with the call.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,19s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
mkdir -p "$1"
out=$(realpath "$1") model=$(realpath "$2") bench=$(realpath "$3")
shift 3
[ $# -gt 0 ] || set -- rates tier1 own onpolicy sampling notebook chain real
cd "$root"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True CUSET_TEST_WEIGHTS=$model
python3 scripts/build_data.py
mkdir -p outputs
link() { [ "$1" -ef "$2" ] || ln -sfn "$1" "$2"; } # what lies there already stays
link "$out" outputs/real
link "$model" outputs/real/qwen2.5-coder-1.5b
link "$bench" CUDABench
[ -f outputs/real/develop.jsonl ] || python3 scripts/operations.py --tasks outputs/real/develop.jsonl

own() {
    sft hand data cuset_kernels || return
    grep data/operations data/cuset_train_tasks.jsonl >"$out/own_tasks.jsonl"
    cuset curate run yaml_configs/curate/own_answers.yaml folder="$out/own" sources="$out/own_tasks.jsonl" preset=cuset per_gpu=8 \
        "answer={model: $model, adapter: $out/hand, samples: 4, temperature: 0.8, top_p: 0.95, max_tokens: 2048, answered: replace, batch_size: 128}"
}
sft() { # NAME DATASET_DIR DATA_SETS
    [ -f "$out/$1/adapter_model.safetensors" ] || llamafactory-cli train yaml_configs/baselines/sft_qwen7b.yaml model_name_or_path="$model" \
        eval_dataset=null 'eval_strategy="no"' deepspeed=null output_dir="$out/$1" overwrite_output_dir=true cutoff_len=2048 seed=0 \
        per_device_train_batch_size=8 gradient_accumulation_steps=1 disable_gradient_checkpointing=true learning_rate=1.0e-4 \
        'save_strategy="no"' dataset_dir="$2" dataset="$3"
}
answers() { # NAME: sampled and judged
    local tasks
    for tasks in develop mini; do
        local file=outputs/real/develop.jsonl prompts=(prompts="$bench")
        [ $tasks = develop ] || { file=data/cuset_mini_2.jsonl prompts=(); }
        cuset generate tasks=$file "${prompts[@]}" model="$model" adapter="$out/$1" seed=100 temperature=0.2 top_p=0.95 max_tokens=2048 batch_size=96 \
            output="$out/$1-$tasks-answers.jsonl" &&
            cuset evaluate "$out/$1-$tasks-answers.jsonl" tasks=$file method=sft per_gpu=10 jobs=12 record_gpu=false seed=0 \
                output="$out/$1-$tasks-results.jsonl" || return
    done
}
onpolicy() {
    mkdir -p "$out/both"
    cp data/cuset_kernels.json data/dataset_info.json "$out/both" && python3 - "$out" <<'PYTHON' || return
import json, pathlib, sys

out = pathlib.Path(sys.argv[1])
[made] = (out / "own").rglob("dataset_info.json")
entries = {name: entry for name, entry in json.loads(made.read_text()).items() if entry.get("formatting", "alpaca") == "alpaca"}
rows = [row for entry in entries.values() for row in json.loads((made.parent / entry["file_name"]).read_text())]
(out / "both" / "own.json").write_text(json.dumps(rows))
known = json.loads((out / "both" / "dataset_info.json").read_text())
known["own"] = {"file_name": "own.json", **{key: value for key, value in next(iter(entries.values())).items() if key == "columns"}}
(out / "both" / "dataset_info.json").write_text(json.dumps(known))
print(len(rows), "answers of the model's own")
PYTHON
    sft onpolicy "$out/both" own && answers onpolicy && sft with-own "$out/both" cuset_kernels,own && answers with-own && answers hand
}
# STUDY: each GPU takes the next run: its jobs one after the other, on a share of the cores; needs no Snakemake
spread() {
    local written folder workers cores slot
    written=$(python3 - "$1" "${RUNS:-*}" <<'PYTHON'
import sys
from cuset_stage.study.plan import jobs_of, wanted
from cuset_stage.study.run import gpu_names, jobs_left, write_study
from cuset_stage.study.settings import StudySettings

settings = StudySettings.read([sys.argv[1], f"only={sys.argv[2]}"])
jobs = jobs_of(settings)
write_study(settings, jobs)
runs = {}
for job in jobs_left(settings, wanted(settings, jobs)):
    runs.setdefault(job.run.name, []).append(job.name)
(settings.output / "queue").write_text("".join(" ".join(names) + "\n" for names in runs.values()))
print(len(gpu_names(settings)) or 1, settings.output)
PYTHON
) || return
    read -r workers folder <<<"$written"
    cores=$(($(nproc) / workers))
    for ((slot = 0; slot < workers; slot++)); do
        (cd "$folder" && worker $((slot * cores))-$((slot * cores + cores - 1))) &
    done
    wait
}
worker() { # CORES; in the study's folder
    local jobs job
    while read -ra jobs < <(flock queue sed -i -e '1w /dev/stdout' -e 1d queue); do
        for job in "${jobs[@]}"; do
            taskset -c "$1" python3 -m cuset_stage.study.job "$job" >>"logs/$job.log" 2>&1 || { echo "$job failed: $PWD/logs/$job.log"; break; }
            echo "$(date +%T) $(cat "done/$job.json")"
        done
    done
}
rates() { spread yaml_configs/studies/real_rates.yaml; }
tier1() { spread yaml_configs/studies/real.yaml; }
smoke() { spread yaml_configs/studies/cpu.yaml; }
sampling() {
    python3 scripts/bench_sampling.py "$model" --tasks "$bench/Datasets/CUDABench-Set.jsonl" --prompts "$bench" --batches 96,192 --json "$out/sampling.json"
}
notebook() {
    local half
    python3 -c 'import bitsandbytes' || return # the wheel holds one library for each CUDA; libbitsandbytes_cuda130.so is that of CUDA 13.0
    for half in bf16 fp16; do
        grep -qs '"complete": true' "$out/notebook-$half.json" ||
            CUSET_NOTEBOOK_MODEL=$model CUSET_NOTEBOOK_FOLDER=$out/notebook-$half CUSET_NOTEBOOK_HALF=$half \
                python3 scripts/run_notebook.py notebooks/qlora_15gib.ipynb --memory-gib 15 --json "$out/notebook-$half.json" || return
    done
}
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
