use super::*;

fn arguments(line: &[&str]) -> Vec<String> {
    let given = line.iter().map(OsString::from).collect();
    with_default_command(given).into_iter().map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn a_question_means_ask() {
    assert_eq!(arguments(&["spelunk", "what is this?", "."]), ["spelunk", "ask", "what is this?", "."]);
    assert_eq!(arguments(&["spelunk", "ask", "why"]), ["spelunk", "ask", "why"]);
    assert_eq!(arguments(&["spelunk", "shwo"]), ["spelunk", "shwo"]);
    assert_eq!(arguments(&["spelunk", "--help"]), ["spelunk", "--help"]);
    assert_eq!(arguments(&["spelunk"]), ["spelunk"]);
    assert_eq!(
        arguments(&["spelunk", "-q", "-m", "none", "a b"]),
        ["spelunk", "ask", "-q", "-m", "none", "a b"]
    );
    assert_eq!(arguments(&["spelunk", "-q", "show"]), ["spelunk", "-q", "show"]);
    assert_eq!(arguments(&["spelunk", "--set", "a b"]), ["spelunk", "--set", "a b"]);
}

#[test]
fn the_commands_are_the_ones_clap_knows() {
    use clap::CommandFactory;
    let mut command = Cli::command();
    command.build();
    let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(known, COMMANDS);
}

#[test]
fn every_flag_of_ask_that_takes_a_value_is_skipped_with_it() {
    use clap::CommandFactory;
    let mut command = Cli::command();
    command.build();
    let ask = command.find_subcommand("ask").unwrap();
    let takes_value = ask.get_opts().filter(|flag| flag.get_action().takes_values());
    let mut flags: Vec<String> = takes_value
        .flat_map(|flag| {
            let long = flag.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(flag.get_short().map(|short| format!("-{short}")))
        })
        .collect();
    let mut known = VALUE_FLAGS.map(str::to_owned).to_vec();
    flags.sort();
    known.sort();
    assert_eq!(flags, known);
}
