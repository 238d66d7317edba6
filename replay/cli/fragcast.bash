# Completion for fragcast, for bash: commands, their options, and the words some options take. All
# else is a file.

_fragcast() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} words
  COMPREPLY=()

  # An option that takes one of a few words, after a blank or an "=" (which bash splits off).
  [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
  [[ $current == = ]] && current=
  case $previous in
    --format) words='auto snapshot calls' ;;
    --empty-cache) words='keep drop' ;;
    --objective) words='memory time balanced' ;;
    --on-oom) words='continue stop' ;;
    --color) words='auto always never' ;;
    --soc) words='ascend910b ascend950' ;;
    --at) words='event: request: mark: step: peak end' ;;
    --step-at) words='event: request: mark: end' ;;
    --empty-cache-at)
      words='request: event: mark: step: end every: step-end step-end:every= before-step:longest'
      words+=' when:gap> when:utilisation< marker: none'
      ;;
    --model) words=$(fragcast models 2>/dev/null | sed -n 's/^\([a-z][a-z0-9-]*\)$/\1/p') ;;
    --profile) words=$(fragcast profiles 2>/dev/null | sed -nE 's/^([a-z0-9]+) .* (a guess|sources)$/\1/p') ;;
    --release) words=$(fragcast models 2>/dev/null | sed -n 's/^  release \([^ ]*\).*/\1/p') ;;
    --setting | --recorded-setting)
      words='expandable_segments:True max_split_size_mb: garbage_collection_threshold:' ;;
  esac
  if [[ ${words-} ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi

  if ((COMP_CWORD == 1)); then
    words='info replay compare verify layout steps growth empty-cache fit tune oom models profiles'
    words+=' --help'
    words+=' --version'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    local recorded='--setting --model --release --device-memory --fraction --soc --device --format'
    local steps='--step-at --steps --step-marker'
    local what_if='--empty-cache --empty-cache-at --without --drop-step --on-oom --others'
    local results='--profile --prices --json --csv'
    local all='--quiet --color --help'
    case $command in
      info) words="$recorded $steps --salvage" ;;
      replay)
        words="$recorded $steps $what_if $results --recorded-setting"
        words+=' --snapshot-out --answers --expect'
        ;;
      compare)
        words="$recorded $steps $what_if $results --recorded-setting --settings-file --threads"
        ;;
      verify) words="$recorded $steps --tolerance" ;;
      layout) words="$recorded $steps --recorded-setting --others --at --salvage" ;;
      growth)
        words="$recorded $steps $what_if --recorded-setting --csv --step --at --top"
        ;;
      empty-cache)
        words="$recorded $steps $what_if $results --recorded-setting --threads"
        ;;
      fit)
        words="$recorded $steps $what_if $results --recorded-setting --settings-file --threads"
        words+=' --points'
        ;;
      steps) words="$recorded $steps $what_if --recorded-setting" ;;
      tune)
        words="$recorded $steps $what_if --recorded-setting --settings-file --threads"
        words+=' --profile --prices --json --objective --with-empty-cache --all-keys --points'
        ;;
      oom)
        words='--trace --setting --device-memory --fraction --all --outside-above --streams-above'
        words+=' --pools-above --json'
        ;;
      profiles) words='--profile' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "${words-} $all" -- "$current")
  fi
}

complete -o default -F _fragcast fragcast
