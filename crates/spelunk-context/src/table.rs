//! A row table: documents as rows with named columns, so that code can answer questions about all of them.
//! Columns come from a table's header, JSON keys, known log formats, the date, time, level, words and
//! `key=value` of other log lines, or a common delimiter. Other documents give no table.

mod cut;
mod json;
mod logs;

use std::collections::HashMap;

use crate::View;
use cut::Format;

/// Columns kept; further ones are left out. SQLite has at most 2,000.
const COLUMNS_MAX: usize = 1_900;
const ROWS_MAX: usize = 1_000_000;

/// Rows with named columns.
#[derive(Debug, Default)]
pub struct RowTable {
    columns: Vec<String>,
    by_name: HashMap<String, u16>,
    /// The number of rows when each column got its last cell.
    filled_at: Vec<usize>,
    text: String,
    cells: Vec<Cell>,
    rows: Vec<Row>,
    documents: Vec<String>,
    n_broken: usize,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    column: u16,
    start: u32,
    end: u32,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    document: u32,
    line: u64,
    /// The index of its first cell; they end where those of the next row begin.
    cells: usize,
}

impl RowTable {
    /// The column with the document's name, if there are several.
    pub const FILE: &'static str = "file";

    /// The table of a view: `None` if it is larger than `bytes_max`, if a document cannot be read or has no rows, or if
    /// documents differ in format or columns.
    pub fn of(view: &View, bytes_max: u64) -> Option<Self> {
        if view.bytes() > bytes_max || view.documents().len() == 0 {
            return None;
        }
        let has_files = view.documents().len() > 1;
        let (mut grid, mut format) = (Self::default(), None);
        for document in view.documents() {
            let text = view.read(document).ok()?;
            let found = Format::of(&document.name, &text)?;
            if !format.get_or_insert_with(|| found.clone()).is_like(&found) {
                return None;
            }
            grid.documents.push(document.name.clone());
            let file = has_files.then_some(document.name.as_str());
            let n_before = grid.rows.len();
            let mut fits = true;
            let is_one = found.rows(&text, &mut |line, cells| match cells {
                Some(cells) => fits = fits && grid.push(line, file, cells),
                None => grid.n_broken += 1,
            });
            if !is_one || !fits || grid.rows.len() == n_before {
                return None;
            }
        }
        Some(grid)
    }

    /// Adds a row; false if there is no more room.
    fn push(&mut self, line: u64, file: Option<&str>, cells: &[(&str, &str)]) -> bool {
        let document = u32::try_from(self.documents.len().saturating_sub(1)).unwrap_or(u32::MAX);
        self.rows.push(Row { document, line, cells: self.cells.len() });
        let file = file.map(|file| (Self::FILE, file));
        for (name, text) in file.into_iter().chain(cells.iter().copied()) {
            let Some(column) = self.column_for(name) else { continue };
            let start = self.text.len();
            self.text.push_str(text);
            let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.text.len())) else {
                return false;
            };
            self.cells.push(Cell { column, start, end });
        }
        self.rows.len() <= ROWS_MAX
    }

    /// The column for a cell of the last row. A repeated name gets a number: `amount 2`.
    fn column_for(&mut self, name: &str) -> Option<u16> {
        let mut column = self.column_named(name)?;
        if self.filled_at[usize::from(column)] == self.rows.len() {
            column = self.column_named(&format!("{name} 2"))?;
        }
        self.filled_at[usize::from(column)] = self.rows.len();
        Some(column)
    }

    fn column_named(&mut self, name: &str) -> Option<u16> {
        if let Some(&column) = self.by_name.get(name) {
            return Some(column);
        }
        if self.columns.len() >= COLUMNS_MAX || name.is_empty() {
            return None;
        }
        let column = u16::try_from(self.columns.len()).ok()?;
        self.columns.push(name.to_owned());
        self.filled_at.push(0);
        self.by_name.insert(name.to_owned(), column);
        Some(column)
    }

    /// The names of the columns, in order of first occurrence.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).map(|&column| usize::from(column))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Lines that should be rows but are invalid: JSON that cannot be parsed, a row with more cells than names.
    pub fn n_broken(&self) -> usize {
        self.n_broken
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cell of a row in a column; `None` if the row has none there.
    pub fn cell(&self, row: usize, column: usize) -> Option<&str> {
        let start = self.rows.get(row)?.cells;
        let end = self.rows.get(row + 1).map_or(self.cells.len(), |next| next.cells);
        let cells = self.cells.get(start..end)?;
        let is_it = |cell: &&Cell| usize::from(cell.column) == column;
        // Most rows have a cell for every column.
        let cell = cells.get(column).filter(is_it).or_else(|| cells.iter().find(is_it))?;
        self.text.get(cell.start as usize..cell.end as usize)
    }

    /// All values of a column.
    pub fn values(&self, column: usize) -> impl Iterator<Item = &str> {
        (0..self.rows.len()).filter_map(move |row| self.cell(row, column)).filter(|text| !text.is_empty())
    }

    /// The document of a row, and the line on which the row begins.
    pub fn place(&self, row: usize) -> Option<(&str, u64)> {
        let row = self.rows.get(row)?;
        Some((self.documents.get(row.document as usize)?, row.line))
    }
}

#[cfg(test)]
mod tests;
