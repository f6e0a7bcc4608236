//! Lines of a stream, with a bound on their length.

use std::io::{self, BufRead};

/// What came instead of a line of text.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("the line is longer than {0} bytes")]
    Long(usize),
    #[error("the line is not UTF-8")]
    NotText,
}

/// Reads the next line without its end; `None` at the end of the stream. A line that cannot be used is skipped whole,
/// so that the next one is read properly.
pub(super) fn next(
    stream: &mut impl BufRead,
    limit: usize,
) -> io::Result<Option<Result<String, Unreadable>>> {
    let mut line = Vec::new();
    let (mut any, mut long) = (false, false);
    loop {
        let part = stream.fill_buf()?;
        if part.is_empty() {
            break;
        }
        any = true;
        let end = part.iter().position(|byte| *byte == b'\n');
        let text = &part[..end.unwrap_or(part.len())];
        long |= line.len() + text.len() > limit;
        if !long {
            line.extend_from_slice(text);
        }
        let used = end.map_or(part.len(), |end| end + 1);
        stream.consume(used);
        if end.is_some() {
            break;
        }
    }
    if !any {
        return Ok(None);
    }
    if long {
        return Ok(Some(Err(Unreadable::Long(limit))));
    }
    Ok(Some(String::from_utf8(line).map_err(|_| Unreadable::NotText)))
}
