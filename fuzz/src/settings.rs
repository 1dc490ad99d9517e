//! Settings files: parsing and writing round-trips, a project may set nothing that its user may not, and a refusal is
//! printable.

use spelunk_server::fuzzing;

use crate::check_message;
use crate::choice::text_of;

/// Parses the text as the user's file and as a project's.
pub(crate) fn settings(data: &[u8]) {
    let text = text_of(data);
    let of_user = check(&text, false);
    let of_project = check(&text, true);
    if let Some(of_project) = of_project {
        assert_eq!(of_user, Some(of_project), "it means the same to its user");
    }
}

fn check(text: &str, is_project: bool) -> Option<String> {
    match fuzzing::settings(text, is_project) {
        Ok(written) => {
            let again = fuzzing::settings(&written, is_project);
            assert_eq!(again.as_ref(), Ok(&written), "written and read again");
            Some(written)
        }
        Err(message) => {
            check_message(&message);
            None
        }
    }
}
