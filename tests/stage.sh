#!/bin/sh
# Times the stages of `make test`.
#   stage.sh --begin             forgets the stages of the last run
#   stage.sh NAME COMMAND...     runs a stage; its exit code is the command's, and a failure shows the table
#   stage.sh --end               shows the table
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
table="$root/target/stages"

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# A subshell, so that its variables are its own.
show() (
  total=0
  printf '\n%-52s %6s\n' stage 'min:s'
  while IFS="$(printf '\t')" read -r seconds code name; do
    total=$((total + seconds))
    [ "$code" -eq 0 ] || name="$name: failed ($code)"
    printf '%-52s %6s\n' "$name" "$(clock "$seconds")"
  done <"$table"
  printf '%-52s %6s\n\n' 'in all' "$(clock "$total")"
)

case $1 in
  --begin)
    mkdir -p "$root/target"
    : >"$table"
    ;;
  --end)
    show
    ;;
  *)
    name=$1
    shift
    printf '\n== %s\n' "$name"
    begin=$(date +%s)
    code=0
    "$@" || code=$?
    printf '%s\t%s\t%s\n' "$(($(date +%s) - begin))" "$code" "$name" >>"$table"
    [ "$code" -eq 0 ] || show
    exit "$code"
    ;;
esac
