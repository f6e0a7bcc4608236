//! What a hostile guest can do to the runner that loads it, one test per guest. `every_guest!` takes each guest in
//! `guests/examples/` to the function of the same name, so that one without a test does not compile, and a test
//! without its guest is dead code.

// `cfg(test)` holds for all of this file; said again, it lets clippy know that these may panic.
#[cfg(test)]
mod answers;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod network;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod world;

use stage::Stage;

mod cases {
    pub(crate) use crate::{answers::*, limits::*, network::*, world::*};
}

macro_rules! test {
    ($name:ident, $code:expr) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            cases::$name(Stage::new(stringify!($name), $code)).await;
        }
    };
}

context_guard_hostile::every_guest!(test);
