//! Tables of good and bad files, with the exact text of every error.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::{
    Applied, Around, CalendarThere, Contents, DataDoc, DocError, FileDoc, GroupDoc, JobDoc, Known,
    Unknown, Upstream, Wanted, apply_set, read_file, resolve_again, spec_from_json, wanted_files,
};
use crate::path::Path;
use crate::spec::{JobSpec, Period};

mod refused;
mod round;
mod schema;

/// What is stored: groups, and jobs with the data that they declare.
#[derive(Default)]
struct Stored {
    groups: BTreeMap<String, GroupDoc>,
    jobs: BTreeMap<String, Option<DataDoc>>,
}

impl Known for Stored {
    fn group(&self, path: &Path) -> Option<GroupDoc> {
        self.groups.get(path.as_str()).cloned()
    }

    fn upstream(&self, path: &Path) -> Upstream {
        let job = self.jobs.get(path.as_str());
        job.map_or(Upstream::Missing, |&data| Upstream::There { data })
    }
}

fn lines(errors: &[DocError]) -> String {
    errors.iter().map(|error| format!("{error}\n")).collect()
}

fn files(texts: &[&str]) -> Result<Vec<FileDoc>, Vec<DocError>> {
    let named = texts.iter().zip(["a.yaml", "b.yaml", "sub/c.yaml"]);
    named.map(|(text, name)| read_file(name, text)).collect()
}

fn apply(
    texts: &[&str],
    contents: &Contents,
    known: &impl Known,
) -> Result<Applied, Vec<DocError>> {
    apply_set(&files(texts)?, contents, known, false)
}

/// The errors of files, or the canonical documents.
#[track_caller]
fn check(texts: &[&str], expected: &Expect) {
    let answer = match apply(texts, &Contents::default(), &Stored::default()) {
        Ok(applied) => applied.jobs.iter().map(|job| job.doc.to_json() + "\n").collect(),
        Err(errors) => lines(&errors),
    };
    expected.assert_eq(&answer);
}

/// One job with these fields, two spaces in.
fn job(fields: &str) -> String {
    let script =
        if fields.contains("type:") || fields.contains("script:") { "" } else { "\n    script: x" };
    format!("group: g\njobs:\n  - name: j{script}\n    {}\n", fields.replace('\n', "\n    "))
}

/// The errors of one job for each of some fields.
#[track_caller]
fn check_jobs(cases: &[&str], expected: &Expect) {
    let answer = cases.iter().map(|fields| {
        let answer = apply(&[&job(fields)], &Contents::default(), &Stored::default());
        let errors = answer.map_or_else(|errors| lines(&errors), |_applied| "good\n".to_owned());
        format!("{}\n{}", fields.replace('\n', "; "), errors.replace("a.yaml:", "  "))
    });
    expected.assert_eq(&answer.collect::<String>());
}

/// A day's data.
const DAILY: Option<DataDoc> = Some(DataDoc { offset: 0, period: Period::Day });

const SAMPLE: &str = r#"
group: warehouse/orders
owner: orders-team
config: { db: retail, limit: 010, on: 1.10 }
defaults: { zone: Asia/Shanghai, retries: { times: 2, delay: 300s }, data: { period: day, offset: -1 } }
jobs:
  - name: extract
    schedule: { cron: "0 30 2 * * ?" }
    script: ./extract.sh ${db} ${zdt.addDay(-1).format("yyyy-MM-dd")}
  - name: daily_report
    depends_on: [{ job: extract, bind: nearest }, { job: /crm/clicks, bind: window, from: -1d, to: 0s, offset: -60min, on: finished, empty: ignore }]
    retries: { backoff: exponential, times: 5 }
    timeout: 2h
    urgency: 5
    config: { db: own }
    script: |
      echo a
      echo b
"#;

