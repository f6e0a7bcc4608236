//! What an image costs the model, estimated from the head of its base64 text.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use imagesize::ImageType;

use crate::contract::types::Image;

/// Most base64 characters looked at. Metadata before a JPEG's size can fill several segments.
const HEAD: usize = 65_536;
/// Enough for every format that has its size at a fixed place.
const FIXED_HEAD: usize = 64;
/// Pixels per token, as Anthropic documents it for images.
const PIXELS_PER_TOKEN: u64 = 750;
/// Most tokens of one image: providers scale larger ones down.
const MOST_TOKENS: u64 = 6_700;
/// Tokens of an image whose size cannot be read: a usual screenshot.
const UNREADABLE_TOKENS: usize = 1_600;

/// Takes text that was cut anywhere; padding never gets this far.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Returns width and height in pixels; none where the head does not tell, or tells of no pixel.
pub fn dimensions(image: &Image) -> Option<(u32, u32)> {
    // The length of the base64 text says nothing about the price, so there is no estimate from it.
    let bytes = decode(&image.head, FIXED_HEAD);
    let (width, height) =
        if bytes.starts_with(b"\xFF\xD8") { jpeg(&decode(&image.head, HEAD))? } else { fixed(&bytes)? };
    (width > 0 && height > 0).then_some((width, height))
}

/// Estimates the tokens of an image.
pub fn image_tokens(image: &Image) -> usize {
    let Some((width, height)) = dimensions(image) else { return UNREADABLE_TOKENS };
    let tokens = (u64::from(width) * u64::from(height)).div_ceil(PIXELS_PER_TOKEN);
    usize::try_from(tokens.clamp(1, MOST_TOKENS)).unwrap_or(UNREADABLE_TOKENS)
}

/// Decodes at most `most` base64 characters of the head, up to the first one that is none.
///
/// White space is passed over and the URL-safe alphabet is understood.
fn decode(head: &str, most: usize) -> Vec<u8> {
    let mut text: Vec<u8> = head
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        })
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        .take(most)
        .collect();
    // A single character of a group of four holds no whole byte.
    if text.len() % 4 == 1 {
        text.pop();
    }
    LENIENT.decode(text).unwrap_or_default()
}

/// Reads the size in a PNG, GIF or WebP.
fn fixed(bytes: &[u8]) -> Option<(u32, u32)> {
    let kind = imagesize::image_type(bytes).ok()?;
    let size = imagesize::blob_size(bytes).ok()?;
    let (width, height) = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
    // The upper two bits of a lossy WebP's sides are a scaling hint, which the crate leaves in.
    let lossy = kind == ImageType::Webp && bytes.get(12..16) == Some(b"VP8 ");
    Some(if lossy { (width & 0x3FFF, height & 0x3FFF) } else { (width, height) })
}

