//! Computes the result of a query over the rows of a table. Cells that do not have the expected type are reported,
//! not silently skipped. No model is involved.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use spelunk_context::RowTable;

use super::operation::Operation;
use super::query::Query;
use super::short;
use super::value::{self, Moment, Number, is_missing};

/// Ties that are listed with the answer.
const EQUALS_MAX: usize = 5;

/// The result of a query.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Computed {
    pub(super) value: String,
    /// The amount, if the answer is a name: `56 h`.
    pub(super) amount: Option<String>,
    /// Ties with the answer.
    pub(super) equals: Vec<String>,
    /// The number of rows that meet the conditions.
    pub(super) n_rows: usize,
    /// How many of these have no value in the queried column.
    pub(super) n_missing: usize,
    /// Rows that show the answer.
    pub(super) seen: Vec<usize>,
}

/// The rows that meet the conditions of a query, and the operation on them.
struct Chosen<'g> {
    grid: &'g RowTable,
    query: &'g Query,
    rows: Vec<usize>,
}

/// The answer, or why there is none.
pub(super) fn compute(query: &Query, grid: &RowTable) -> Result<Computed, String> {
    let rows: Vec<usize> = (0..grid.len()).filter(|&row| query.takes(grid, row)).collect();
    let n_rows = rows.len();
    let chosen = Chosen { grid, query, rows };
    let computed = match query.operation {
        Operation::Count => {
            Computed { value: n_rows.to_string(), seen: chosen.rows.clone(), ..Computed::default() }
        }
        Operation::CountDifferent => chosen.count_different(),
        Operation::Sum | Operation::Average => chosen.add()?,
        Operation::MostCommon => chosen.most_common()?,
        Operation::SmallestTotal => chosen.total(Ordering::Less)?,
        Operation::LargestTotal => chosen.total(Ordering::Greater)?,
        Operation::Smallest => chosen.pick(Ordering::Less)?,
        Operation::Largest => chosen.pick(Ordering::Greater)?,
        Operation::First => chosen.outermost(Ordering::Less)?,
        Operation::Last => chosen.outermost(Ordering::Greater)?,
    };
    Ok(Computed { n_rows, ..computed })
}

