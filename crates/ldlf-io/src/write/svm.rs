//! svmlight lines with a label distribution in place of the class.

use std::io::Write;

use ldlf_core::dataset::Tabular;

use super::label;

/// Writes labels, then `index:value` for what is not zero; with `votes`, counts in place of shares.
pub(crate) fn dataset(data: Tabular<'_>, votes: Option<usize>, out: &mut dyn Write) -> std::io::Result<()> {
    for row in 0..data.rows() {
        let labels: Vec<String> = data.targets().row(row).iter().map(|&share| label(share, votes)).collect();
        let mut line = labels.join(",");
        data.features.for_each_in_row(row, |column, value| {
            if value != 0.0 {
                line += &format!(" {}:{value}", column + 1);
            }
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}
