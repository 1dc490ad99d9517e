//! Programs that use every kind of external input: replies, typed batches with corrections, children, budgets,
//! searches, the clock, refused answers, and cells that a limit stops.

use spelunk_testkit::{Rule, status, when};

use crate::stage::Dice;

/// The cells that a scripted model writes, one per turn; the last one answers.
pub(super) struct Cells {
    cells: Vec<String>,
    asked: Vec<Asked>,
}

/// A prompt of a cell.
struct Asked {
    words: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Typed,
    Child,
}

const SCHEMA: &str = "{'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n'], 'additionalProperties': False}";

impl Cells {
    pub(super) fn roll(dice: &mut Dice) -> Self {
        let mut made = Self { cells: Vec::new(), asked: Vec::new() };
        let n_cells = 1 + dice.below(4);
        let (mut may_be_endless, mut may_refuse) = (true, true);
        for idx in 0..n_cells {
            let is_endless = may_be_endless && dice.below(3) == 0;
            let mut code = format!("# cell {idx}\n");
            for _ in 0..=dice.below(4) {
                code += &made.statement(dice);
            }
            // A stopped cell has no effect, so any answer it offered was never offered.
            if is_endless || std::mem::take(&mut may_refuse) {
                code += "try:\n    FINAL('')\nexcept ValueError as e:\n    print('refused', len(context))\n";
            }
            if is_endless {
                may_be_endless = false;
                code += "while True:\n    pass\n";
            }
            made.cells.push(code);
        }
        made.cells.push(format!("# cell {n_cells}\nFINAL('done with ' + str(len(context)))"));
        made
    }

    /// One external input.
    fn statement(&mut self, dice: &mut Dice) -> String {
        match dice.below(7) {
            0 => format!("print(llm_query('{}'))\n", self.ask(Kind::Plain)),
            1 => {
                let words = self.ask(Kind::Plain);
                format!(
                    "try:\n    print(llm_query('{words}'))\nexcept ModelError as e:\n    print('failed', e)\n"
                )
            }
            2 => {
                let words: Vec<String> = (0..3).map(|_| format!("'{}'", self.ask(Kind::Typed))).collect();
                let batch = format!("llm_query_batched([{}], schema={SCHEMA})", words.join(", "));
                format!("for item in {batch}:\n    print(type(item).__name__, item)\n")
            }
            3 => "print(budget()['calls'], budget()['tokens'])\n".to_owned(),
            4 => "print([hit['line'] for hit in search('alpha red', mode='hybrid')])\n".to_owned(),
            5 => {
                let words = self.ask(Kind::Child);
                format!(
                    "try:\n    print(rlm_query('{words}', context='a.md'))\nexcept Exception as e:\n    print('failed', e)\n"
                )
            }
            _ => "import time, random\nprint(time.time(), random.random())\n".to_owned(),
        }
    }

    fn ask(&mut self, kind: Kind) -> String {
        let words = format!("question {} ends", self.asked.len());
        self.asked.push(Asked { words: words.clone(), kind });
        words
    }

    pub(super) fn code(&self) -> String {
        self.cells.join("\n")
    }

    /// The environment of one process: when replies arrive, and what they are.
    pub(super) fn rules(&self, dice: &mut Dice) -> Vec<Rule> {
        let turns = self.cells.iter().enumerate();
        let mut rules = vec![when(|prompt| prompt.contains("The budget is used up.")).reply("Some of it.")];
        rules.extend(turns.map(|(idx, code)| turn(idx, self.cells.len() - 1, code)));
        for Asked { words, kind } in &self.asked {
            rules.extend(replies(words, *kind, dice));
        }
        rules
    }
}

/// The root is recognised by its question, and its turns by the cells it has written. The last one is written again
/// if a busy machine stopped it.
fn turn(idx: usize, last: usize, code: &str) -> Rule {
    let (this, before) = (format!("# cell {idx}\n"), idx.checked_sub(1).map(|idx| format!("# cell {idx}\n")));
    let is_turn = move |prompt: &str| {
        prompt.contains("What is there?")
            && (idx == last || !prompt.contains(&this))
            && before.as_ref().is_none_or(|before| prompt.contains(before))
    };
    when(is_turn).reply(format!("```repl\n{code}\n```"))
}

fn replies(words: &str, kind: Kind, dice: &mut Dice) -> Vec<Rule> {
    let mut rule = |is_correction: bool| {
        let words = words.to_owned();
        let rule = when(move |prompt: &str| {
            prompt.contains(&words) && prompt.contains("was not accepted") == is_correction
        });
        let (is_good, n) = (dice.below(3) > 0, dice.below(1000));
        let rule = rule.delay_ms(dice.below(30));
        match kind {
            Kind::Typed if is_good => rule.reply(format!("{{\"n\": {n}}}")),
            Kind::Typed => rule.reply(format!("about {n}")),
            Kind::Child if is_good => rule.reply(format!("```repl\nFINAL(context.split()[0] + ' {n}')\n```")),
            Kind::Plain if is_good => rule.reply(format!("number {n}")),
            Kind::Plain | Kind::Child => rule.always(status(400)),
        }
    };
    vec![rule(true), rule(false)]
}
