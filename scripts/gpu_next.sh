#!/usr/bin/env bash
# What is to run on a GPU next, in parts that resume; takes 1, 2 or 4 GPUs.
#
#   scripts/gpu_next.sh OUT MODEL CUDABENCH [PART ...]
#
# OUT: folder for logs and results. MODEL: Qwen2.5-Coder-1.5B-Instruct. CUDABENCH: a clone. Parts, all of them without any:
#   judge        verdicts of the answers that lie in OUT: sft-s*-answers.jsonl of round 3, without a model (5 minutes a seed on 16 cores)
#   packed       the one test on real weights that fails on a GPU: packed rows under `stage: sft`; it prints the losses now (2 minutes)
#   own          answers of the model's own to the training tasks: sampled with the adapter OUT/sft-s0 unless they lie in OUT/own, and judged
#   gate         SFT of MODEL on cuset_kernels for each of SEEDS, a seed a GPU, answers to CUDABench's own prompts, verdicts
#   chain        training under `stage: cuset` and `stage: sft` in turns, one GPU (13 minutes)
#   operations   programs of data/operations at the sizes that benchmarks/operations.jsonl does not have (16 cores: 20 minutes)
#   real         all tests on real weights (12 minutes)
# Set CUSET_CACHE and TMPDIR to a large disk or /dev/shm: CUDABench's inputs take 25 GiB and more beside a run's own. Training waits for
# its one core: nothing else may have all cores meanwhile, so each seed and what it starts has its share of them. Start this with `setsid`
# where what a call started ends with the call. Afterwards:
#   scripts/data_rounds.py --add OUT/sft-s1-results.jsonl --round 3 --seed 1 --set cudabench
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,20s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
mkdir -p "$1"
out=$(realpath "$1") model=$(realpath "$2") bench=$(realpath "$3")
shift 3
[ $# -gt 0 ] || set -- judge packed own gate chain operations real
cd "$root"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1 CUSET_TEST_WEIGHTS=$model
python3 scripts/build_data.py

packed() { python3 -m pytest tests/real -m real -o addopts= -k "packed-on and not neat" -rA --tb=long -p no:cacheprovider; }
real() { python3 -m pytest tests/real -m real -o addopts= -v -rA --tb=short -p no:cacheprovider; }
operations() {
    [ -f "$out/operations.jsonl" ] || cp benchmarks/operations.jsonl "$out/operations.jsonl"
    python3 scripts/operations.py --gpu --output "$out/operations.jsonl"
}
answers() { # NAME TASKS KEY=VALUE ...: sampled and judged
    cuset generate tasks="$2" model="$model" temperature=0.2 top_p=0.95 max_tokens=2048 batch_size=96 output="$out/$1-answers.jsonl" "${@:3}" &&
        cuset evaluate "$out/$1-answers.jsonl" tasks="$2" method=sft per_gpu=10 record_gpu=false output="$out/$1-results.jsonl"
}
judge() {
    for one in "$out"/sft-s*-answers.jsonl; do
        cuset evaluate "$one" tasks="$bench/Datasets/CUDABench-Set.jsonl" method=sft per_gpu=10 record_gpu=false \
            output="${one/answers/results}" || return
    done
}
own() {
    grep data/operations data/cuset_train_tasks.jsonl >"$out/own_tasks.jsonl"
    cuset curate run yaml_configs/curate/own_answers.yaml folder="$out/own" sources="$out/own_tasks.jsonl" preset=cuset \
        per_gpu=10 "answer={model: $model, adapter: $out/sft-s0, samples: 4, temperature: 0.8, top_p: 0.95, max_tokens: 2048, answered: replace, batch_size: 64}"
}
chain() { python3 scripts/bench_chain.py "$model" "$bench" --parts train --out "$out"; }
seed() { # of the gate
    local run="$out/sft-s$1"
    [ -f "$run-results.jsonl" ] && return
    [ -f "$run/adapter_model.safetensors" ] || llamafactory-cli train yaml_configs/baselines/sft_qwen7b.yaml model_name_or_path="$model" \
        eval_dataset=null 'eval_strategy="no"' deepspeed=null output_dir="$run" overwrite_output_dir=true cutoff_len=2048 seed="$1" \
        per_device_train_batch_size=4 gradient_accumulation_steps=2 disable_gradient_checkpointing=true learning_rate=1.0e-4 'save_strategy="no"' || return
    answers "sft-s$1" "$bench/Datasets/CUDABench-Set.jsonl" prompts="$bench" adapter="$run" seed="$1"
}
gate() {
    local gpus share number=0
    gpus=$(nvidia-smi -L | wc -l)
    share=$(($(nproc) / gpus))
    for one in ${SEEDS:-0 1 2}; do
        (
            taskset -cp "$((number % gpus * share))-$((number % gpus * share + share - 1))" "$BASHPID"
            CUDA_VISIBLE_DEVICES=$((number % gpus)) seed "$one"
        ) >"$out/sft-s$one.log" 2>&1 &
        number=$((number + 1))
        [ $((number % gpus)) -ne 0 ] || wait
    done
    wait
    for one in ${SEEDS:-0 1 2}; do [ -f "$out/sft-s$one-results.jsonl" ] || return 1; done
}

for part; do
    [ -f "$out/$part.done" ] && continue
    echo "$part: $(date +%T)"
    if "$part" >"$out/$part.log" 2>&1; then touch "$out/$part.done"; else echo "$part failed: $out/$part.log" && tail -n 5 "$out/$part.log"; fi
done
