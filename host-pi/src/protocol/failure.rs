//! How the protocol tells why a call failed.

use super::message::Error;
use crate::engine::Failure;

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let (code, kind) = match &failure {
            Failure::OutOfSync => (-32001, "out-of-sync"),
            Failure::Invalid(_) => (-32002, "invalid"),
            Failure::Other(_) => (-32003, "other"),
            Failure::Trapped(_) => (-32004, "trapped"),
            Failure::Timeout(_) => (-32005, "timeout"),
            Failure::Off(_) => (-32006, "off"),
        };
        Self::of_kind(code, kind, failure)
    }
}
