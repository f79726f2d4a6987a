#!/usr/bin/env bash
# What is to run on a GPU next, in parts that resume; needs one GPU, and takes more.
#
#   scripts/gpu_next.sh OUT MODEL CUDABENCH [PART ...]
#
# OUT: folder for logs, rows and results. MODEL: Qwen2.5-Coder-1.5B-Instruct. CUDABENCH: a clone. Parts, all of them without any:
#   operations   both programs of every operation at all sizes (16 cores: about 8 minutes)
#   head         scripts/bench_head.py; PEERS=DIR: folder of peers' wheels, installed
#   real         the tests on real weights
#   gate         SFT of MODEL on the operations' training rows, answers to CUDABench's own prompts, verdicts; ROWS, EPOCHS, SEED choose the training
# Caches and programs' folders go to TMPDIR and CUSET_CACHE: CUDABench's inputs take 25 GiB and more beside a run's own.
set -uo pipefail
[ $# -ge 3 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
mkdir -p "$1"
out=$(realpath "$1") model=$(realpath "$2") bench=$(realpath "$3")
shift 3
[ $# -gt 0 ] || set -- head operations real gate
cd "$root"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1

operations() { python3 scripts/operations.py --gpu --output "$out/operations.jsonl"; }
head() { python3 scripts/bench_head.py ${PEERS:+--peers "$PEERS"} --rounds 3 --out "$out"; }
real() { CUSET_TEST_WEIGHTS=$model python3 -m pytest tests/real -m real -o addopts= -v -rA --tb=short -p no:cacheprovider; }
gate() {
    local run="$out/sft-${ROWS:-all}-e${EPOCHS:-1}-s${SEED:-0}" tasks="$bench/Datasets/CUDABench-Set.jsonl"
    python3 scripts/operations.py --rows "$out/rows" || return
    [ -f "$run/adapter_model.safetensors" ] || llamafactory-cli train yaml_configs/baselines/sft_qwen7b.yaml model_name_or_path="$model" \
        dataset_dir="$out/rows" dataset=operations eval_dataset=null 'eval_strategy="no"' deepspeed=null output_dir="$run" overwrite_output_dir=true \
        cutoff_len=2048 per_device_train_batch_size=4 gradient_accumulation_steps=2 num_train_epochs="${EPOCHS:-1}" seed="${SEED:-0}" \
        ${ROWS:+max_samples="$ROWS"} learning_rate=1.0e-4 'save_strategy="no"' || return
    cuset generate tasks="$tasks" prompts="$bench" model="$model" adapter="$run" temperature=0.2 top_p=0.95 max_tokens=2048 batch_size=64 \
        seed="${SEED:-0}" output="$run-answers.jsonl" || return
    cuset evaluate "$run-answers.jsonl" tasks="$tasks" method=sft per_gpu=8 record_gpu=false output="$run-results.jsonl" || return
    python3 scripts/bench_prompts.py "$run-results.jsonl" --model "$(basename "$run")" --output "$run.json"
}

for part; do
    [ -f "$out/$part.done" ] && continue
    echo "$part: $(date +%T)"
    if "$part" >"$out/$part.log" 2>&1; then touch "$out/$part.done"; else echo "$part failed: $out/$part.log" && tail -n 5 "$out/$part.log"; fi
done
