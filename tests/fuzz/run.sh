#!/bin/sh
# Fuzzes one target after another with libFuzzer: TIME seconds each (60 if it is not set), those named as arguments or all.
# What it learns is kept in target/fuzz; a failing input is left there, too, and its path is printed.
set -eu
cd "$(dirname "$0")/../.."
host=$(rustc -vV | sed -n 's/^host: //p')
# Stable's own coverage counters. They go to the code that is fuzzed, not to build scripts: hence the named target.
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions=on -Coverflow-checks=on" \
  cargo build --locked --release -p context-guard-fuzz --features libfuzzer --target "$host" --target-dir target/fuzz/build
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)
for target; do
  echo "== $target"
  mkdir -p "target/fuzz/corpus/$target" "target/fuzz/found"
  # The recommended dictionary is of no use to a reader.
  FUZZ_TARGET=$target "target/fuzz/build/$host/release/fuzz" "target/fuzz/corpus/$target" "tests/fuzz/corpus/$target" \
    -max_total_time="${TIME:-60}" -timeout=30 -rss_limit_mb=2048 -max_len=16384 -len_control=20 \
    -artifact_prefix="target/fuzz/found/$target-" -print_final_stats=1 -verbosity=0 ${FUZZ_OPTIONS-}
done
