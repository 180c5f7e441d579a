//! Aligned text, and figures as people read them.

use std::fmt;

/// Rows of cells: the first column to the left, the others to the right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line += &format!("{cell:width$}"),
                    _ => line += &format!("  {cell:>width$}"),
                }
            }
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in MiB, with one digit.
pub(crate) fn mebibytes(bytes: u64) -> String {
    let tenths = (u128::from(bytes) * 10 + (1 << 19)) >> 20;
    let whole = u64::try_from(tenths / 10).unwrap_or(u64::MAX);
    format!("{}.{} MiB", count(whole), tenths % 10)
}

/// Reserved over requested as waste: how much more, and the ratio.
pub(crate) fn waste(ratio: f64) -> String {
    format!("{:.1} % ({ratio:.3}x)", (ratio - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::default();
        table.row(["", "a"].map(String::from));
        table.row(["peak", "1,024"].map(String::from));
        table.row(["x"].map(String::from));
        assert_eq!(table.to_string(), "          a\npeak  1,024\nx\n");
    }

    #[test]
    fn figures_are_grouped_and_rounded() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(mebibytes(0), "0.0 MiB");
        assert_eq!(mebibytes((1 << 20) + (1 << 19)), "1.5 MiB");
        assert_eq!(mebibytes(1536 << 20), "1,536.0 MiB");
        assert_eq!(mebibytes((2 << 20) - 1), "2.0 MiB");
        assert_eq!(mebibytes(u64::MAX), "17,592,186,044,416.0 MiB");
        assert_eq!(waste(1.0), "0.0 % (1.000x)");
        assert_eq!(waste(1.4307), "43.1 % (1.431x)");
    }
}
