//! Hostile guests, compiled for this machine. [`every_guest!`] names them all, so that none is left without a test.

include!(concat!(env!("OUT_DIR"), "/every_guest.rs"));
