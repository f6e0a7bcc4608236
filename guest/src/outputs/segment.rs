//! Segments: as many chunks as one request to the classifier carries.

use std::ops::Range;

use super::chunk::Chunk;
use crate::settings::Settings;

/// Consecutive chunks that are judged together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    /// The chunks by number.
    pub(super) chunks: Range<usize>,
    /// It is a single chunk too big for a request: it is never sent, and stays.
    pub(super) oversize: bool,
}

/// Groups chunks into segments within the limits of one request.
pub(super) fn segments(chunks: &[Chunk], settings: &Settings) -> Vec<Segment> {
    let limit = settings.max_segment_chars;
    let mut segments: Vec<Segment> = Vec::new();
    let mut cost = 0;
    for (at, chunk) in chunks.iter().enumerate() {
        let fits = cost + chunk.cost() <= limit;
        match segments.last_mut() {
            Some(segment) if fits && segment.chunks.len() < settings.max_chunks_per_segment => {
                segment.chunks.end = at + 1;
                cost += chunk.cost();
            }
            _ => {
                cost = chunk.cost();
                segments.push(Segment { chunks: at..at + 1, oversize: cost > limit });
            }
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(costs: &[usize]) -> Vec<Chunk> {
        let chunk = |(at, cost): (usize, &usize)| Chunk { lines: at..at + 1, files: vec![], units: cost - 1 };
        costs.iter().enumerate().map(chunk).collect()
    }

    #[test]
    fn l25_forty_chunks_fill_a_segment() {
        let segments = segments(&chunks(&[800; 41]), &Settings::default());
        assert_eq!(segments.iter().map(|s| s.chunks.clone()).collect::<Vec<_>>(), [0..40, 40..41]);
    }

    #[test]
    fn l26_a_chunk_of_32_000_units_is_never_sent() {
        let sent = segments(&chunks(&[32_000]), &Settings::default());
        let kept = segments(&chunks(&[32_001]), &Settings::default());
        assert_eq!((sent[0].oversize, kept[0].oversize), (false, true));
    }

    #[test]
    fn a_segment_is_full_to_the_last_character() {
        let ranges = |costs: &[usize]| {
            segments(&chunks(costs), &Settings::default())
                .iter()
                .map(|s| s.chunks.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ranges(&[16_000, 16_000, 1]), [0..2, 2..3]);
        assert_eq!(ranges(&[16_000, 16_001]), [0..1, 1..2]);
        assert_eq!(ranges(&[10, 40_000, 10]), [0..1, 1..2, 2..3]);
    }
}
