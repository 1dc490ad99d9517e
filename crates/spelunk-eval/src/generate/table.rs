//! Table statistics: a sum under two conditions, the row with the highest value, the number of distinct values.

use std::collections::HashSet;

use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::sink::OutputFile;

const REGIONS: [&str; 5] = ["north", "south", "east", "west", "islands"];
const PRODUCTS: [&str; 6] = ["lamp", "desk", "kettle", "shelf", "tent", "watch"];
const STATES: [&str; 3] = ["shipped", "open", "returned"];

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let path = format!("{}/orders.csv", draft.folder);
    let rng = &mut draft.rng;
    let (region, product) = (*rng.pick(&REGIONS), *rng.pick(&PRODUCTS));
    let mut out = OutputFile::begin(draft.sink, &path)?;
    out.line("order,date,region,product,customer,units,price_cents,state")?;
    let (mut order, mut units_sum) = (100_000, 0);
    let mut top: (u64, u64, bool) = (0, 0, false);
    let mut customers = HashSet::new();
    while out.bytes() < draft.bytes_max || top.2 {
        order += rng.between(1, 4);
        let is_over = out.bytes() >= draft.bytes_max;
        let in_region = if is_over { region } else { *rng.pick(&REGIONS) };
        let (of_product, state) = (*rng.pick(&PRODUCTS), *rng.pick(&STATES));
        let (month, day) = (rng.between(1, 13), rng.between(1, 29));
        let (customer, units) = (rng.between(1000, 1600), rng.between(1, 10));
        // One more row at the end breaks a tie.
        let price = if is_over { top.0 + 1 } else { rng.between(500, 90_000) };
        out.line(&format!(
            "{order},2025-{month:02}-{day:02},{in_region},{of_product},{customer},{units},{price},{state}"
        ))?;
        if in_region == region && state == "returned" {
            units_sum += units;
        }
        if in_region == region && price >= top.0 {
            top = (price, order, price == top.0);
        }
        if of_product == product {
            customers.insert(customer);
        }
    }
    let (question, answer, scoring) = match draft.variant {
        "sum" => (
            format!(
                "What is the total of the column units over the rows with the region {region} and the state returned?"
            ),
            units_sum.to_string(),
            Scoring::Number,
        ),
        "top" => (
            format!(
                "Which order of the region {region} has the highest price_cents? Give its number from the column order."
            ),
            top.1.to_string(),
            Scoring::Exact,
        ),
        _ => (
            format!("How many different customers have ordered the product {product}?"),
            customers.len().to_string(),
            Scoring::Number,
        ),
    };
    Ok(GeneratedTask { question, shape: Shape::NUMBER, answer: vec![answer], scoring, files: vec![path] })
}
