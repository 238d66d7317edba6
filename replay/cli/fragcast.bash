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
    --on-oom) words='continue stop' ;;
    --color) words='auto always never' ;;
    --soc) words='ascend910b ascend950' ;;
    --at) words='event: request: mark: peak end' ;;
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
    words='info replay compare verify layout models profiles --help --version'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    local recorded='--setting --model --release --device-memory --fraction --soc --device --format'
    local what_if='--empty-cache --empty-cache-at --on-oom --profile --prices --json --csv'
    local all='--quiet --color --help'
    case $command in
      info) words="$recorded --salvage" ;;
      replay) words="$recorded $what_if --recorded-setting --snapshot-out --answers --expect" ;;
      compare) words="$recorded $what_if --recorded-setting --settings-file --threads" ;;
      verify) words="$recorded --tolerance" ;;
      layout) words="$recorded --recorded-setting --at --salvage" ;;
      profiles) words='--profile' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "${words-} $all" -- "$current")
  fi
}

complete -o default -F _fragcast fragcast