impl<'g> Chosen<'g> {
    /// The value of a cell, if there is one.
    fn cell(&self, row: usize, column: usize) -> Option<&'g str> {
        self.grid.cell(row, column).map(str::trim).filter(|cell| !is_missing(cell))
    }

    /// The rows with a value in the queried column.
    fn cells(&self) -> impl Iterator<Item = (usize, &'g str)> {
        self.rows.iter().filter_map(|&row| Some((row, self.cell(row, self.query.of)?)))
    }

    fn n_missing(&self) -> usize {
        self.rows.len() - self.cells().count()
    }

    fn name(&self, column: usize) -> String {
        self.grid.columns().get(column).map(|name| short(name)).unwrap_or_default()
    }

    fn count_different(&self) -> Computed {
        let mut different = BTreeSet::new();
        let seen = self.cells().filter(|(_, cell)| different.insert(*cell)).map(|(row, _)| row).collect();
        Computed {
            value: different.len().to_string(),
            n_missing: self.n_missing(),
            seen,
            ..Computed::default()
        }
    }

    /// The numbers of the column, all with the same unit.
    fn numbers(&self) -> Result<Vec<(usize, Number<'g>)>, String> {
        let mut numbers: Vec<(usize, Number<'_>)> = Vec::new();
        for (row, cell) in self.cells() {
            let number = Number::read(cell);
            let fits = |number: &Number<'_>| {
                numbers.first().is_none_or(|(_, first)| first.fits(number) && number.fits(first))
            };
            let number = number.filter(fits).ok_or_else(|| {
                format!("`{}` in the column {} cannot be added", short(cell), self.name(self.query.of))
            })?;
            numbers.push((row, number));
        }
        if numbers.is_empty() { Err("no row meets it".to_owned()) } else { Ok(numbers) }
    }

    fn add(&self) -> Result<Computed, String> {
        let numbers = self.numbers()?;
        let sum: f64 = numbers.iter().map(|(_, number)| number.value).sum();
        #[expect(clippy::cast_precision_loss, reason = "rows are fewer than that")]
        let value = if self.query.operation == Operation::Sum { sum } else { sum / numbers.len() as f64 };
        if !value.is_finite() {
            return Err("it is too large".to_owned());
        }
        let seen = numbers.iter().map(|(row, _)| *row).collect();
        Ok(Computed {
            value: numbers[0].1.with(value),
            n_missing: self.n_missing(),
            seen,
            ..Computed::default()
        })
    }

    fn most_common(&self) -> Result<Computed, String> {
        let mut rows_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, cell) in self.cells() {
            rows_of.entry(cell).or_default().push(row);
        }
        let most = rows_of.values().map(Vec::len).max().ok_or_else(|| "no row meets it".to_owned())?;
        let best: Vec<&str> =
            rows_of.iter().filter(|(_, rows)| rows.len() == most).map(|(cell, _)| *cell).collect();
        let seen = rows_of.get(best[0]).cloned().unwrap_or_default();
        let amount = Some(format!("{most} {}", if most == 1 { "row" } else { "rows" }));
        Ok(Computed { amount, n_missing: self.n_missing(), seen, ..of_equals(&best) })
    }

    /// The value of the shown column whose rows have the largest or smallest sum.
    fn total(&self, wanted: Ordering) -> Result<Computed, String> {
        let numbers = self.numbers()?;
        let mut totals: BTreeMap<&str, (f64, Vec<usize>)> = BTreeMap::new();
        for (row, number) in &numbers {
            let Some(show) = self.cell(*row, self.query.show) else { continue };
            let (total, rows) = totals.entry(show).or_default();
            *total += number.value;
            rows.push(*row);
        }
        let best = totals
            .values()
            .map(|(total, _)| *total)
            .reduce(|best, total| if total.total_cmp(&best) == wanted { total } else { best });
        let best = best.filter(|best| best.is_finite()).ok_or_else(|| "no row meets it".to_owned())?;
        let equals: Vec<&str> = totals
            .iter()
            .filter(|(_, (total, _))| total.total_cmp(&best).is_eq())
            .map(|(show, _)| *show)
            .collect();
        let seen = totals.get(equals[0]).map(|(_, rows)| rows.clone()).unwrap_or_default();
        let amount = Some(numbers[0].1.with(best));
        Ok(Computed { amount, n_missing: self.n_missing(), seen, ..of_equals(&equals) })
    }

    /// The value to compare: a time of day with its date, if the row has one.
    fn key(&self, row: usize) -> Option<String> {
        let cell = self.cell(row, self.query.of)?;
        let is_time = self.grid.columns().get(self.query.of).is_some_and(|name| name == "time");
        match self.grid.column("date").filter(|_| is_time).and_then(|date| self.cell(row, date)) {
            Some(date) => Some(format!("{date}T{cell}")),
            None => Some(cell.to_owned()),
        }
    }

    fn pick(&self, wanted: Ordering) -> Result<Computed, String> {
        let mut best: Option<(String, Vec<usize>)> = None;
        for &row in &self.rows {
            let Some(key) = self.key(row) else { continue };
            let order = match &best {
                Some((best, _)) => value::order(&key, best),
                // A value that cannot be ordered against itself cannot be ordered against others.
                None => value::order(&key, &key).map(|_| wanted),
            };
            let order = order.ok_or_else(|| {
                format!("`{}` in the column {} has no order", short(&key), self.name(self.query.of))
            })?;
            match &mut best {
                Some((_, rows)) if order.is_eq() => rows.push(row),
                _ if order == wanted => best = Some((key, vec![row])),
                _ => {}
            }
        }
        let (_, seen) = best.ok_or_else(|| "no row meets it".to_owned())?;
        Ok(Computed { n_missing: self.n_missing(), ..self.shown(seen)? })
    }

    /// The first or last row: by time if all have one, otherwise by position in the only document.
    fn outermost(&self, wanted: Ordering) -> Result<Computed, String> {
        let date_and_time = self.grid.column("date").zip(self.grid.column("time"));
        let moment = |row: usize| {
            let (date, time) = date_and_time?;
            let text = format!("{}T{}", self.cell(row, date)?, self.cell(row, time)?);
            Moment::read(&text).is_some().then_some(text)
        };
        let moments: Option<Vec<String>> = self.rows.iter().map(|&row| moment(row)).collect();
        let idx = match moments {
            Some(moments) => (0..self.rows.len()).reduce(|best, idx| {
                let order = value::order(&moments[idx], &moments[best]);
                // Of two at the same time, the later row is the last.
                let is_further = order.is_some_and(Ordering::is_eq) && wanted == Ordering::Greater;
                if order == Some(wanted) || is_further { idx } else { best }
            }),
            None if self.grid.n_documents() > 1 => {
                return Err("rows of several files have no order".to_owned());
            }
            None if wanted == Ordering::Less => (!self.rows.is_empty()).then_some(0),
            None => self.rows.len().checked_sub(1),
        };
        let idx = idx.ok_or_else(|| "no row meets it".to_owned())?;
        self.shown(vec![self.rows[idx]])
    }

    /// The values of the shown column in these rows, which are tied.
    fn shown(&self, rows: Vec<usize>) -> Result<Computed, String> {
        let mut different: Vec<&str> = Vec::new();
        for show in rows.iter().filter_map(|&row| self.cell(row, self.query.show)) {
            if different.len() <= EQUALS_MAX && !different.contains(&show) {
                different.push(show);
            }
        }
        if different.is_empty() {
            let name = self.name(self.query.show);
            return Err(format!(
                "the row has nothing in the column {name}; `show` is the column in which the answer stands"
            ));
        }
        Ok(Computed { seen: rows, ..of_equals(&different) })
    }
}

/// The first of several ties, with the others.
fn of_equals(equals: &[&str]) -> Computed {
    let mut names = equals.iter().map(|name| (*name).to_owned());
    Computed {
        value: names.next().unwrap_or_default(),
        equals: names.take(EQUALS_MAX).collect(),
        ..Computed::default()
    }
}
