# Completion of zksh for bash: asks the program.
_zksh() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() current part before
  # Bash splits words at = and : too; put them together again.
  for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ $rest == [[:blank:]]* || ${#words[@]} == 0 ]]; then words+=(''); fi
    rest=${rest#"${rest%%[![:blank:]]*}"}
    current=${rest:0:${#part}} rest=${rest:${#part}}
    words[-1]+=$current
  done
  [[ $current == [=:] ]] && current=
  before=${words[-1]%"$current"} words=("${words[@]//\\/}")
  mapfile -t COMPREPLY < <("${1/#\~/$HOME}" --complete "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -gt 0 ]] || return
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")  # without the meanings of options
  mapfile -t COMPREPLY < <(printf '%q\n' "${COMPREPLY[@]#"$before"}")
  COMPREPLY=("${COMPREPLY[@]/#\\~/\~}")
  [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *[/=] ]] && compopt -o nospace
}
complete -F _zksh zksh
