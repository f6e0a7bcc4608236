//! Heads of images.

use context_guard::session::{dimensions, image_tokens};

use crate::contract::types::Image;

/// Takes the bytes for base64 text, and for an image.
pub(crate) fn run(data: &[u8]) {
    sized(String::from_utf8_lossy(data).into_owned());
    sized(base64(data));
}

fn sized(head: String) {
    let image = Image { media_type: "image/png".into(), base64_length: u32::MAX, head };
    let size = dimensions(&image);
    assert!(size.is_none_or(|(width, height)| width > 0 && height > 0));
    assert!((1..=6_700).contains(&image_tokens(&image)));
}

/// Without padding, which the head of a longer text never has.
fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in data.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}
