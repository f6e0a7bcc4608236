#!/bin/sh
# Makes sure that this machine can compile the guest, and says in one line how. The build (host-pi/build.rs) finds
# the same ways by itself; this script opens one where there is none. In this order:
#   - a toolchain that has the compiled standard library of the target
#   - a toolchain that has the library's sources
#   - `rustup target add`
#   - root on Debian: its packages, which bring a compiler with sources
# CONTEXT_GUARD_WASM_RUSTC names a compiler to try first.
set -eu

target=wasm32-unknown-unknown
# What the workspace needs; an older compiler does not know its edition's rules.
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")
packages="rustc-web cargo-web rust-web-src rust-web-llvm lld-22"

is_recent() {
    version=$("$1" --version 2>/dev/null | cut -d' ' -f2) && [ -n "$version" ] &&
        [ "$(printf '%s\n%s\n' "$oldest" "$version" | sort -V | head -n1)" = "$oldest" ]
}
has_std() {
    directory=$("$1" --print target-libdir --target $target 2>/dev/null) && ls "$directory"/libstd-*.rlib >/dev/null 2>&1
}
has_sources() {
    root=$("$1" --print sysroot 2>/dev/null) && [ -f "$root/lib/rustlib/src/rust/library/Cargo.lock" ]
}
# Prints the way that is open now, if one is.
open_way() {
    for compiler in "${CONTEXT_GUARD_WASM_RUSTC:-}" rustc /usr/bin/rustc; do
        if [ -n "$compiler" ] && is_recent "$compiler" && has_std "$compiler"; then
            echo "guest: $compiler has the library of $target"
            return
        fi
    done
    for compiler in "${CONTEXT_GUARD_WASM_RUSTC:-}" rustc /usr/bin/rustc; do
        if [ -n "$compiler" ] && is_recent "$compiler" && has_sources "$compiler"; then
            echo "guest: $compiler has the library's sources, the build compiles them for $target"
            return
        fi
    done
    return 1
}
is_debian_root() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}
install() {
    apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# Build scripts and macros run on this machine and need its linker.
if ! command -v cc >/dev/null; then
    if is_debian_root; then
        install gcc libc6-dev
    else
        echo "guest: there is no C linker; install gcc (Debian: apt-get install gcc libc6-dev)" >&2
        exit 1
    fi
fi

if open_way; then exit; fi
# A blocked network may not refuse but hang.
if command -v rustup >/dev/null && timeout 60 rustup target add $target >/dev/null 2>&1 && open_way; then exit; fi
# shellcheck disable=SC2086  # a list of words
if is_debian_root && install $packages && open_way; then exit; fi

cat >&2 <<END
guest: nothing here compiles for $target. Any one of these mends it:
  rustup target add $target
  apt-get install $packages   (Debian, as root)
  CONTEXT_GUARD_WASM_RUSTC=/path/to/rustc with that target's library or with its sources
END
exit 1
