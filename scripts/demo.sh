#!/usr/bin/env bash
# Shows stage: cuset at work on a fresh machine: environment, tiny model, training on the bundled kernels, and the picture of what
# the model is sure of before and after. No GPU, no download but the packages; a few minutes after the environment is there.
#
#   bash scripts/demo.sh
#   CUSET_DEMO_STEPS=20 bash scripts/demo.sh      a shorter training (default: the recipe's max_steps)
#   CUSET_VENV=/somewhere bash scripts/demo.sh    the environment to make or use (see scripts/setup.sh)
#
# Everything is written to outputs/demo, which a later run overwrites.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
steps="${CUSET_DEMO_STEPS:-}"
if [[ -n "$steps" && ! "$steps" =~ ^[1-9][0-9]*$ ]]; then
    echo "demo: CUSET_DEMO_STEPS=$steps: a whole number of training steps, at least 1" >&2
    exit 2
fi

source scripts/setup.sh # makes the environment and puts its programs first on PATH

out=outputs/demo
log="$out/demo.log"
mkdir -p "$out"
: >"$log"
began=$SECONDS

failed() {
    echo >&2
    echo "demo: $1 failed; the end of $root/$log:" >&2
    tail -n 25 "$log" >&2
    exit 1
}

# The libraries print banners and warnings, which go to the log.
export PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=false

echo
echo "1/3  a tiny untrained model, and a tokenizer of its own"
python scripts/make_tiny_model.py "$out/tiny" --hidden-size 128 --layers 4 >>"$log" 2>&1 || failed "making the model"
grep 'M parameters' "$log" | tail -n 1 | sed 's/^/     /'

echo "2/3  llamafactory-cli train yaml_configs/cuset_smoke.yaml${steps:+ max_steps=$steps}"
echo "     epoch     loss  plain nll  confidence: CUDA  other"
rm -rf "$out/model"
overrides=()
if [ -n "$steps" ]; then
    overrides=("max_steps=$steps" "warmup_steps=$((steps / 10))")
fi
# CUDA_VISIBLE_DEVICES: on a machine with GPUs LLaMA-Factory would start one process for each.
# trainer_log.jsonl has the loss alone, so these lines come from what the trainer prints.
CUDA_VISIBLE_DEVICES="" llamafactory-cli train yaml_configs/cuset_smoke.yaml ${overrides[@]+"${overrides[@]}"} 2>&1 | tee -a "$log" | python -c '
import ast, re, sys

for line in sys.stdin:
    for entry in re.findall(r"\{\x27(?:loss|eval_loss)\x27.*?\}", line):
        values = {key: float(value) for key, value in ast.literal_eval(entry).items()}
        if "eval_loss" in values:
            print("     held-out: nll %.3f" % values["eval_loss"])
        else:
            names = ("epoch", "loss", "cuset/nll", "cuset/cuda_confidence", "cuset/other_confidence")
            print("     %5.1f  %7.3f  %9.3f  %16.3f  %5.3f" % tuple(values.get(name, float("nan")) for name in names))
' || failed "training"

echo "3/3  cuset heatmap: two held-out samples and two of the training data, before and after; tau=0 as in the training, since an untrained"
echo "     model gives nearly every token less than 0.1, the default, and nothing but CUDA tokens would be left"
cuset heatmap model="$out/model" before="$out/tiny" dataset=cuset_kernels_eval,cuset_kernels samples=2 dataset_dir=data template=qwen \
    cutoff_len=4096 window=256 tau=0 device=cpu output="$out/confidence.html" numbers=true 2>>"$log" | tee -a "$log" | sed 's/^/     /' ||
    failed "drawing the page"

cat <<TEXT

Done in $((SECONDS - began)) s. Where to look, in $root/$out:
  confidence.html            every token of four samples, shaded by how sure the model is, before and after (open in a browser)
  model/training_cuset.png   loss, nll and confidence of CUDA tokens and others, windows and weights over the steps
  model/training_loss.png    the loss alone; training_eval_loss.png: on held-out kernels
  model/all_results.json     the final metrics; model/trainer_log.jsonl: step by step
  model/                     the checkpoint; demo.log: everything that was printed
TEXT
