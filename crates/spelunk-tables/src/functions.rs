//! Aggregate functions that SQLite lacks and questions need: `median`, `percentile` and `stddev`.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Result};

pub(crate) fn add(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("median", 1, flags, Percentile { percent: Some(50.0) })?;
    connection.create_aggregate_function("percentile", 2, flags, Percentile { percent: None })?;
    connection.create_aggregate_function("stddev", 1, flags, StandardDeviation)
}

type Values = (Vec<f64>, f64);

/// A percentile, interpolated between the two nearest values.
struct Percentile {
    /// The percentage; `None` if it is the second argument.
    percent: Option<f64>,
}

impl Aggregate<Values, Option<f64>> for Percentile {
    fn init(&self, _: &mut Context<'_>) -> Result<Values> {
        Ok((Vec::new(), self.percent.unwrap_or_default()))
    }

    fn step(&self, context: &mut Context<'_>, (values, percent): &mut Values) -> Result<()> {
        values.extend(context.get::<Option<f64>>(0)?);
        if self.percent.is_none() {
            *percent = context.get(1)?;
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, values: Option<Values>) -> Result<Option<f64>> {
        let Some((mut values, percent)) = values else { return Ok(None) };
        values.sort_by(f64::total_cmp);
        let Some(last) = values.len().checked_sub(1) else { return Ok(None) };
        #[expect(clippy::cast_precision_loss, reason = "a table has fewer rows than a float has digits")]
        let at = last as f64 * percent.clamp(0.0, 100.0) / 100.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is an index of the list"
        )]
        let (below, above) = (at.floor() as usize, at.ceil() as usize);
        let share = at - at.floor();
        Ok(Some(values[below] * (1.0 - share) + values[above] * share))
    }
}

struct StandardDeviation;

impl Aggregate<Vec<f64>, Option<f64>> for StandardDeviation {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, values: &mut Vec<f64>) -> Result<()> {
        values.extend(context.get::<Option<f64>>(0)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, values: Option<Vec<f64>>) -> Result<Option<f64>> {
        let values = values.unwrap_or_default();
        if values.len() < 2 {
            return Ok(None);
        }
        #[expect(clippy::cast_precision_loss, reason = "a table has fewer rows than a float has digits")]
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Ok(Some((squares / (n - 1.0)).sqrt()))
    }
}
