//! A plan for people and for programs: files by type, tasks, analysts, and the estimated cost.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spelunk_context::{FieldClass, JsonType, ManifestRow, Plan, PlanTask, Records, SchemaSketch, Tier, Work};
use spelunk_engine::{Forecast, Range};
use spelunk_model::{HostedCatalogue, Price, known_price};
use spelunk_types::Usage;

use crate::planning::Planned;
use crate::units::{bytes, count, dollars, head, tokens};

/// Providers whose default models are shown with their list prices.
const PROVIDERS: [&str; 3] = ["anthropic", "gemini", "openai"];
const ROWS_MAX: usize = 40;

/// The lowest and highest cost in micro-dollars, at these prices for analysts and synthesis.
fn cost(forecast: &Forecast, reader: Price, synthesis: Price) -> Range<u64> {
    // The forecast adds up many calls, and no prompt is long enough for the higher price.
    let [reader, synthesis] = [reader, synthesis].map(|price| Price { above: None, ..price });
    let most = |price: Price, usage: Usage| {
        // Writing to a provider's cache costs more than plain input; the provider decides whether it happens.
        let written = Usage { cache_written_tokens: usage.input_tokens, ..usage };
        price.cost_microusd(&usage).max(price.cost_microusd(&written))
    };
    let Forecast { reading, synthesis: putting, .. } = forecast;
    let least = reader.cost_microusd(&reading.least) + synthesis.cost_microusd(&putting.least);
    Range { least, most: most(reader, reading.most).saturating_add(most(synthesis, putting.most)) }
}

fn list_costs(forecast: &Forecast) -> Vec<(String, Range<u64>)> {
    let catalogue = HostedCatalogue::current();
    let mut costs = Vec::new();
    for provider in PROVIDERS {
        let Some(defaults) = catalogue.defaults(provider, catalogue.taken_on(), |_| true) else { continue };
        for model in [Some(defaults.root), defaults.sub].into_iter().flatten() {
            let Some(price) = known_price(provider, &model) else { continue };
            costs.push((format!("{provider}/{model}"), cost(forecast, price, price)));
        }
    }
    costs
}

/// The cost with the user's models; `None` if a price is unknown.
fn own_cost(planned: &Planned) -> Option<Range<u64>> {
    let (reader, synthesis) = (planned.reader.as_ref()?.price?, planned.synthesis.as_ref()?.price?);
    Some(cost(&planned.forecast, reader, synthesis))
}

fn own_line(planned: &Planned) -> String {
    let Some(reader) = &planned.reader else { return String::new() };
    let name = reader.reference.to_string();
    match own_cost(planned) {
        Some(Range { least: 0, most: 0 }) => format!("  {name:<28} free (your sub-model)\n"),
        Some(range) => format!("  {name:<28} {} (your sub-model)\n", dollar_range(range)),
        None => format!(
            "  {name:<28} no known price: set price_input_usd_per_mtok and price_output_usd_per_mtok (your sub-model)\n"
        ),
    }
}

fn dollar_range(Range { least, most }: Range<u64>) -> String {
    format!("{} to {}", dollars(least), dollars(most))
}

pub fn plan_text(planned: &Planned, with_tasks: bool) -> String {
    let Planned { plan, forecast, .. } = planned;
    let mut text = types(plan);
    text.push('\n');
    text += &files(plan);
    if with_tasks {
        text.push('\n');
        for (idx, task) in plan.tasks.iter().enumerate() {
            text += &format!(
                "{:>4}  {:<7} {:>7} tokens  {}\n",
                idx + 1,
                task.analyst.name(),
                tokens(task.tokens_estimate),
                work(task)
            );
        }
    }
    let n_chunks = plan.tasks.len() as u64 - plan.n_batches();
    let analysts: Vec<String> =
        plan.analysts.iter().map(|share| format!("{} {}", share.analysts, share.analyst.name())).collect();
    let Range { least, most } = forecast.usage();
    text += &format!(
        "\n{}: {}, {} · analysts: {}\n{} to {} · {} to {} tokens in, {} to {} out\n",
        count(plan.tasks.len() as u64, "task"),
        count(n_chunks, "chunk"),
        batches(plan),
        analysts.join(", "),
        forecast.calls.least,
        count(forecast.calls.most, "call"),
        tokens(least.input_tokens),
        tokens(most.input_tokens),
        tokens(least.output_tokens),
        tokens(most.output_tokens),
    );
    text += &own_line(planned);
    for (model, range) in list_costs(forecast) {
        text += &format!("  {model:<28} {}\n", dollar_range(range));
    }
    for warning in &plan.warnings {
        text += &format!("warning: {warning}\n");
    }
    for (name, error) in plan.unreadable.iter().take(ROWS_MAX) {
        text += &format!("not read: {}: {}\n", head(name, 100), head(&error.to_string(), 160));
    }
    text
}

fn types(plan: &Plan) -> String {
    let mut by_type: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for row in &plan.manifest {
        let (files, lines, size) = by_type.entry(type_name(row)).or_default();
        (*files, *lines, *size) = (*files + 1, *lines + row.lines, *size + row.bytes);
    }
    let mut text = format!("{:<16} {:>6} {:>9} {:>9}\n", "type", "files", "lines", "size");
    for (name, (files, lines, size)) in by_type {
        text += &format!("{name:<16} {files:>6} {lines:>9} {:>9}\n", bytes(size));
    }
    text
}

fn type_name(row: &ManifestRow) -> &str {
    row.detected
        .custom
        .as_ref()
        .map_or_else(|| row.detected.content_type.name(), |custom| custom.name.as_str())
}

