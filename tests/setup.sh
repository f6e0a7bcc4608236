#!/bin/sh
# Installs what the end-to-end tests drive into target/pi-host: Node (only where the machine's is older than 22.19),
# Pi, TypeScript and Node's types. Every version is pinned. The second run does nothing and takes no time.
set -eu

NODE_VERSION=24.22.3
PI_VERSION=1.6.0
TYPESCRIPT_VERSION=5.9.3
NODE_TYPES_VERSION=24.19.4

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
home="$root/target/pi-host"
stamp="$home/installed"
wanted="node $NODE_VERSION, pi $PI_VERSION, typescript $TYPESCRIPT_VERSION, node types $NODE_TYPES_VERSION"

if [ "$(cat "$stamp" 2>/dev/null || true)" = "$wanted" ] && [ -x "$home/bin/node" ]; then
  exit 0
fi

if ! command -v npm >/dev/null 2>&1; then
  if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends npm
  else
    echo "npm is missing: install Node 22.19 or newer, then run $0 again" >&2
    exit 1
  fi
fi

rm -rf "$home"
mkdir -p "$home/bin"
cd "$home"
echo '{ "private": true }' >package.json

packages="@earendil-works/pi-coding-agent@$PI_VERSION typescript@$TYPESCRIPT_VERSION @types/node@$NODE_TYPES_VERSION"
recent='const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)'
if node -e "$recent" 2>/dev/null; then
  ln -s "$(command -v node)" bin/node
else
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) platform=linux-x64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=darwin-arm64 ;;
    *) echo "Node is older than 22.19, and there is no package of it for $(uname -s) $(uname -m): install it" >&2; exit 1 ;;
  esac
  packages="$packages node-$platform@$NODE_VERSION"
  ln -s "../node_modules/node-$platform/bin/node" bin/node
fi

# Pi needs no install scripts, and none of a dependency should run here.
# shellcheck disable=SC2086 # the list is one of words
npm install --loglevel=error --no-audit --no-fund --ignore-scripts --save-exact $packages
bin/node -e "$recent"
echo "$wanted" >"$stamp"