/// Reads the size in the first frame header of a JPEG, past metadata, fill bytes and stray data.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    while let Some(segment) = bytes.get(at..).filter(|rest| rest.len() >= 10) {
        let be16 = |offset: usize| u16::from_be_bytes([segment[offset], segment[offset + 1]]);
        at += match (segment[0], segment[1]) {
            (0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF) => {
                return Some((be16(7).into(), be16(5).into()));
            }
            // A marker without a segment.
            (0xFF, 0x01 | 0xD0..=0xD8) => 2,
            // A fill byte, or data outside a segment.
            (0xFF, 0xFF) | (..0xFF, _) => 1,
            (0xFF, _) => 2 + usize::from(be16(2)),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    use super::*;
    use crate::contract::types::Block;
    use crate::session::fixtures;

    fn png(width: u32, height: u32) -> Image {
        let Block::Image(image) = fixtures::png(width, height) else { unreachable!() };
        image
    }

    fn head(head: impl Into<String>) -> Image {
        Image { media_type: "image/png".into(), head: head.into(), base64_length: 0 }
    }

    fn bytes(bytes: &[u8]) -> Image {
        head(STANDARD.encode(bytes))
    }

    fn webp(chunk: &[u8; 4], at: usize, size: &[u8]) -> Image {
        let mut data = b"RIFF\0\0\0\0WEBP".to_vec();
        data.extend(chunk);
        data.resize(at, 0);
        data.extend(size);
        data.resize(40, 0);
        bytes(&data)
    }

    /// The start of a JPEG with these bytes between its first marker and a frame header of 640×480.
    fn jpeg_with(between: &[u8], frame: u8) -> Image {
        let mut data = vec![0xFF, 0xD8];
        data.extend(between);
        data.extend([0xFF, frame, 0, 17, 8]);
        data.extend([480u16.to_be_bytes(), 640u16.to_be_bytes()].concat());
        data.extend([3, 1, 0x22, 0]);
        bytes(&data)
    }

    #[test]
    fn i13_a_screenshot_of_1024_by_768() {
        assert_eq!(image_tokens(&png(1_024, 768)), 1_049);
    }

    #[test]
    fn i14_the_length_of_the_base64_text_does_not_count() {
        let image = Image { base64_length: 110_000, ..png(1_280, 960) };
        assert_eq!(image_tokens(&image), 1_639);
    }

    #[test]
    fn i15_huge_tiny_and_impossible_sizes() {
        assert_eq!(image_tokens(&png(20_000, 20_000)), 6_700);
        assert_eq!(image_tokens(&png(u32::MAX, u32::MAX)), 6_700);
        assert_eq!(image_tokens(&png(1, 1)), 1);
        assert_eq!((image_tokens(&png(0, 10)), dimensions(&png(0, 10))), (1_600, None));
    }

    #[test]
    fn i16_a_jpeg_has_its_size_behind_the_metadata() {
        let mut metadata = vec![0xFF, 0xE1, 0x01, 0x2C];
        metadata.resize(2 + 300, 0xFF);
        assert_eq!(dimensions(&jpeg_with(&metadata, 0xC2)), Some((640, 480)));
    }

    #[test]
    fn jpegs_with_fill_bytes_stray_data_and_other_markers() {
        for between in [&[][..], &[0xFF, 0xFF], &[0, 7], &[0xFF, 0xD0, 0xFF, 0x01], &[0xFF, 0xC4, 0, 4, 9, 9]]
        {
            assert_eq!(dimensions(&jpeg_with(between, 0xC0)), Some((640, 480)), "{between:?}");
        }
        for table in [0xC4, 0xC8, 0xCC] {
            assert_eq!(dimensions(&jpeg_with(&[], table)), None, "{table:x} is no frame header");
        }
    }

    #[test]
    fn gif_and_all_kinds_of_webp() {
        assert_eq!(dimensions(&bytes(b"GIF89a\x80\x02\xE0\x01\0\0\0\0")), Some((640, 480)));
        assert_eq!(dimensions(&webp(b"VP8X", 24, &[0x7F, 2, 0, 0xDF, 1, 0])), Some((640, 480)));
        let lossless = (479u32 << 14) | 639;
        assert_eq!(dimensions(&webp(b"VP8L", 21, &lossless.to_le_bytes())), Some((640, 480)));
        assert_eq!(dimensions(&webp(b"VP8 ", 26, &[0x80, 0x42, 0xE0, 0xC1])), Some((640, 480)));
    }

    #[test]
    fn padding_white_space_and_the_url_safe_alphabet_are_understood() {
        let mut data = STANDARD.decode(png(640, 480).head).unwrap();
        data.extend([0xFB, 0xFF]);
        let text = URL_SAFE.encode(&data);
        assert_eq!(dimensions(&head(text.trim_end_matches('='))), Some((640, 480)));
        assert_eq!(dimensions(&head(format!("{}\n{}", &text[..9], &text[9..]))), Some((640, 480)));
    }

    #[test]
    fn what_cannot_be_read_costs_a_usual_screenshot() {
        for text in ["", "=", "A", "iVBORw0KGgo=", "data:image/png;base64,AAAA", "ünlesbar", "Qk0AAAAAAAA="]
        {
            assert_eq!(image_tokens(&head(text)), 1_600, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_data_fails(
            start in prop::sample::select(vec![&b"\xFF\xD8"[..], b"\x89PNG", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8L", b""]),
            rest in prop::collection::vec(prop_oneof![Just(0xFFu8), any::<u8>()], 0..80),
        ) {
            let tokens = image_tokens(&bytes(&[start, &rest].concat()));
            prop_assert!((1..=6_700).contains(&tokens));
        }

        #[test]
        fn no_text_fails(text in "\\PC{0,80}") {
            prop_assert!(image_tokens(&head(text)) >= 1);
        }
    }
}
