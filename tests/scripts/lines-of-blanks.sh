#!/bin/sh
# Lines of blanks alone are a command that zkCli does not know.
printf "\n   \n\t\nls /\nhistory\n" | zkCli.sh -server "$ZK" 2>&1 | grep -E "not found|^[0-9]|^\["
echo "  " | zkCli.sh -server "$ZK" >/dev/null 2>&1; echo "$?"
