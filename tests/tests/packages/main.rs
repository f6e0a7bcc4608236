//! The npm packages, as people get them: packed, published in a registry on loopback and installed by the real Pi in a clean
//! home. Run `tests/setup.sh` and `make build` first.

mod clean_home;
mod installing;
mod tarballs;

use context_guard_tests::search;