#[test]
fn a_file_becomes_canonical_documents() {
    let mut known = Stored::default();
    known.jobs.insert("crm/clicks".to_owned(), DAILY);
    let applied = apply(&[SAMPLE], &Contents::default(), &known).unwrap();
    let documents: String = applied.jobs.iter().map(|job| job.doc.to_json() + "\n").collect();
    expect![[r#"
        {"at_most_once":false,"catch_up":"all","config":{"db":"own","limit":"010","on":"1.10"},"data":{"offset":-1,"period":"day"},"depends_on":[{"bind":"nearest","empty":"skip","job":"warehouse/orders/extract","on":"success"},{"bind":"window","empty":"ignore","from":"-1d","job":"crm/clicks","offset":"-1h","on":"finished","to":"0s"}],"description":"","files":[],"lease":"5min","overlap":"queue","own":{"config":{"db":"own"},"depends_on":[{"bind":true},{"bind":true,"empty":true}],"settings":{"retries":{"backoff":"exponential","times":5},"timeout":"2h","urgency":5}},"owner":"orders-team","path":"warehouse/orders/daily_report","restarts":2,"retries":{"backoff":"exponential","delay":"5min","max_delay":"1h","not_on":[],"times":5},"script":"echo a\necho b\n","timeout":"2h","type":"shell","urgency":5,"zone":"Asia/Shanghai"}
        {"at_most_once":false,"catch_up":"all","config":{"db":"retail","limit":"010","on":"1.10"},"data":{"offset":-1,"period":"day"},"depends_on":[],"description":"","files":[],"lease":"5min","overlap":"queue","own":{"config":{},"depends_on":[],"settings":{}},"owner":"orders-team","path":"warehouse/orders/extract","restarts":2,"retries":{"backoff":"constant","delay":"5min","not_on":[],"times":2},"schedule":{"cron":["0 30 2 * * ?"]},"script":"./extract.sh ${db} ${zdt.addDay(-1).format(\"yyyy-MM-dd\")}","type":"shell","urgency":3,"zone":"Asia/Shanghai"}
    "#]].assert_eq(&documents);
    let groups: String = applied
        .groups
        .iter()
        .map(|(path, group)| format!("{path} {}\n", group.doc.to_json()))
        .collect();
    expect![[r#"
        warehouse/orders {"config":{"db":"retail","limit":"010","on":"1.10"},"defaults":{"data":{"offset":-1,"period":"day"},"retries":{"delay":"5min","times":2},"zone":"Asia/Shanghai"},"owner":"orders-team"}
    "#]].assert_eq(&groups);
}

#[test]
fn keys_are_sorted_at_every_level() {
    let mut known = Stored::default();
    known.jobs.insert("crm/clicks".to_owned(), DAILY);
    let applied = apply(&[SAMPLE], &Contents::default(), &known).unwrap();
    for job in &applied.jobs {
        let json = job.doc.to_json();
        let sorted: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(sorted.to_string(), json);
        assert_eq!(JobDoc::from_json(&json).unwrap(), job.doc);
        assert_eq!(spec_from_json(&json).unwrap(), job.spec);
    }
    let group = &applied.groups.values().next().unwrap().doc;
    let json = group.to_json();
    let sorted: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(sorted.to_string(), json);
    assert_eq!(&GroupDoc::from_json(&json).unwrap(), group);
}

#[test]
fn the_same_content_gives_the_same_text() {
    let texts = [
        "group: g\ndefaults: {zone: Europe/Berlin}\njobs:\n  - {name: j, script: x, schedule: {cron: 0 2 * * *}, lease: 300s}\n",
        "jobs:\n- lease: 5min\n  schedule:\n    cron: ['0 2 * * *']\n  script: \"x\"\n  name: j\nzone: europe/berlin\ngroup: /g\n",
        "group: g\nzone: Europe/Berlin\njobs: [{name: j, script: x, takeover: always, state: open, schedule: {cron: [\"0 2 * * *\"]}, lease: 5min, depends_on: , config: {}}]",
    ];
    let text = |text: &str| {
        let applied = apply(&[text], &Contents::default(), &Stored::default()).unwrap();
        applied.jobs.first().unwrap().doc.to_json()
    };
    assert_eq!(text(texts[0]), text(texts[1]));
    assert_eq!(text(texts[0]), text(texts[2]));
}

fn edges_of(text: &str, known: &Stored) -> String {
    let applied = match apply(&[text], &Contents::default(), known) {
        Ok(applied) => applied,
        Err(errors) => return lines(&errors),
    };
    let edges = applied.jobs.iter().flat_map(|job| job.spec.edges.iter().map(move |e| (job, e)));
    edges
        .map(|(j, e)| {
            format!("{} {} {:?} {:?} {:?}\n", j.doc.path, e.upstream, e.bind, e.on, e.empty)
        })
        .collect()
}

#[test]
fn edges_take_their_defaults_from_the_kind_of_job() {
    let known = Stored {
        jobs: BTreeMap::from([("s/plain".to_owned(), None), ("s/declared".to_owned(), DAILY)]),
        groups: BTreeMap::new(),
    };
    expect![[r#"
        g/b g/a Nearest Success Skip
        g/b s/plain Nearest Success Skip
        g/b s/declared Nearest Success Skip
        g/c g/a AtOrBefore Success Ignore
        g/c g/b AtOrBefore Success Ignore
        g/c g/c Previous { n: 2 } Success Ignore
        g/c g/c Previous { n: 1 } Success Ignore
    "#]].assert_eq(&edges_of(
        "group: g
jobs:
  - { name: a, type: noop, schedule: { cron: 0 2 * * * } }
  - { name: b, type: noop, depends_on: [a, /s/plain, /s/declared] }
  - { name: c, type: noop, schedule: { cron: 0 3 * * * }, depends_on: [a, b, { job: c, bind: previous, n: 2 }, { job: c, bind: previous }] }
",
        &known,
    ));
    expect![[r#"
        g/b g/a Data Success Skip
        g/b s/plain Nearest Success Skip
        g/b s/declared Data Success Skip
        g/b g/a Same Success Skip
        g/b g/a Last { of: Week } Success Skip
    "#]].assert_eq(&edges_of(
        "group: g
defaults: { data: { period: day } }
jobs:
  - { name: a, type: noop, schedule: { cron: 0 2 * * * } }
  - { name: b, type: noop, depends_on: [a, /s/plain, /s/declared, { job: a, bind: same }, { job: a, bind: last, of: week, offset: 0d }] }
",
        &known,
    ));
}

#[test]
fn the_nearest_group_wins_and_config_is_merged_down() {
    let group = |json: &str| GroupDoc::from_json(json).unwrap();
    let known = Stored {
        groups: BTreeMap::from([
            (
                "a".to_owned(),
                group(
                    r#"{"owner":"top","config":{"x":"1","y":"1"},"defaults":{"urgency":1,"lease":"30s","retries":{"times":3,"delay":"10s"},"timeout":"1h"}}"#,
                ),
            ),
            (
                "a/b".to_owned(),
                group(r#"{"config":{"y":"2"},"defaults":{"urgency":2,"zone":"Asia/Tokyo"}}"#),
            ),
        ]),
        jobs: BTreeMap::new(),
    };
    let text = "group: a/b/c
defaults: { urgency: 4, retries: { delay: 1min } }
jobs:
  - { name: j, type: noop, timeout: none, schedule: { cron: 0 2 * * *, zone: UTC }, retries: { times: 1 } }
  - { name: k, type: noop, owner: me, config: { z: 3, y: 3 } }
";
    let applied = apply(&[text], &Contents::default(), &known).unwrap();
    let documents: String = applied.jobs.iter().map(|job| job.doc.to_json() + "\n").collect();
    expect![[r#"
        {"at_most_once":false,"catch_up":"all","config":{"x":"1","y":"2"},"depends_on":[],"description":"","files":[],"lease":"30s","overlap":"queue","own":{"config":{},"depends_on":[],"settings":{"retries":{"times":1},"timeout":"none"}},"owner":"top","path":"a/b/c/j","restarts":2,"retries":{"backoff":"constant","delay":"1min","not_on":[],"times":1},"schedule":{"cron":["0 2 * * *"],"zone":"UTC"},"script":"","type":"noop","urgency":4,"zone":"UTC"}
        {"at_most_once":false,"catch_up":"all","config":{"x":"1","y":"3","z":"3"},"depends_on":[],"description":"","files":[],"lease":"30s","overlap":"queue","own":{"config":{"y":"3","z":"3"},"depends_on":[],"owner":"me","settings":{}},"owner":"me","path":"a/b/c/k","restarts":2,"retries":{"backoff":"constant","delay":"1min","not_on":[],"times":3},"script":"","timeout":"1h","type":"noop","urgency":4,"zone":"Asia/Tokyo"}
    "#]].assert_eq(&documents);
}

#[test]
fn what_no_file_says_of_a_group_stays_unless_it_is_pruned() {
    let stored = r#"{"config":{"x":"1"},"defaults":{"urgency":1,"zone":"UTC"},"owner":"top"}"#;
    let mut known = Stored::default();
    known.groups.insert("g".to_owned(), GroupDoc::from_json(stored).unwrap());
    let told = |text: &str, prune: bool| {
        let file = read_file("a.yaml", &format!("group: g\n{text}")).unwrap();
        let applied = apply_set(&[file], &Contents::default(), &known, prune).unwrap();
        let group = applied.groups.values().next().unwrap().clone();
        format!("{} keeps {:?}", group.doc.to_json(), group.kept)
    };
    assert_eq!(told("", false), format!("{stored} keeps [\"owner\", \"config\", \"defaults\"]"));
    assert_eq!(told("", true), r#"{"config":{},"defaults":{}} keeps []"#);
    // A key that is written is all that there is of it.
    expect![[r#"{"config":{},"defaults":{"zone":"Asia/Tokyo"},"owner":"me"} keeps []"#]]
        .assert_eq(&told("config: {}\nowner: me\ndefaults: { zone: Asia/Tokyo }", false));
    // But for the short form of a default.
    expect![[r#"{"config":{"x":"1"},"defaults":{"urgency":1,"zone":"Asia/Tokyo"},"owner":"top"} keeps ["owner", "config", "defaults"]"#]].assert_eq(&told("zone: Asia/Tokyo", false));
}

#[test]
fn a_stored_document_follows_its_groups() {
    let text = "group: g\ndefaults: { urgency: 4, timeout: 1h }\njobs:\n  - { name: j, type: noop, timeout: 2h, schedule: { cron: 0 2 * * * }, depends_on: [u] }\n  - { name: u, type: noop }\n";
    let before = apply(&[text], &Contents::default(), &Unknown).unwrap();
    let after = text.replace("urgency: 4, timeout: 1h", "urgency: 1, zone: Asia/Tokyo");
    let after = apply(&[&after], &Contents::default(), &Unknown).unwrap();
    let chain = [after.groups.values().next().unwrap().doc.clone()];
    let upstream = |_path: &Path| Upstream::There { data: None };
    let calendar = |_name: &str| CalendarThere::Missing;
    let around = Around { chain: &chain, upstream: &upstream, calendar: &calendar };
    for (old, new) in before.jobs.iter().zip(&after.jobs) {
        assert_ne!(old.doc, new.doc);
        assert_eq!(resolve_again(&old.doc, &around).unwrap(), new.doc);
    }
}

#[test]
fn names_are_unique_in_a_set_and_groups_agree() {
    check(
        &[
            "group: g\nzone: UTC\nowner: a\nconfig: { k: 1, m: 1 }\njobs:\n  - { name: x, type: noop }\n  - { name: x, type: noop }\n",
            "group: g\nowner: b\nconfig:\n  k: 2\n  m: 1\ndefaults:\n  zone: Asia/Tokyo\n  data: { period: day }\njobs:\n  - name: x\n    type: noop\n  - { name: y, type: noop, renamed_from: x }\n  - { name: z, type: noop, renamed_from: old }\n  - { name: z2, type: noop, renamed_from: /g/old }\n",
        ],
        &expect![[r#"
            a.yaml:7:13: jobs[1].name: job `g/x` is also in a.yaml:6:13
            b.yaml:2:8: owner: group `g` has another value in a.yaml:3:8
            b.yaml:4:6: config.k: group `g` has another value in a.yaml:4:14
            b.yaml:7:9: defaults.zone: group `g` has another value in a.yaml:2:7
            b.yaml:10:11: jobs[0].name: job `g/x` is also in a.yaml:6:13
            b.yaml:12:42: jobs[1].renamed_from: `g/x` is still a job, in a.yaml:6:13
            b.yaml:14:43: jobs[3].renamed_from: `g/old` is also the former name of a job in b.yaml:13:42
        "#]],
    );
    check(
        &[
            "group: g\nconfig: { k: 1 }\ndefaults: { retries: { times: 1 } }\n",
            "group: g\nconfig: { l: 1 }\ndefaults: { retries: { delay: 1min } }\njobs: [{ name: x, type: noop }]\n",
        ],
        &expect![[r#"
            {"at_most_once":false,"catch_up":"all","config":{"k":"1","l":"1"},"depends_on":[],"description":"","files":[],"lease":"5min","overlap":"queue","own":{"config":{},"depends_on":[],"settings":{}},"owner":"","path":"g/x","restarts":2,"retries":{"backoff":"constant","delay":"1min","not_on":[],"times":1},"script":"","type":"noop","urgency":3,"zone":"UTC"}
        "#]],
    );
}

#[test]
fn what_lies_beside_is_wanted_attached_and_checked() {
    let text = "group: g\njobs:\n  - name: j\n    script: { file: run/j.sh }\n    files: [extract.sh, lib/]\n  - name: k\n    script: x\n    files: [lib/, missing.sh, none/]\n";
    let file = read_file("sub/c.yaml", text).unwrap();
    assert_eq!(
        wanted_files(&file),
        [
            Wanted::File("sub/extract.sh".to_owned()),
            Wanted::File("sub/missing.sh".to_owned()),
            Wanted::File("sub/run/j.sh".to_owned()),
            Wanted::Folder("sub/lib".to_owned()),
            Wanted::Folder("sub/none".to_owned()),
        ]
    );
    let mut contents = Contents::default();
    contents.add("sub/extract.sh", b"echo".to_vec(), true);
    contents.add("sub/run/j.sh", b"\xff".to_vec(), true);
    contents.add("sub/lib/a.py", vec![b'a'; (1 << 20) + 1], false);
    contents.add("sub/lib/deep/b.py", b"b".to_vec(), false);
    contents.add("sub/library.py", b"c".to_vec(), false);
    let errors = apply_set(std::slice::from_ref(&file), &contents, &Unknown, false).unwrap_err();
    expect![[r#"
        sub/c.yaml:4:21: jobs[0].script.file: `run/j.sh` is not UTF-8 text
        sub/c.yaml:5:25: jobs[0].files[1]: `lib/a.py` has more than 1048576 bytes
        sub/c.yaml:8:13: jobs[1].files[0]: `lib/a.py` has more than 1048576 bytes
        sub/c.yaml:8:19: jobs[1].files[1]: `missing.sh` was not found
        sub/c.yaml:8:31: jobs[1].files[2]: `none/` holds no file
    "#]]
    .assert_eq(&lines(&errors));
    for name in ["missing.sh", "none/x", "lib/a.py"] {
        contents.add(format!("sub/{name}"), b"abc".to_vec(), false);
    }
    contents.add("sub/run/j.sh", b"./extract.sh ${db}\n".to_vec(), true);
    let applied = apply_set(&[file], &contents, &Unknown, false).unwrap();
    let shown: String = applied
        .jobs
        .iter()
        .flat_map(|job| {
            let files = job.spec.files.iter();
            let files = files.map(|f| format!("  {} {:.8} {}\n", f.name, f.digest, f.executable));
            std::iter::once(format!("{} {:?}\n", job.doc.path, job.spec.script)).chain(files)
        })
        .collect();
    expect![[r#"
        g/j "./extract.sh ${db}\n"
          extract.sh 092c79e8 true
          lib/a.py ba7816bf false
          lib/deep/b.py 3e23e816 false
        g/k "x"
          lib/a.py ba7816bf false
          lib/deep/b.py 3e23e816 false
          missing.sh ba7816bf false
          none/x ba7816bf false
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_problem_that_is_found_later_has_its_place() {
    let text = "group: g\njobs:\n  - name: j\n    type: noop\n    schedule:\n      cron:\n        - 0 2 * * *\n        - 0 2 31 2 *\n    depends_on:\n      - { job: u, bind: same }\n";
    let applied = apply(&[text], &Contents::default(), &Unknown).unwrap();
    let place = &applied.jobs.first().unwrap().place;
    let fields = [
        "",
        "name",
        "schedule",
        "schedule.cron",
        "schedule.cron[1]",
        "schedule.zone",
        "depends_on[0].bind",
        "depends_on[7]",
        "zone",
        "nothing.of[3].it",
    ];
    let shown: String = fields
        .iter()
        .map(|field| place.error(super::FieldError::new(*field, "x")).to_string() + "\n")
        .collect();
    expect![[r#"
        a.yaml:3:5: jobs[0]: x
        a.yaml:3:11: jobs[0].name: x
        a.yaml:6:7: jobs[0].schedule: x
        a.yaml:7:9: jobs[0].schedule.cron: x
        a.yaml:8:11: jobs[0].schedule.cron[1]: x
        a.yaml:6:7: jobs[0].schedule.zone: x
        a.yaml:10:25: jobs[0].depends_on[0].bind: x
        a.yaml:10:7: jobs[0].depends_on[7]: x
        a.yaml:3:5: jobs[0].zone: x
        a.yaml:3:5: jobs[0].nothing.of[3].it: x
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_stored_text_that_breaks_a_rule_is_refused() {
    let applied = apply(&[&job("depends_on: []")], &Contents::default(), &Unknown).unwrap();
    let json = applied.jobs.first().unwrap().doc.to_json();
    let bad = json
        .replace("\"urgency\":3", "\"urgency\":9")
        .replace("\"zone\":\"UTC\"", "\"zone\":\"X\"")
        .replace("\"depends_on\":[],\"desc", "\"depends_on\":[{\"bind\":\"previous\",\"n\":0,\"empty\":\"skip\",\"job\":\"u\",\"on\":\"success\"}],\"desc");
    expect!["is no valid job: depends_on[0].n: 0 is not between 1 and 1000; urgency: 9 is not between 1 and 5; zone: there is no time zone `X`: write an IANA name such as Europe/Berlin"].assert_eq(&spec_from_json(&bad).unwrap_err().to_string());
    let refused = |json: &str| {
        let error = spec_from_json(json).unwrap_err();
        std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default()
    };
    expect!["unknown field `more`, expected one of `at_most_once`, `baseline`, `calendar`, `catch_up`, `config`, `data`, `depends_on`, `description`, `dst`, `files`, `host_group`, `lease`, `max_lateness`, `overlap`, `own`, `owner`, `path`, `restarts`, `retries`, `schedule`, `script`, `start_within`, `timeout`, `type`, `urgency`, `zone` at line 1 column 331"].assert_eq(&refused(&json.replace("\"urgency\":3", "\"urgency\":3,\"more\":1")));
    expect![
        "`5m` could be minutes or months: write 5min (or days, such as 30d) at line 1 column 107"
    ]
    .assert_eq(&refused(&json.replace("\"lease\":\"5min\"", "\"lease\":\"5m\"")));
    assert!(JobSpec::from_doc(&JobDoc::from_json(&json).unwrap()).is_ok());
}

#[test]
fn the_job_sets_of_the_oracle_are_read() {
    #[derive(serde::Deserialize)]
    struct Line {
        id: String,
        jobs_yaml: String,
        expected: BTreeMap<String, serde_json::Value>,
    }

    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracle/bind.jsonl"));
    let lines: Vec<Line> =
        text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 60);
    for Line { id, jobs_yaml, expected } in lines {
        let applied = apply(&[&jobs_yaml], &Contents::default(), &Stored::default());
        let applied =
            applied.unwrap_or_else(|errors| panic!("{id}\n{}", super::tests::lines(&errors)));
        let read: Vec<&str> = applied.jobs.iter().map(|job| job.doc.path.as_str()).collect();
        assert_eq!(read, expected.keys().map(String::as_str).collect::<Vec<_>>(), "{id}");
        for job in &applied.jobs {
            assert_eq!(spec_from_json(&job.doc.to_json()).unwrap(), job.spec, "{id}");
        }
    }
}

#[test]
fn the_examples_are_good_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/weather");
    let mut files = Vec::new();
    let mut contents = Contents::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            files.push(
                read_file(&name, &text).unwrap_or_else(|errors| panic!("{}", lines(&errors))),
            );
        } else if path.is_file() {
            contents.add(name, std::fs::read(&path).unwrap(), false);
        }
    }
    let applied = apply_set(&files, &contents, &Stored::default(), false);
    let applied = applied.unwrap_or_else(|errors| panic!("{}", lines(&errors)));
    assert!(applied.jobs.len() > 10);
}

#[test]
fn what_is_nested_beyond_all_need_is_refused_at_its_place() {
    for levels in [20, 60, 3_000] {
        let nested = format!("{}1{}", "{a: ".repeat(levels), "}".repeat(levels));
        for text in [
            format!("group: g\nconfig: {nested}\n"),
            format!("group: g\njobs: {}{}\n", "[".repeat(levels), "]".repeat(levels)),
        ] {
            let errors = read_file("deep.yaml", &text).unwrap_err();
            assert!(lines(&errors).starts_with("deep.yaml:2:"), "{}", lines(&errors));
        }
    }
}
