//! The figures of runs as Markdown.

use super::figures::Figures;

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
                format!(" ({:+.1} %)", change(of(first), of(figures)))
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
            figures.classifier,
            figures.checkpoints,
            figures.edits(),
        ));
    }
    text
}

/// Writes what a run loses that ends right after a checkpoint: with the first request that carries its edits.
pub fn cuts(off: &Figures, on: &Figures) -> String {
    let mut text = "\
| The run ends with request | Edits | Main model, off | Main model, on | Loss | Loss of the whole run's cost |
|---:|---:|---:|---:|---:|---:|
"
    .to_owned();
    for number in on.edited() {
        let (without, with) = (off.cost_of_first(number), on.cost_of_first(number));
        let edits = on.requests.get(number - 1).map_or(0, |request| request.edits);
        text.push_str(&format!(
            "| {number} | {edits} | ${without:.4} | ${with:.4} | ${:.4} | {:+.1} % |\n",
            with - without,
            100.0 * (with - without) / off.cost(),
        ));
    }
    text
}

/// The change from `before` to `after` in per cent.
fn change(before: f64, after: f64) -> f64 {
    if before > 0.0 { 100.0 * (after - before) / before } else { 0.0 }
}
