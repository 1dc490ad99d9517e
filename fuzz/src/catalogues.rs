//! Catalogues of hosted models: a line that is read is written the same, nothing in a catalogue that is taken is free, and
//! a refusal is printable.

use spelunk_model::HostedCatalogue;
use spelunk_model::fuzzing::catalogue_line;

use crate::check_message;
use crate::choice::text_of;

/// Reads the text as lines of a catalogue, as a catalogue whose middle it is, and as the data set that one is made from.
pub(crate) fn catalogue(data: &[u8]) {
    let text = text_of(data);
    for line in text.lines() {
        let written = catalogue_line(line);
        assert_eq!(written.as_deref().and_then(catalogue_line), written, "written and read again");
    }
    let whole = HostedCatalogue::built_in().text();
    let at = whole.find("\nazure\t").expect("it lists Azure's models") + 1;
    let (head, tail) = whole.split_at(at);
    for given in [text.clone(), format!("{head}{text}"), format!("{head}{text}\n{tail}")] {
        check(HostedCatalogue::parse(given).map_err(|error| error.to_string()));
    }
    let taken = HostedCatalogue::of_litellm(&text, "1.0.0", "2026-01-01");
    check(taken.map_err(|error| error.to_string()));
}

fn check(read: Result<HostedCatalogue, String>) {
    match read {
        Ok(catalogue) => {
            let prices = catalogue.all().filter_map(|model| model.price);
            assert!(prices.into_iter().all(|price| price.input_microusd_per_mtok > 0), "nothing is free");
        }
        Err(message) => check_message(&message),
    }
}
