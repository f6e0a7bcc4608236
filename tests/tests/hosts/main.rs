//! Hosts other than Pi, each run for real: on Node, in Python, and in Python through the runner's JSON-RPC. Run `make build`
//! and `tests/hosts/setup.sh` first.

mod conform;
mod host;
mod session;
