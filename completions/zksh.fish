# Completion of zksh for fish: asks the program.
function __zksh_candidates
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l program $words[1]
    set -e words[1]
    $program --complete $words "$(commandline --cut-at-cursor --current-token | string unescape)" 2>/dev/null
end
complete --command zksh --no-files --arguments '(__zksh_candidates)'
