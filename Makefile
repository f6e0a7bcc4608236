.PHONY: demo test check setup build inspect bench bench-cache fuzz soak ship package release-check

runner = target/release/context-guard
# Built, tested and linted together: cargo gives shared dependencies the features of all packages that it is asked
# for, so that another set would compile wasmtime once more.
host = --locked --release -p context-guard-pi -p context-guard-tests

# Hostile guests and what becomes of them; only the tests need these.
hostile = -p context-guard-hostile

# Times a stage of the tests: $(stage) NAME COMMAND. The first that fails is the last.
stage = @sh tests/stage.sh

# Shows the guard at work on a recorded session: what it kept, what it took out, and why.
demo: build
	$(runner) replay tests/fixtures/demo.jsonl

# Passes every test: the guest natively, the runner, both with the real Pi, and the guest in other hosts.
# The runner's tests use the release build, which is what people get, so that wasmtime is compiled once.
test:
	$(stage) --begin
	$(stage) 'build' $(MAKE) build
	$(stage) 'Pi, TypeScript' sh tests/setup.sh
	$(stage) 'other hosts' sh tests/hosts/setup.sh
	$(stage) 'guest' cargo test --locked -p context-guard -p context-guard-fuzz
	$(stage) 'test programs' cargo test $(host) $(hostile) --no-run
	$(stage) 'runner, hostile guests, Pi' cargo test $(host) $(hostile)
	$(stage) --end

# Form and lints; warnings are errors.
check: build
	cargo fmt --all --check
	cargo clippy --locked -p context-guard --all-targets -- -D warnings
	cargo clippy --locked -p context-guard-fuzz --lib --test corpus -- -D warnings
	cargo clippy $(host) $(hostile) --all-targets -- -D warnings

# Makes sure that this machine can compile the guest.
setup:
	sh guest/wasm-std.sh

# Builds the runner, the guest inside it: target/release/context-guard
build: setup
	cargo build $(host)

# Shows what the runner holds.
inspect: build
	$(runner) inspect

# Measures start-up, the cost of every hook and the asking of questions on this machine.
bench: build
	target/release/bench

# Shows what a long and a short run cost with and without the guard, prompt cache included.
bench-cache: build
	sh tests/setup.sh
	target/release/bench-cache

# Looks for input that breaks a promise of the guard, TIME seconds (60) at each of its doors. Needs a C++ compiler.
fuzz:
	sh tests/fuzz/run.sh

# Runs 2,000 passes in one runner process, and shows what it holds and how its times develop.
soak: build
	target/release/soak

# Builds the runner as the packages carry it, for this machine: target/ship/context-guard
ship: setup
	cargo build --locked --profile ship -p context-guard-pi

# Makes the npm packages of this platform: target/packages/*.tgz
package: ship
	sh host-pi/packages/pack.sh target/ship/context-guard

# Checks what a release must hold: versions, contents and sizes of the packages, licences, imports.
release-check: package
	node host-pi/packages/release-check.mjs target/packages
