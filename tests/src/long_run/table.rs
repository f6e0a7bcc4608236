//! The figures of runs as Markdown.

use super::figures::{Figures, Request};

/// The figures of one run, and how it is called.
pub struct Row<'f> {
    /// What distinguishes it from the others.
    pub name: &'f str,
    /// Its figures.
    pub figures: &'f Figures,
}

/// Writes runs that differ in the guard alone; the first is the one without it.
pub fn table(rows: &[Row]) -> String {
    let mut text = "\
| Guard | Requests | Peak context | Read | Written | Uncached | Main model | Classifier | Checkpoints | Edits |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"
    .to_owned();
    let first = rows.first().map(|row| row.figures);
    for Row { name, figures } in rows {
        let change = |of: fn(&Figures) -> f64| match first {
            Some(first) if !std::ptr::eq(first, *figures) => {
                format!(" ({})", change(of(first), of(figures)))
            }
            _ => String::new(),
        };
        text.push_str(&format!(
            "| {name} | {} | {}{} | {} | {} | {} | ${:.4}{} | ${:.4} | {} | {} |\n",
            figures.requests.len(),
            figures.peak(),
            change(|figures| figures.peak() as f64),
            figures.sum(|request| request.read),
            figures.sum(|request| request.written),
            figures.sum(|request| request.uncached),
            figures.cost(),
            change(Figures::cost),
            figures.classifier(),
            figures.checkpoints.len(),
            figures.edits(),
        ));
    }
    text
}

/// Writes what a run loses that ends with the first request after a checkpoint, beside the most that it can lose.
pub fn cuts(off: &Figures, on: &Figures) -> String {
    let mut text = "\
| The run ends with request | Edits | Characters gone | Off | On | Loss | Share of the whole run | At most |
|---:|---:|---:|---:|---:|---:|---:|---:|
"
    .to_owned();
    for checkpoint in &on.checkpoints {
        let last = checkpoint.after + 1;
        let (without, with) = (off.cost_of_first(last), on.cost_of_first(last));
        text.push_str(&format!(
            "| {last} | {} | {} | ${without:.4} | ${with:.4} | {}${:.4} | {} | ${:.4} |\n",
            checkpoint.edits,
            checkpoint.saved_chars,
            if with < without { "−" } else { "" },
            (with - without).abs(),
            change(off.cost(), off.cost() + with - without),
            on.bound(checkpoint),
        ));
    }
    text
}

/// Writes every request, so that it can be seen which one paid for what.
pub fn requests(rows: &[Row]) -> String {
    let mut text = "| Request |".to_owned();
    let mut line = "|---:|".to_owned();
    for Row { name, .. } in rows {
        text.push_str(&format!(" {name}: read | written | uncached | cost |"));
        line.push_str("---:|---:|---:|---:|");
    }
    text.push_str(&format!("\n{line}\n"));
    let longest = rows.iter().map(|row| row.figures.requests.len()).max().unwrap_or_default();
    for index in 0..longest {
        text.push_str(&format!("| {} |", index + 1));
        for Row { figures, .. } in rows {
            match figures.requests.get(index) {
                Some(Request { read, written, uncached, cost, .. }) => {
                    text.push_str(&format!(" {read} | {written} | {uncached} | ${cost:.4} |"));
                }
                None => text.push_str(" | | | |"),
            }
        }
        text.push('\n');
    }
    text
}

/// The change from `before` to `after`, in per cent.
fn change(before: f64, after: f64) -> String {
    let change = if before > 0.0 { 100.0 * (after - before) / before } else { 0.0 };
    format!("{change:+.1} %").replace('-', "−")
}
