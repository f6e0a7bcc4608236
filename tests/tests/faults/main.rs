//! What can go wrong, each in the real Pi: with the runner, the classifier, the files, the clock, and the user's own
//! interruptions. Whatever it is, Pi goes on, nothing is lost, no process is left, and the user is told once at most.
//! Run `tests/setup.sh` and `make build` first.

mod classifier;
mod clock;
mod files;
mod hung;
mod moments;
mod recall;
mod runner;
mod trial;

use context_guard_tests::search;
