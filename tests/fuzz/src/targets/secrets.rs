//! Masks: lines stay in number, and a secret on a line of its own goes, whatever stands around it.

use context_guard::secrets::Masks;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const PASSWORD: &str = "hunter2-Zq9x";

/// Plants secrets into the middle of the text.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let masks = Masks::default();
    let masked = masks.text(&text);
    assert_eq!(masked.matches('\n').count(), text.matches('\n').count(), "{masked:?}");

    let middle = text.floor_char_boundary(text.len() / 2);
    let (before, after) = text.split_at(middle);
    if text.contains(TOKEN) || text.contains(PASSWORD) {
        return;
    }
    let planted = format!("{before}\n{TOKEN}\nDB_PASSWORD={PASSWORD}\n{after}");
    let masked = masks.text(&planted);
    assert_eq!(masked.matches('\n').count(), planted.matches('\n').count(), "{masked:?}");
    assert!(!masked.contains(TOKEN) && !masked.contains(PASSWORD), "{masked:?}");
}
