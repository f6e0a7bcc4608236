//! Guests that were built for more than the contract's world: they are not even loaded.

use super::stage::Stage;

fn refusal(stage: Stage) -> String {
    stage.load().err().unwrap_or_else(|| "it was loaded".into())
}

pub(crate) async fn reads_the_environment(stage: Stage) {
    insta::assert_snapshot!(refusal(stage), @"");
}

pub(crate) async fn reads_files(stage: Stage) {
    insta::assert_snapshot!(refusal(stage), @"");
}

pub(crate) async fn reads_the_wall_clock(stage: Stage) {
    insta::assert_snapshot!(refusal(stage), @"");
}

pub(crate) async fn reads_randomness(stage: Stage) {
    insta::assert_snapshot!(refusal(stage), @"");
}

pub(crate) async fn opens_sockets(stage: Stage) {
    insta::assert_snapshot!(refusal(stage), @"");
}

pub(crate) async fn speaks_another_contract(stage: Stage) {
    insta::assert_snapshot!(refusal(stage), @"");
}
