//! stub
use crate::contract::sessions::*;
use crate::contract::types::Error;
use crate::session::Mirror;
use crate::settings::Settings;
/// x
pub fn status(_m: &Mirror, _s: &Settings, _c: &Circumstances, _j: bool) -> Vec<Span> {
    vec![]
}
/// x
pub fn report(_t: &str, _m: &Mirror, _s: &Settings, _c: &Circumstances) -> Result<String, Error> {
    Ok(String::new())
}
