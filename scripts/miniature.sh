#!/usr/bin/env bash
# A part of the miniature (docs/study_plan.md) under one seed: data, base models, runs. It takes one GPU.
#
#   scripts/miniature.sh rates              learning rates, with a seed that no other part uses
#   scripts/miniature.sh main 0             main table, Table 5 and signature; seeds 0 to 7
#   scripts/miniature.sh dose 0             wrong tokens in the training answers; seeds 0 to 2, on the base model that main made
#   scripts/miniature.sh sweeps 0           Fig. 4; the same
#   scripts/miniature.sh capability 0       other budgets of pretraining; seeds 0 to 2
#   scripts/miniature.sh main 0 1500        is stopped after so many seconds; the same command goes on from there and writes the report
#
# Answers and verdicts are in outputs/miniature/study (rates: outputs/miniature/rates), the report in its folder `report`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stop() {
    echo "miniature.sh: $1" >&2
    exit 2
}

part="${1:-}" seed="${2:-}" limit="${3:-}"
folder=outputs/miniature study=yaml_configs/studies/miniature.yaml budgets=50 seeds='[0-2]'
case "$part" in
    rates) study=yaml_configs/studies/miniature_rates.yaml seeds=100 seed="${seed:-100}" runs="*/seed100" ;;
    main) seeds='[0-7]' runs="base/*[a-z]/seed$seed" ;;
    dose) runs="cuda*/seed$seed,neutral*/seed$seed" ;;
    capability) runs="tokens*/seed$seed" budgets="25 100 200" ;;
    sweeps) runs="base/*=*/seed$seed" ;;
    *) stop "no part '$part'; expected: scripts/miniature.sh rates|main|dose|capability|sweeps [SEED] [SECONDS]" ;;
esac
[[ "$seed" =~ ^$seeds$ ]] || stop "no seed '$seed' in $part; expected $seeds"
[[ "$limit" =~ ^[0-9]*$ ]] || stop "SECONDS is '$limit'; expected a whole number"

[ -f $folder/data/miniature.json ] || cuset miniature data $folder/data depth=0,1,2 shards=80
if [ "$part" = dose ]; then
    for kind in cuda neutral; do
        for dose in 05 20; do
            to=$folder/$kind$dose
            [ -f $to/miniature.json ] || cuset miniature data $to depth=0,1,2 shards=0 corrupt=$kind dose=0.$dose
        done
    done
fi
for millions in $budgets; do
    to=$folder/tokens$millions-$seed
    if [ ! -d $to ]; then # whole or not at all
        [ "$part" != dose ] && [ "$part" != sweeps ] || stop "no $to: these runs are compared with main $seed, on the base model that it made"
        cuset miniature pretrain $folder/data $to.part tokens=${millions}000000 seed="$seed"
        python scripts/round_model.py $to.part
        mv $to.part $to
    fi
done
output=$folder/study
[ "$part" != rates ] || output=$folder/rates
mkdir -p $output
# Another pretraining with the same seed gives other weights: results of both are not to be mixed.
(cd $folder && sha256sum data/*.jsonl ./*/train.json tokens*[0-9]/model.safetensors) >$output/checksums.txt
[ -n "$limit" ] || exec cuset study run $study only="$runs"
[ $SECONDS -lt "$limit" ] || stop "no time is left: data and models took $SECONDS s"
exec timeout -s INT $((limit - SECONDS)) cuset study run $study only="$runs"
