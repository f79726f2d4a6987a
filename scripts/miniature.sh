#!/usr/bin/env bash
# A part of the miniature (docs/miniature.md) under some seeds: data, base models, runs. It takes one GPU or several; under CUDA MPS
# (nvidia-cuda-mps-control -d) jobs share one better.
#
#   scripts/miniature.sh rates              learning rates, with a seed that no other part uses
#   scripts/miniature.sh main 0             main table, Table 5 and signature; seeds 0 to 7
#   scripts/miniature.sh dose 10            wrong tokens in the training answers; seeds 10 to 12
#   scripts/miniature.sh capability 20      budgets of pretraining; seeds 20 to 22
#   scripts/miniature.sh sweeps 30          Fig. 4; seeds 30 to 32
#   scripts/miniature.sh dose 10,11 sweeps 30   several; base models are pretrained beside each other, one a GPU
#   scripts/miniature.sh main 0 1500        is stopped after so many seconds, with a report of what is judged; the same command goes on from
#                                           there, but begins again with a base model that was not whole
#
# A base model that is missing is pretrained, each time to other weights: what is compared under a seed is run where that model is.
# Answers and verdicts are in outputs/miniature/study (rates: outputs/miniature/rates), the report in its folder `report`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stop() {
    echo "miniature.sh: $1" >&2
    exit 2
}

folder=outputs/miniature study=yaml_configs/studies/miniature.yaml
limit='' only='' models='' parts=' '
while [ $# -gt 0 ]; do
    [[ "$1" =~ ^[0-9]+$ && $# = 1 ]] && limit="$1" && break
    part="$1" seeds="${2:-}" budgets=50
    shift $(($# > 1 ? 2 : 1))
    case "$part" in
        rates) study=yaml_configs/studies/miniature_rates.yaml known=100 seeds="${seeds:-100}" runs=('*') ;;
        main) known='[0-7]' runs=('base/*') ;;
        dose) known='1[0-2]' runs=('clean/*' 'cuda*' 'neutral*') ;;
        capability) known='2[0-2]' runs=('tokens*') budgets='25 50 100 200' ;;
        sweeps) known='3[0-2]' runs=('swept/*') ;;
        *) stop "no part '$part'; expected: scripts/miniature.sh rates|main|dose|capability|sweeps SEEDS ... [SECONDS]" ;;
    esac
    [[ "$seeds" =~ ^$known(,$known)*$ ]] || stop "no seed '$seeds' in $part; expected $known, or several with commas between"
    for seed in ${seeds//,/ }; do
        models+=$(printf "%s $seed," $budgets)
        only+=$(printf ",%s/seed$seed" "${runs[@]}")
    done
    parts+="$part "
done
[ "$parts" != ' ' ] || stop 'which part? See the head of this script.'
[[ "$parts" != *' rates '* || "$parts" = ' rates ' ]] || stop 'rates is a study of its own: run it alone'

[ -f $folder/data/miniature.json ] || cuset miniature data $folder/data depth=0,1,2 shards=80
if [[ "$parts" = *' dose '* ]]; then
    for kind in cuda neutral; do
        for dose in 05 20; do
            to=$folder/$kind$dose
            [ -f $to/miniature.json ] || cuset miniature data $to depth=0,1,2 shards=0 corrupt=$kind dose=0.$dose
        done
    done
fi

within_limit() { # what a command starts with, to be stopped when the time is over
    [ -z "$end" ] || echo timeout -s INT $((end > EPOCHSECONDS ? end - EPOCHSECONDS : 1))
}
pretrain() { # MILLIONS SEED
    local to=$folder/tokens$1-$2
    [ -z "$gpus" ] || export CUDA_VISIBLE_DEVICES="$(cut -d, -f$((slot + 1)) <<<"$gpus")"
    [ -d "$to" ] && return # whole or not at all
    $(within_limit) cuset miniature pretrain $folder/data "$to.part" tokens="$1"000000 seed="$2"
    python scripts/round_model.py "$to.part"
    mv "$to.part" "$to"
}
export -f pretrain within_limit
gpus=${CUDA_VISIBLE_DEVICES-$({ nvidia-smi --query-gpu=index --format=csv,noheader || true; } 2>/dev/null | paste -sd,)}
end=${limit:+$((EPOCHSECONDS - SECONDS + limit))}
export folder gpus end
# The longest first: what is left at the end is short.
tr , '\n' <<<"${models%,}" | sort -u -k1,1rn -k2,2n | xargs -P "$(tr , '\n' <<<"$gpus" | wc -l)" --process-slot-var=slot -L 1 bash -euc 'pretrain "$@"' pretrain ||
    stop 'a base model is not whole: it failed, as printed above, or the time was over'
output=$folder/study
[ "$parts" != ' rates ' ] || output=$folder/rates
mkdir -p $output
# Results of other base models or data are not to be mixed with the published ones.
(cd $folder && sha256sum data/*.jsonl ./*/train.json tokens*[0-9]/model.safetensors) >$output/checksums.txt
[ -z "$limit" ] || [ $SECONDS -lt "$limit" ] || stop "no time is left: data and models took $SECONDS s"
exec $(within_limit) cuset study run $study only="${only#,}"
