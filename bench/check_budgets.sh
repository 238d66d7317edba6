#!/usr/bin/env bash
# Counts the instructions of a million model calls and holds them against budgets.txt.
#
#     check_budgets.sh REPLAY_CALLS COMPILER      such as: build/release/bench/replay_calls 'GNU 12.2.0'
set -euo pipefail
program=$1
compiler=$2
budgets=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/budgets.txt
script=${FRAGCAST_RECORDINGS:-}/golden/big/big_mixed_seed9001.txt.gz

skip() {
  printf 'skipped: %s\n' "$*"
  exit 0
}
command -v valgrind >/dev/null || skip 'valgrind is not installed'
[[ -f $script ]] || skip 'FRAGCAST_RECORDINGS holds no golden/big'
grep --quiet --fixed-strings --line-regexp "compiler $compiler" "$budgets" ||
  skip "the budgets are for another compiler than $compiler"

counts=$(mktemp)
trap 'rm --force "$counts"' EXIT
status=0
while read -r model settings budget; do
  [[ $model == \#* || $model == compiler || -z $model ]] && continue
  conf=$settings
  [[ $settings == default ]] && conf=''
  # Collection is on inside replay_all only, so that reading the script costs nothing.
  calls=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    --toggle-collect='fragcast::replay_all*' --log-file="$counts" "$program" "$script" "$model" "$conf")
  instructions=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$counts")
  per_call=$((instructions / calls))
  verdict=ok
  if ((per_call > budget)); then
    verdict='OVER BUDGET'
    status=1
  fi
  printf '%-12s  %-24s %5d instructions per call, budget %5d: %s\n' \
    "$model" "$settings" "$per_call" "$budget" "$verdict"
done <"$budgets"
exit "$status"
