//! The guard in the real Pi: its extension, its runner and its guest, against a scripted model and a scripted
//! classifier. Run `tests/setup.sh` and `make build` first.

mod branches;
mod breakpoints;
mod cache;
mod checkpoints;
mod classifier;
mod command;
mod compaction;
mod deferral;
mod distilling;
mod exchanges;
mod images;
mod navigation;
mod permission;

use context_guard_tests::search;
