//! Logs are bytes: what a script wrote is what `hera logs` gives, whatever it is and while it grows.

use std::fs;
use std::process::Stdio;

use hera_testkit::wait_for_async;
use hera_tests::cluster::{Cluster, LIMIT, Store};

/// Writes a line of 1 MB without an end, bytes that are no UTF-8, and 4 MB more in pieces, to its standard
/// output and to a file of its own.
const WRITER: &str = r#"
import os, sys, time
copy = open(sys.argv[1], "wb")
def write(data):
    copy.write(data)
    copy.flush()
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]
write(b"\xff\xfe\x80 no text \x00 at all \xc3\r\n\x1b[31m")
write(b"x" * 1_000_000)
open(sys.argv[2], "wb").close()
while not os.path.exists(sys.argv[3]):
    time.sleep(0.02)
for piece in range(400):
    write(os.urandom(10_000))
"#;

async fn a_log_of_any_bytes_is_followed_while_it_grows(store: Store) {
    let cluster = Cluster::quick(store, &["w1"]).await.unwrap();
    let dir = cluster.dir();
    fs::write(dir.join("writer.py"), WRITER).unwrap();
    let d = dir.display();
    let script = format!("exec python3 {d}/writer.py {d}/copy {d}/first {d}/gates/rest");
    let text = format!(
        "group: shop\ndefaults: {{ lease: 30s }}\njobs:\n  - name: noisy\n    script: {script}\n"
    );
    let path = cluster.write_jobs("noisy.yaml", &text).unwrap();
    cluster.hera_ends(0, &["apply", "-f", &path]).unwrap();
    cluster.hera_ends(0, &["run", "shop/noisy"]).unwrap();

    let followed = dir.join("followed");
    let mut command = cluster.hera_command(&["logs", "shop/noisy", "-f"]).unwrap();
    command.stdin(Stdio::null()).stdout(fs::File::create(&followed).unwrap()).stderr(Stdio::null());
    let mut follower = command.spawn().unwrap();
    // The first part is there before the rest is written: it is followed, not read at the end.
    let first = wait_for_async("the first part in the followed log", LIMIT, || async {
        let size = fs::metadata(&followed).ok()?.len();
        (size > 1_000_000 && dir.join("first").exists()).then_some(size)
    })
    .await
    .unwrap();
    assert_eq!(first, fs::metadata(dir.join("copy")).unwrap().len());
    cluster.open_gate("rest").unwrap();
    cluster.reaches("shop/noisy", "succeeded").await.unwrap();
    let ended =
        wait_for_async("the follower's end", LIMIT, async || follower.try_wait().ok().flatten())
            .await
            .unwrap();
    assert!(ended.success());
    let copy = fs::read(dir.join("copy")).unwrap();
    assert!(copy.len() > 5_000_000);
    let equal = |got: &[u8], what: &str| {
        assert_eq!(got.len(), copy.len(), "{what}");
        let differs = got.iter().zip(&copy).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}: the first byte that differs");
    };
    equal(&fs::read(&followed).unwrap(), "the followed log");
    equal(&cluster.hera_ends(0, &["logs", "shop/noisy"]).unwrap().stdout, "the whole log");
}

#[tokio::test]
async fn a_log_of_any_bytes_is_followed_while_it_grows_on_postgresql() {
    a_log_of_any_bytes_is_followed_while_it_grows(Store::Postgres).await;
}

#[tokio::test]
async fn a_log_of_any_bytes_is_followed_while_it_grows_on_sqlite() {
    a_log_of_any_bytes_is_followed_while_it_grows(Store::Sqlite).await;
}
