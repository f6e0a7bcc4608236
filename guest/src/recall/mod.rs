//! Gives back what was removed: `recall`, the tool that the model calls with the id of a note.

mod images;
mod original;
mod page;
pub mod pattern;
#[cfg(test)]
mod tests;
mod transcript;

use original::Original;
use page::Window;
use pattern::Pattern;

use crate::contract::sessions::{RecallRequest, Recalled};
use crate::contract::types::Error;
use crate::session::Mirror;

/// Returns the original of an entry that the guard replaced, page by page: a text, then images.
///
/// Tool results give their recorded text, prompts the transcript of their exchange, also where a compaction has
/// taken them out of the context. What does not fit on the page is named with the value that goes on.
///
/// # Errors
///
/// `invalid` with a sentence for the model: what was wrong, and how to ask instead.
pub fn recall(mirror: &Mirror, request: &RecallRequest) -> Result<Vec<Recalled>, Error> {
    let pattern = match request.pattern.as_deref() {
        None | Some("") => None,
        Some(source) => Some((source, Pattern::new(source).map_err(invalid)?)),
    };
    let window = Window::of(request);
    let first_image = request.image.map_or(1, |image| image.max(1)) as usize;

    let original = Original::find(mirror, request.entry_id.trim())
        .ok_or_else(|| invalid(format!("no tool result or exchange of this session's branch has the id `{}`: use the `entryId` of a `[context-guard]` note", request.entry_id)))?;
    let with_images = pattern.is_none() && window.opens(original.first_line());
    let attached = images::attached(original.images().len(), first_image, with_images);
    let whole = original.text(&attached);
    let body = original.body(&whole);
    let pattern = pattern.as_ref().map(|(source, pattern)| (*source, pattern));
    let mut text = page::page(&body, window, pattern).map_err(invalid)?;
    if let Some(note) = images::note(original.images().len(), first_image, &attached, with_images) {
        text.push('\n');
        text.push_str(&note);
    }
    let images = original.images().get(attached).unwrap_or_default();
    let images = images.iter().map(|(id, block)| Recalled::Image(((*id).to_owned(), *block)));
    Ok(std::iter::once(Recalled::Text(text)).chain(images).collect())
}

fn invalid(problem: impl ToString) -> Error {
    Error::Invalid(problem.to_string())
}
