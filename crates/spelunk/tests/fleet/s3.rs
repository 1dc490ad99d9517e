//! Buckets of S3 in a fleet: the nodes read them, and whoever asks need not be able to.

use spelunk_testkit::{Fault, Gate, ModelServer};

use super::{FleetScene, Node};
use crate::scene::moto::{SECRET, moto};
use crate::scene::{QUESTION, n_calls, to_all, wait_at};
use crate::secrets::assert_secret_nowhere;

const REPLY: &str = "42\n\n```evidence\ns3://shelf/docs/a.md:3: The magic number is 42.\n```";

#[test]
fn nodes_read_a_bucket_that_the_one_who_asks_cannot_read() {
    let (Some(fleet), Some(moto)) = (FleetScene::new(), moto()) else { return };
    moto.bucket("shelf", &[("docs/a.md", "# Numbers\n\nThe magic number is 42.\n")]);
    let gate = Gate::new();
    let model = ModelServer::start_blocking([to_all()
        .fault(Fault::StallBeforeHeaders)
        .reply(REPLY)
        .usage(100, 20)
        .gate(&gate)]);
    let worker =
        |name: &str| Node { child: fleet.call(name, &["worker"]).server(&model).s3(moto.port).start() };
    let mut one = worker("one");
    let asking = fleet.call("laptop", &["ask", QUESTION, "s3://shelf/docs"]);
    let asking = asking.env("AWS_EC2_METADATA_DISABLED", "true").start();
    wait_at(&gate, &model);
    // Another node takes the run over, and reads the same objects.
    one.kill();
    gate.open();
    let mut two = worker("two");
    let asked = crate::scene::Ran::of(&fleet.scene, asking.wait_with_output().unwrap());
    assert_eq!(
        (asked.code, asked.stdout.as_str()),
        (0, "42\n  s3://shelf/docs/a.md:3  The magic number is 42.\n"),
        "{}",
        asked.stderr
    );
    assert_eq!(n_calls(&model), 2);
    two.kill();
    assert_secret_nowhere(&fleet.scene, SECRET, &[asked]);
}

#[test]
fn a_bucket_that_no_node_can_read_is_refused() {
    let (Some(fleet), Some(moto)) = (FleetScene::new(), moto()) else { return };
    let model = ModelServer::start_blocking([to_all().reply(REPLY)]);
    let _node = Node { child: fleet.call("one", &["worker"]).server(&model).s3(moto.port).start() };
    let asked = fleet.run("laptop", &["ask", QUESTION, "s3://absent"]);
    assert_eq!(asked.code, 2, "{}", asked.stderr);
    assert!(asked.stderr.contains("there is no bucket `absent`"), "{}", asked.stderr);
    assert_eq!(n_calls(&model), 0);
}
