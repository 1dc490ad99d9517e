use std::sync::{Arc, Mutex};

use spelunk_context::{Corpus, DatabaseServer, QueryWatch, ScanOptions, ServerColumn, SourceInput, View};

use super::*;

/// A server with one table, which repeats what it is asked.
#[derive(Debug, Default)]
struct Echo {
    asked: Mutex<Vec<String>>,
    is_away: bool,
}

impl DatabaseServer for Echo {
    fn name(&self) -> &'static str {
        "shop"
    }

    fn url(&self) -> &'static str {
        "postgres://ann@h/shop"
    }

    fn query(
        &self,
        statements: &[String],
        _: &ServerBounds,
        _: &QueryWatch,
    ) -> Result<Vec<Result<ServerRows, ServerError>>, ServerError> {
        let row = |cells: &[&str]| cells.iter().map(|cell| Some((*cell).to_owned())).collect::<Vec<_>>();
        let answer = |sql: &String| {
            let rows = if sql.contains("pg_class") {
                vec![row(&["public", "orders", "false", "true", "70000", "", "id", "integer", "", "0"])]
            } else if self.is_away {
                return Err(ServerError::Unusable { why: "gone".to_owned(), hint: "try again" });
            } else {
                self.asked.lock().unwrap().push(sql.clone());
                vec![row(&["4711"]); 2]
            };
            let column = ServerColumn { name: "id".to_owned(), is_number: true };
            Ok(ServerRows { columns: vec![column], rows, is_cut: false })
        };
        Ok(statements.iter().map(answer).collect())
    }
}

fn tables(server: &Arc<Echo>) -> Tables {
    let csv = "id,orders\n1,2\n3,4\n";
    let sources = [
        SourceInput::Database(Arc::clone(server) as ServerHandle),
        SourceInput::Text { name: "cities.csv".to_owned(), bytes: csv.into() },
        SourceInput::Text { name: "orders.csv".to_owned(), bytes: b"a,b\n1,2\n".to_vec() },
    ];
    let corpus = Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    Tables::of(&View::of(Arc::new(corpus)), 1_000_000, &QueryWatch::of_ms(1000)).unwrap().unwrap()
}

#[test]
fn a_query_goes_to_the_database_whose_tables_it_names() {
    let server = Arc::new(Echo::default());
    let mut tables = tables(&server);
    let mut asked = |sql: &str| {
        let before = server.asked.lock().unwrap().len();
        let ran = tables.query(sql, 10).map(|result| result.rows).map_err(|error| error.to_string());
        (server.asked.lock().unwrap().len() > before, ran)
    };
    let number = |number: i64| vec![vec![Cell::Integer(number)]];
    assert_eq!(asked("SELECT sum(id) FROM cities"), (false, Ok(number(4))));
    assert!(asked("SELECT id FROM public.orders WHERE x = 'cities'").0);
    let several = "a query reads one database, and these tables are in several: write one query for each, and name \
                   tables with their schema";
    assert_eq!(asked("SELECT * FROM cities JOIN orders USING (id)"), (false, Err(several.to_owned())));
    assert_eq!(asked("SELECT 1 + 1"), (false, Ok(number(2))));
}

#[test]
fn a_server_that_is_lost_is_not_an_answer() {
    let server = Arc::new(Echo { is_away: true, ..Echo::default() });
    let mut tables = tables(&server);
    assert!(tables.query("SELECT id FROM public.orders", 10).is_err());
    let lost = tables.take_lost().unwrap().to_string();
    assert_eq!(lost, "could not use the database `postgres://ann@h/shop`: gone");
    assert!(tables.take_lost().is_none());
}

#[test]
fn numbers_that_no_float_holds_keep_their_digits() {
    let column = |is_number| ServerColumn { name: String::new(), is_number };
    let rows = ServerRows {
        columns: vec![column(true), column(true), column(true), column(true), column(false)],
        rows: vec![
            ["7", "7.50", "12345678901234567890.5", "NaN", "7"].map(|cell| Some(cell.to_owned())).to_vec(),
        ],
        is_cut: false,
    };
    let text = |text: &str| Cell::Text(text.to_owned());
    let expected =
        vec![Cell::Integer(7), Cell::Real(7.5), text("12345678901234567890.5"), text("NaN"), text("7")];
    assert_eq!(cells(rows), [expected]);
}
