//! stub
use crate::contract::sessions::*;
use crate::contract::types::Error;
use crate::session::Mirror;
/// x
pub fn recall(m: &Mirror, r: &RecallRequest) -> Result<Vec<Recalled>, Error> {
    let e = m.entry(&r.entry_id).ok_or(Error::Invalid("no".into()))?;
    if let crate::contract::types::EntryBody::Message(crate::contract::types::Message::ToolResult(t)) =
        &e.body
    {
        return Ok(vec![Recalled::Text(crate::session::text_of(&t.blocks).into_owned())]);
    }
    Err(Error::Invalid("no".into()))
}
