//! What the provider's cache is known to hold.

use crate::contract::types::Timestamp;
use crate::session::Mirror;

/// Up to where requests were written into the cache, as far as breakpoints of the guard tell. Nothing so far.
#[derive(Clone, Debug, Default)]
pub struct CacheLog {}

impl CacheLog {
    /// Returns the last position on the branch before `before` up to and including which the next request to
    /// `model` is trusted to read from the cache.
    pub fn read_point(
        &self,
        _mirror: &Mirror,
        _model: &str,
        _before: usize,
        _now: Timestamp,
    ) -> Option<usize> {
        None
    }
}
