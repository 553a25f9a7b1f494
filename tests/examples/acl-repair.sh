#!/bin/sh
# Gives every world-writable node of a subtree the given ACL, then shows who may do what.
# usage: acl-repair.sh NODE ACL
zksh find "$1" -acl world:anyone:w -exec "setAcl {} $2" || exit
left=$(zksh find "$1" -acl world:anyone:w) || exit
[ -z "$left" ] || { printf 'anyone may still write:\n%s\n' "$left" >&2; exit 1; }
zksh getAcl -R --changes "$1"
