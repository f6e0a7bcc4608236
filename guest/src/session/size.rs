//! Sizes in characters of what the model sees; four of them stand for a token.

use super::image::image_tokens;
use super::message::{Kind, Shown};
use super::projection::Projection;
use crate::contract::types::Block;
use crate::text::units;

/// Returns the size of a block.
///
/// A thinking signature counts half: it makes about 0.25 tokens per character, other text about 0.4.
pub fn block_size(block: &Block) -> usize {
    match block {
        Block::Text(text) => units(text),
        Block::Image(image) => image_tokens(image) * 4,
        Block::Thinking(thinking) => {
            units(&thinking.text).saturating_add(length(thinking.signature_length.div_ceil(2)))
        }
        Block::ToolCall(call) => units(&call.name) + units(&call.arguments),
        Block::Opaque(characters) => length(*characters),
    }
}

/// Returns the size of a message's blocks together.
pub fn content_size(blocks: &[Block]) -> usize {
    sum(blocks.iter().map(block_size))
}

/// Returns the size of a message.
pub fn message_size(shown: &Shown<'_>) -> usize {
    match shown.kind {
        Kind::Summary(summary) => units(summary),
        Kind::Fixed(characters) => length(characters),
        Kind::User | Kind::Assistant(_) | Kind::ToolResult(_) | Kind::Note(_) => content_size(shown.blocks),
    }
}

/// Returns the size of all that the model sees of these entries; the system prompt and the definitions of tools
/// are not part of a session and do not count.
pub fn context_size(projection: Projection<'_>) -> usize {
    sum(projection.iter().filter_map(|item| item.shown()).map(|shown| message_size(&shown)))
}

/// Adds up without overflow: lengths that a host only tells may be anything, and `usize` has 32 bits in a guest.
fn sum(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.fold(0, usize::saturating_add)
}

fn length(told: u32) -> usize {
    usize::try_from(told).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures::*;

    #[test]
    fn i13_i14_an_image_counts_four_characters_per_token() {
        assert_eq!(block_size(&png(1_024, 768)), 4_196);
        assert_eq!(block_size(&png(1_280, 960)), 6_556);
    }

    #[test]
    fn i17_a_thinking_signature_counts_half_rounded_up() {
        assert_eq!(block_size(&thinking(&"t".repeat(100), 401)), 301);
    }

    #[test]
    fn i18_a_tool_call_counts_its_name_and_arguments_but_not_its_id() {
        let mirror = session([a("").call("call_12345", "bash", r#"{"command":"ls"}"#)]);
        assert_eq!(context_size(mirror.projection()), 20);
    }

    #[test]
    fn i19_a_summary_counts_its_text() {
        assert_eq!(context_size(session([compaction(&"s".repeat(500)), u("hi")]).projection()), 502);
        assert_eq!(context_size(session([branch_summary("😀")]).projection()), 2);
    }

    #[test]
    fn only_what_the_model_sees_counts() {
        let mirror = session([
            u("12345").replaced("123"),
            a("12345").omitted(),
            n("12"),
            fixed(40),
            fixed(0),
            u("12345").compacted(),
            r("c1", "").block(Block::Opaque(7)),
        ]);
        assert_eq!(context_size(mirror.projection()), 3 + 2 + 40 + 7);
        assert_eq!(context_size(mirror.projection().after(3)), 7);
    }

    #[test]
    fn lengths_that_a_host_only_tells_never_overflow() {
        let block = || Block::Opaque(u32::MAX);
        let mirror = session([fixed(u32::MAX), r("c1", "").block(block()).block(thinking("", u32::MAX))]);
        assert!(context_size(mirror.projection()) >= u32::MAX as usize);
    }
}