/// The files that are split, longest first; small files are batched.
fn files(plan: &Plan) -> String {
    let mut rows: Vec<&ManifestRow> = plan.manifest.iter().filter(|row| row.tier != Tier::Small).collect();
    rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    let n_small = plan.manifest.len() - rows.len();
    let mut text = String::new();
    for row in rows.iter().take(ROWS_MAX) {
        let (chunks, kind) = (count(row.n_chunks, "chunk"), type_name(row));
        text += &format!("{:>9}  {:<15} {chunks:>11}  {}\n", bytes(row.bytes), kind, head(&row.name, 100));
    }
    if rows.len() > ROWS_MAX {
        text += &format!("[{} more]\n", rows.len() - ROWS_MAX);
    }
    if n_small > 0 {
        text += &format!("{} in {}\n", count(n_small as u64, "small file"), batches(plan));
    }
    text
}

fn batches(plan: &Plan) -> String {
    match plan.n_batches() {
        1 => "1 batch".to_owned(),
        n_batches => format!("{n_batches} batches"),
    }
}

fn work(task: &PlanTask) -> String {
    match &task.work {
        Work::Chunk(chunk) => {
            let scope =
                chunk.scope.as_ref().map(|scope| format!("  {}", head(scope, 60))).unwrap_or_default();
            format!("{}:{}-{}{scope}", head(&chunk.document, 100), chunk.lines.start(), chunk.lines.end())
        }
        Work::Batch(batch) => {
            let names: Vec<String> = batch.items.iter().take(4).map(|item| head(&item.name, 60)).collect();
            let more = batch.items.len().saturating_sub(4);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("batch of {}: {}{more}", batch.items.len(), names.join(", "))
        }
    }
}

pub fn plan_value(planned: &Planned) -> Value {
    let Planned { plan, forecast, left_out, .. } = planned;
    let of_row = |row: &ManifestRow| {
        json!({
            "file": row.name,
            "bytes": row.bytes,
            "lines": row.lines,
            "type": row.detected.content_type.name(),
            "custom_type": row.detected.custom.as_ref().map(|custom| custom.name.as_str()),
            "via": row.detected.via.name(),
            "tier": row.tier.name(),
            "partitions_expected": row.partitions_expected,
            "partitions": row.n_chunks,
            "schema": row.schema.as_deref().map(schema_json),
        })
    };
    let analysts: Vec<Value> = plan
        .analysts
        .iter()
        .map(|share| json!({ "analyst": share.analyst.name(), "tasks": share.tasks, "labels": share.labels().collect::<Vec<_>>() }))
        .collect();
    let costs = list_costs(forecast);
    let least: BTreeMap<&str, u64> = costs.iter().map(|(model, cost)| (model.as_str(), cost.least)).collect();
    let most: BTreeMap<&str, u64> = costs.iter().map(|(model, cost)| (model.as_str(), cost.most)).collect();
    let usage = forecast.usage();
    let own = own_cost(planned);
    let reader = planned.reader.as_ref().map(|reader| {
        json!({
            "model": reader.reference.to_string(),
            "cost_microusd_at_least": own.map(|cost| cost.least),
            "cost_microusd_at_most": own.map(|cost| cost.most),
        })
    });
    json!({
        "manifest": plan.manifest.iter().map(of_row).collect::<Vec<_>>(),
        "tasks": plan.tasks.iter().map(task_json).collect::<Vec<_>>(),
        "analysts": analysts,
        "calls_at_least": forecast.calls.least,
        "calls_at_most": forecast.calls.most,
        "usage_at_least": usage.least,
        "usage_at_most": usage.most,
        "cost_microusd_at_least": least,
        "cost_microusd_at_most": most,
        "reader": reader,
        "skipped": left_out.skipped,
        "left_out": left_out.over_the_cap,
        "redacted": left_out.redacted,
        "warnings": plan.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unreadable": plan.unreadable.iter().map(|(name, error)| json!({ "file": name, "reason": error.to_string() })).collect::<Vec<_>>(),
    })
}

fn schema_json(schema: &SchemaSketch) -> Value {
    json!({
        "sketch": schema.text,
        "sampled_bytes": schema.sampled_bytes,
        "records": schema.records.as_ref().map(records_json),
    })
}

fn records_json(records: &Records) -> Value {
    let fields = records.fields.iter().map(|field| {
        json!({
            "path": field.path,
            "types": field.types.iter().copied().map(JsonType::name).collect::<Vec<_>>(),
            "present": field.n_present,
            "class": field.class.map(FieldClass::name),
        })
    });
    let recipes = records.recipes.iter().map(|recipe| (recipe.name, recipe.filter.as_str()));
    json!({
        "sampled": records.n_sampled,
        "malformed": records.n_malformed,
        "shapes": records.n_shapes,
        "begins_with_metadata": records.begins_with_metadata,
        "fields": fields.collect::<Vec<_>>(),
        "fields_left_out": records.n_fields_left_out,
        "only_early": records.only_early,
        "only_late": records.only_late,
        "recipes": recipes.collect::<BTreeMap<_, _>>(),
    })
}

fn task_json(task: &PlanTask) -> Value {
    let work = match &task.work {
        Work::Chunk(chunk) => json!({
            "file": chunk.document.as_ref(),
            "chunk": chunk.index,
            "of": chunk.n_chunks,
            "line_start": chunk.lines.start(),
            "line_end": chunk.lines.end(),
            "scope": chunk.scope,
        }),
        Work::Batch(batch) => {
            json!({ "files": batch.items.iter().map(|item| &item.name).collect::<Vec<_>>() })
        }
    };
    json!({ "analyst": task.analyst.name(), "tokens_estimate": task.tokens_estimate, "work": work })
}
