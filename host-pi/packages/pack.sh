#!/bin/sh
# Makes the npm packages of this platform from its runner: target/packages/*.tgz
#
#   sh host-pi/packages/pack.sh target/release/context-guard
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
runner=$1
# Node may be too old for Pi and still pack.
platform=$(node -p 'process.platform + "-" + process.arch')
mkdir -p "$root/target"
"$runner" inspect --wasm "$root/target/context-guard.wasm" >/dev/null
node "$root/host-pi/packages/pack.mjs" --binary "$platform=$runner" --component "$root/target/context-guard.wasm" \
  --out "$root/target/packages"
