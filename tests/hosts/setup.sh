#!/bin/sh
# Installs what the hosts other than Pi stand on, into target/hosts: jco and WASI for Node, and wasmtime for Python. The
# versions are those of node/package.json and python/requirements.txt. The second run does nothing and takes no time.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
node="$root/target/hosts/node"
python="$root/target/hosts/python"

# Node itself, npm and TypeScript.
sh "$root/tests/setup.sh"

if ! cmp -s "$here/node/package.json" "$node/installed.json"; then
  rm -rf "$node"
  mkdir -p "$node"
  cp "$here/node/package.json" "$node/package.json"
  # jco needs no install scripts, and none of a dependency should run here.
  (cd "$node" && npm install --loglevel=error --no-audit --no-fund --ignore-scripts)
  cp "$here/node/package.json" "$node/installed.json"
fi

if ! cmp -s "$here/python/requirements.txt" "$python/installed.txt"; then
  # A virtual environment needs ensurepip, which Debian has in a package of its own.
  usable() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
  if ! usable && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv
  fi
  if ! usable; then
    echo "Python 3.10 or newer with venv is missing: install it (on Debian: python3 and python3-venv), then run $0 again" >&2
    exit 1
  fi
  rm -rf "$python"
  python3 -m venv "$python"
  "$python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$here/python/requirements.txt"
  cp "$here/python/requirements.txt" "$python/installed.txt"
fi
