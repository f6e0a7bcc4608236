//! Which characters a match can begin with, so that a search can pass over all other places.

use super::set::Set;
use super::syntax::Node;

/// Returns the characters of which every match begins with one; none where a match can be empty.
pub(super) fn first(node: &Node) -> Option<Set> {
    let mut ranges = vec![];
    let consumes = collect(node, &mut ranges);
    consumes.then(|| Set::new(ranges))
}

/// Adds the characters that a match of `node` can begin with; returns whether it always consumes one.
fn collect(node: &Node, ranges: &mut Vec<(u32, u32)>) -> bool {
    match node {
        Node::Set(set) => {
            ranges.extend(set.ranges());
            true
        }
        Node::Group(_, body) => collect(body, ranges),
        Node::Sequence(nodes) => nodes.iter().any(|node| collect(node, ranges)),
        Node::Alternatives(nodes) => {
            // All of them are collected, also after one that may be empty.
            let consuming = nodes.iter().filter(|node| collect(node, ranges)).count();
            consuming == nodes.len()
        }
        Node::Repeat { body, min, .. } => collect(body, ranges) && *min > 0,
        Node::BackReference(_) => {
            ranges.extend(Set::default().complement().ranges());
            false
        }
        Node::Start | Node::End | Node::WordBoundary { .. } | Node::Look { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::parse;
    use super::*;

    fn starts(pattern: &str) -> Option<Vec<(u32, u32)>> {
        first(&parse(pattern).unwrap().0).map(|set| set.ranges().to_vec())
    }

    #[test]
    fn every_way_to_begin_counts() {
        let letters = |low: char, high: char| Some(vec![(u32::from(low), u32::from(high))]);
        assert_eq!(starts("a|b(c)"), letters('a', 'b'));
        assert_eq!(starts("a?b*c+d"), letters('a', 'c'));
        assert_eq!(starts("(?:a?|b)c"), letters('a', 'c'));
        assert_eq!(starts(r"\b(?=x)(?:ab|b|)c"), letters('a', 'c'));
        assert_eq!(starts(r"(x*)\1y"), letters('\0', '\u{10ffff}'));
        assert!(["a*", "a|", "^", "(?=a)", "(a|b?)"].iter().all(|pattern| starts(pattern).is_none()));
    }
}
