#!/usr/bin/env bash
# A part of the miniature (docs/study_plan.md) under one seed, from nothing: data, base models, runs. It takes one GPU.
#
#   scripts/miniature.sh rates              learning rates, with a seed that no other part uses
#   scripts/miniature.sh main 0             main table, Table 5 and signature; seeds 0 to 7
#   scripts/miniature.sh dose 0             wrong tokens in the training answers; seeds 0 to 2, as the two below
#   scripts/miniature.sh capability 0       other budgets of pretraining
#   scripts/miniature.sh sweeps 0           Fig. 4
#   scripts/miniature.sh main 0 1500        ends after so many seconds; the same command goes on from there
#
# Answers and verdicts are in outputs/miniature/study (rates: outputs/miniature/rates), the report in its folder `report`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    echo "miniature.sh: $1; expected: scripts/miniature.sh rates|main|dose|capability|sweeps [SEED] [SECONDS]" >&2
    exit 2
}

part="${1:-}" seed="${2:-100}" limit="${3:-}"
[[ "$seed" =~ ^[0-9]+$ ]] || usage "SEED is '$seed'"
[[ "$limit" =~ ^[0-9]*$ ]] || usage "SECONDS is '$limit'"
folder=outputs/miniature study=yaml_configs/studies/miniature.yaml models=50
case "$part" in
    rates) study=yaml_configs/studies/miniature_rates.yaml runs="*/seed$seed" ;;
    main) runs="base/*[a-z]/seed$seed" ;;
    dose) runs="cuda*/seed$seed,neutral*/seed$seed" ;;
    capability) runs="tokens*/seed$seed" models="25 100 200" ;;
    sweeps) runs="base/*=*/seed$seed" ;;
    *) usage "no part '$part'" ;;
esac

[ -f $folder/data/miniature.json ] || cuset miniature data $folder/data depth=0,1,2 shards=80
if [ "$part" = dose ]; then
    for kind in cuda neutral; do
        for dose in 05 20; do
            to=$folder/$kind$dose
            [ -f $to/miniature.json ] || cuset miniature data $to depth=0,1,2 shards=0 corrupt=$kind dose=0.$dose
        done
    done
fi
for millions in $models; do
    to=$folder/tokens$millions-$seed
    if [ ! -d $to ]; then # whole or not at all
        cuset miniature pretrain $folder/data $to.part tokens=${millions}000000 seed="$seed"
        python scripts/round_model.py $to.part
        mv $to.part $to
    fi
done
if [ -z "$limit" ]; then
    exec cuset study run $study only="$runs"
fi
[ $SECONDS -lt "$limit" ] || usage "data and models took $SECONDS s"
exec timeout -s INT $((limit - SECONDS)) cuset study run $study only="$runs"
