//! The description of tables for a model: statements that create them, with the values of each column as comments.

use std::fmt::Write as _;

use crate::database::address_shown;
use crate::{Column, Table, Tables};

const COLUMNS_SHOWN_MAX: usize = 40;
const ALL_COLUMNS_SHOWN_MAX: usize = 80;
const VALUE_CHARS_MAX: usize = 80;
const TABLES_SHOWN_MAX: usize = 8;

impl Tables {
    /// The tables as SQL with comments. Columns that share words with `question` are preferred.
    pub fn describe(&self, question: &str) -> String {
        let mut text = String::new();
        for table in self.tables().iter().take(TABLES_SHOWN_MAX) {
            let columns_max =
                COLUMNS_SHOWN_MAX.min(ALL_COLUMNS_SHOWN_MAX / self.tables().len().min(TABLES_SHOWN_MAX));
            table.describe(question, columns_max, &mut text);
        }
        let n_hidden = self.tables().len().saturating_sub(TABLES_SHOWN_MAX);
        if n_hidden > 0 {
            let names: Vec<&str> =
                self.tables().iter().skip(TABLES_SHOWN_MAX).map(|table| table.name.as_str()).collect();
            let _ = writeln!(text, "-- {n_hidden} more tables: {}", names.join(", "));
        }
        text
    }
}

impl Table {
    fn describe(&self, question: &str, columns_max: usize, text: &mut String) {
        let from = match self.documents.as_slice() {
            [only] => one_line(only),
            several => format!("{} files", several.len()),
        };
        let n_rows = match (self.is_counted, self.n_rows) {
            (true, n_rows) => format!("{n_rows} rows"),
            (false, n_rows @ 1..) if self.server().is_some() => format!("about {n_rows} rows"),
            (false, 0) => "rows".to_owned(),
            (false, n_rows) => format!("more than {} rows", n_rows - 1),
        };
        let from = if self.server().is_some() { format!("PostgreSQL {from}") } else { from };
        let about = self.about.as_deref().map_or_else(String::new, |about| format!(": {}", one_line(about)));
        let cited = address_shown(self).map_or_else(String::new, |address| format!(", each is {address}"));
        let _ = writeln!(text, "CREATE TABLE {} ( -- {n_rows} from {from}{cited}{about}", self.name);
        let shown = self.shown_columns(question, columns_max);
        for column in &shown {
            let _ = writeln!(text, "  {} {}, -- {}", column.name, column.declared(), column.comment());
        }
        if shown.len() < self.columns.len() {
            let _ = writeln!(text, "  -- {} more columns", self.columns.len() - shown.len());
        }
        text.push_str(");\n");
    }

    fn shown_columns(&self, question: &str, columns_max: usize) -> Vec<&Column> {
        let words: Vec<String> = question
            .split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .filter(|word| word.len() > 2)
            .collect();
        let shares = |column: &Column| {
            let name = column.original.to_lowercase();
            words.iter().any(|word| name.contains(word.as_str()))
        };
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        if order.len() > columns_max {
            order.sort_by_key(|&idx| (!shares(&self.columns[idx]), idx));
            order.truncate(columns_max);
            order.sort_unstable();
        }
        order.into_iter().map(|idx| &self.columns[idx]).collect()
    }
}

impl Column {
    fn declared(&self) -> String {
        self.declared.as_deref().map_or_else(|| self.kind.sql().to_owned(), one_line)
    }

    fn comment(&self) -> String {
        let named = if self.original == self.name {
            String::new()
        } else {
            format!("{}: ", one_line(&self.original))
        };
        let list =
            |values: &[String]| values.iter().map(|value| one_line(value)).collect::<Vec<_>>().join(", ");
        match &self.few {
            Some(few) if few.is_empty() => format!("{named}empty"),
            Some(few) => format!("{named}one of: {}", list(few)),
            None if self.examples.is_empty() => format!("{named}any value"),
            None => format!("{named}such as: {}", list(&self.examples)),
        }
    }
}

/// Text without control characters, so that it cannot end a comment.
fn one_line(text: &str) -> String {
    text.chars().take(VALUE_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
