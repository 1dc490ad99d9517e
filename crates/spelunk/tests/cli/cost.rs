//! The cost of a run: a cost limit is enforced or rejected, and every request counts as a call.

use expect_test::expect;
use spelunk_testkit::{Fault, ModelServer, status};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, to_all};

/// A URL on another machine at which nothing answers.
const ELSEWHERE: &str = "https://192.0.2.1/v1";

#[test]
fn a_bound_on_cost_refuses_a_model_without_a_price() {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION, "notes", "--model", "tiny", "--base-url", ELSEWHERE, "--max-cost", "1"])
        .run()
        .check(&expect![[r"
            --- stderr
            openai/tiny (model.base_url is set)
            error: no price is known for `openai/tiny`, so `limits.cost_microusd_max` would have no effect

            hint: set its prices with `model.price_input_usd_per_mtok` and `model.price_output_usd_per_mtok`, or the same fields of `models.NAME`, or use `--max-tokens` instead of `--max-cost`
            --- exit 2
        "]]);
    assert_eq!(scene.runs(), [""; 0]);
}

#[test]
fn wherever_the_bound_is_set_and_whoever_has_no_price_it_refuses() {
    let scene = Scene::new(&NOTE);
    let priced = "provider = 'openai'\nname = 'gpt-5-mini'\nkey_env = 'HOME'\n";
    let models = format!(
        "[models.known]\n{priced}\n[models.unknown]\nprovider = 'openai'\nname = 'gpt-x'\nkey_env = 'HOME'\n\
         [models.chain]\n{priced}fallback = ['unknown']\n"
    );
    scene.write("../home/.config/spelunk/config.toml", models.as_bytes());
    let bound: [&[&str]; 2] = [&["--max-cost", "1"], &["--set", "limits.cost_microusd_max=5000000"]];
    let asked: [&[&str]; 5] = [
        &["--model", "unknown"],
        &["--model", "chain"],
        &["--model", "known", "--sub-model", "unknown"],
        &["--model", "known", "--set", "roles.synthesis=unknown"],
        &["--model", "command/x", "--set", "model.command=cat"],
    ];
    for bound in bound {
        for asked in asked {
            let arguments = ["ask", QUESTION, "notes"].iter().chain(asked).chain(bound).copied();
            let ran = scene.spelunk(arguments).run();
            assert!(
                ran.code == 2 && ran.stderr.contains("no price is known for"),
                "{asked:?}: {}",
                ran.stderr
            );
        }
    }
    let ran = scene.spelunk(["ask", QUESTION, "notes", "--model", "unknown"]);
    let ran = ran.env("SPELUNK_LIMITS_COST_MICROUSD_MAX", "1000").run();
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

#[test]
fn a_model_that_costs_nothing_or_whose_price_is_set_is_bounded() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).arg("--max-cost=1").run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let command = ["--model", "command/x", "--set", "model.command=cat", "--max-cost", "1", "--no-cache"];
    let prices = ["--set", "model.price_input_usd_per_mtok=0", "--set", "model.price_output_usd_per_mtok=0"];
    let arguments = ["ask", QUESTION, "notes"].into_iter().chain(command).chain(prices);
    let ran = scene.spelunk(arguments).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn without_a_bound_a_model_without_a_price_is_asked_and_the_user_is_told() {
    let scene = Scene::new(&NOTE);
    let command = ["--model", "command/x", "--set", "model.command=echo It is 42.", "--json"];
    let ran = scene.spelunk(["ask", QUESTION, "notes"].into_iter().chain(command)).run();
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        told["warnings"],
        serde_json::json!(["no price is known for command/x: its cost is not counted"]),
        "{}",
        ran.stderr
    );
}

/// A provider that never completes a reply is not retried forever.
#[test]
fn max_calls_is_how_many_requests_are_sent() {
    for fault in [Fault::CutStream, status(500).into(), status(429).retry_after_ms(1).into()] {
        let server = ModelServer::start_blocking([to_all().always(fault.clone())]);
        let scene = Scene::new(&NOTE);
        let ran = scene.ask(&server).impatient().arg("--max-calls=2").run();
        assert_eq!((ran.code, n_calls(&server)), (3, 2), "{fault:?}: {}", ran.stderr);
        assert_eq!(scene.calls_reported(), 2, "{fault:?}");
    }
}
