//! The mirror of the host's branch and context, kept up to date by deltas.

use std::collections::HashMap;

use super::projection::Projected;
use crate::contract::sessions::Delta;
use crate::contract::types::{Entry, Error, Visible};

/// The active branch, root first, and the entries of it that make up the model's context.
#[derive(Debug, Default)]
pub struct Mirror {
    branch: Vec<Entry>,
    context: Vec<Visible>,
    positions: HashMap<String, usize>,
}

impl Mirror {
    /// Takes a delta whole or, on an error, not at all.
    ///
    /// # Errors
    ///
    /// `out-of-sync` where the delta keeps more than there is, `invalid` where an entry comes twice or the
    /// context names an entry that the branch lacks.
    pub fn update(&mut self, delta: Delta) -> Result<(), Error> {
        let (keep_branch, keep_context) = (delta.keep_branch as usize, delta.keep_context as usize);
        if keep_branch > self.branch.len() || keep_context > self.context.len() {
            return Err(Error::OutOfSync);
        }
        let mut added = HashMap::with_capacity(delta.branch.len());
        for (offset, entry) in delta.branch.iter().enumerate() {
            let known = self.positions.get(&entry.id).is_some_and(|&at| at < keep_branch);
            if known || added.insert(entry.id.as_str(), keep_branch + offset).is_some() {
                return Err(Error::Invalid(format!(
                    "entry `{}` is on the branch twice: send each once",
                    entry.id
                )));
            }
        }
        let on_branch =
            |id: &str| added.contains_key(id) || self.positions.get(id).is_some_and(|&at| at < keep_branch);
        // A shorter branch can leave kept context items without their entry.
        if self.context[..keep_context].iter().any(|item| !on_branch(&item.id)) {
            return Err(Error::OutOfSync);
        }
        if let Some(stray) = delta.context.iter().find(|item| !on_branch(&item.id)) {
            let id = &stray.id;
            return Err(Error::Invalid(format!(
                "context entry `{id}` is not on the branch: send its entry as well"
            )));
        }

        for entry in self.branch.drain(keep_branch..) {
            self.positions.remove(&entry.id);
        }
        for (offset, entry) in delta.branch.iter().enumerate() {
            self.positions.insert(entry.id.clone(), keep_branch + offset);
        }
        self.branch.extend(delta.branch);
        self.context.truncate(keep_context);
        self.context.extend(delta.context);
        Ok(())
    }

    /// Returns the active branch, root first.
    pub fn branch(&self) -> &[Entry] {
        &self.branch
    }

    /// Returns the position of an entry on the branch.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Returns an entry of the branch.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.position(id).and_then(|at| self.branch.get(at))
    }

    /// Returns the entries of the context in its order, omitted ones included.
    pub fn projection(&self) -> Vec<Projected<'_>> {
        self.context
            .iter()
            .filter_map(|item| {
                let position = self.position(&item.id)?;
                Some(Projected { entry: self.branch.get(position)?, position, view: &item.view })
            })
            .collect()
    }
}
