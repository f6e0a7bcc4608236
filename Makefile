.PHONY: setup build inspect

# Makes sure that this machine can compile the guest.
setup:
	sh guest/wasm-std.sh

# Builds the runner, the guest inside it: target/release/context-guard
build: setup
	cargo build --locked --release -p context-guard-pi

# Shows what the runner holds.
inspect: build
	target/release/context-guard inspect
