//! Crash at every write of a run that shows images. The files are read again, and one that has changed ends the run.

use std::sync::Arc;

use spelunk_testkit::{FaultDisk, on};
use spelunk_types::{ErrorCode, EventKind, Explain, RunId, RunOutcome};

use super::Blow;
use crate::runs::images::{png, put, with_pdf};
use crate::stage::{Stage, engine_in, events, only_run, view};

const CELL: &str = "```repl
try:
    llm_query('What?', images=['c.png'])
except NotFound as error:
    none = 'none'
one = llm_query('What is it?', images=['figures/a.png', 'b.png', 'report.pdf#page=2-3'])
print(none, one)
```";

fn cells() -> Stage {
    with_pdf([
        on("0#0").reply(CELL).usage(100, 10),
        on("0#2").reply("two cats").usage(900, 10),
        on("0#3").reply("```repl\nFINAL(none + one)\n```").usage(100, 10),
    ])
}

#[tokio::test]
async fn a_crash_at_every_write_shows_the_same_images_again() {
    let mut n_resumed = 0;
    for n in 1.. {
        let mut has_died = false;
        for blow in Blow::all(n) {
            let stage = cells();
            let Some((disk, run)) = crash(&stage, blow).await else { continue };
            has_died = true;
            let Some(run) = run else { continue };
            n_resumed += 1;
            let engine = engine_in(blow.mode, disk);
            let result = stage.resume(&engine, &run).unwrap().join().await;
            let text = result.answer.unwrap_or_else(|| panic!("{blow:?}: {:?}", result.error)).text;
            assert_eq!(text, "nonetwo cats", "{blow:?}");
            assert!(stage.server.unexpected().is_empty(), "{blow:?}");
        }
        if !has_died {
            break;
        }
    }
    assert!(n_resumed > 20, "{n_resumed} runs were resumed");
}

/// The disk after the crash at this write, and the run if it is to be resumed; `None` if it did not crash.
async fn crash(stage: &Stage, blow: Blow) -> Option<(Arc<FaultDisk>, Option<RunId>)> {
    let dying = Arc::new(FaultDisk::sound().dying_at(blow.n));
    if let Ok(handle) = stage.start(&engine_in(blow.mode, dying.clone()), "What is there?") {
        handle.join().await;
    }
    if !dying.is_dead() {
        return None;
    }
    let disk = Arc::new(dying.after(blow.crash));
    let survived = |run: &RunId| view(&events(&engine_in(blow.mode, disk.clone()), run));
    let run = only_run(&disk.files()).filter(|run| {
        let before = survived(run);
        before.strategy.is_some() && before.outcome != Some(RunOutcome::Answered)
    });
    Some((disk.clone(), run))
}

#[tokio::test]
async fn an_image_that_changed_since_it_was_shown_ends_the_resumed_run() {
    let mut n_changed = 0;
    for n in 1.. {
        let Some(blow) = Blow::all(n).into_iter().next() else { break };
        let stage = cells();
        let Some((disk, run)) = crash(&stage, blow).await else { break };
        let Some(run) = run else { continue };
        let engine = engine_in(blow.mode, disk);
        let recorded = events(&engine, &run);
        let is = |wanted: fn(&EventKind) -> bool| recorded.iter().any(|event| wanted(&event.kind));
        let was_shown = is(
            |kind| matches!(kind, EventKind::ValueObserved { what, .. } if what.contains("figures/a.png")),
        );
        // With the answer recorded, nothing is replayed.
        if !was_shown || is(|kind| matches!(kind, EventKind::FrameClosed { .. })) {
            continue;
        }
        n_changed += 1;
        put(&stage, "figures/a.png", &png(3, 2));
        let error = stage.resume(&engine, &run).unwrap().join().await.error.unwrap();
        assert_eq!(error.to_string(), "`figures/a.png` changed since it was scanned");
        assert_eq!(error.code(), ErrorCode::CorpusChanged);
    }
    assert!(n_changed > 2, "{n_changed} runs were resumed");
}
