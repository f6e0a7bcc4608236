#!/bin/sh
# Builds the Node host into target/hosts/node: takes the component out of the runner, transpiles it, which also writes its
# types, and compiles the host against them. Run `make build` and tests/hosts/setup.sh before.
#
#   build.sh [RUNNER]
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
home="$root/target/hosts/node"
node="$root/target/pi-host/bin/node"

"${1:-$root/target/release/context-guard}" inspect --wasm "$home/context-guard.wasm" >"$home/inspect.txt"
rm -rf "$home/guest" "$home/host"
# With --instantiation the host names every import itself, and can have as many instances as it likes.
"$node" "$home/node_modules/@bytecodealliance/jco/dist/jco.js" transpile "$home/context-guard.wasm" \
  --out-dir "$home/guest" --name guard --instantiation sync --quiet
"$node" "$root/target/pi-host/node_modules/typescript/bin/tsc" --project "$root/tests/hosts/node"
