//! The jobs of a history as people write them, and how they change. Knows no engine: it writes job files.

use std::fmt::Write as _;

use super::dice::Dice;

/// The jobs' group.
const GROUP: &str = "g";

/// All jobs as they are written now.
#[derive(Debug, Clone)]
pub(super) struct Village {
    pub(super) jobs: Vec<Plan>,
    /// Jobs so far: names are not used twice.
    named: usize,
    lease_s: i64,
    /// The job file as somebody wrote it, and who edits it is not told here.
    written: Option<String>,
}

/// A job as written.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) name: String,
    was: Option<String>,
    /// Minutes from slot to slot, and the zone; None: it follows its edges.
    schedule: Option<(i64, &'static str)>,
    /// The upstream's name, and what else the edge says.
    edges: Vec<(String, &'static str)>,
    settings: Vec<String>,
    open: Option<bool>,
}

/// What else an edge of a job with a schedule may say.
const EDGES: [&str; 9] = [
    "",
    "",
    "",
    ", bind: same",
    ", bind: previous, n: 1",
    ", on: finished",
    ", on: failed",
    ", bind: window, from: -7min, to: 0s",
    ", offset: -3min",
];

impl Village {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let lease_s = dice.between(6, 20);
        let mut village = Self { jobs: Vec::new(), named: 0, lease_s, written: None };
        for _ in 0..dice.between(3, 12) {
            village.add(dice);
        }
        village
    }

    /// With this job file, as it stands.
    pub(super) fn written(text: &str) -> Self {
        Self { jobs: Vec::new(), named: 0, lease_s: 0, written: Some(text.to_owned()) }
    }

    /// A job more, downstream of some of those that are there.
    fn add(&mut self, dice: &mut Dice) {
        let name = format!("j{}", self.named);
        self.named += 1;
        let scheduled = self.jobs.is_empty() || dice.permille(550);
        let mut edges = Vec::new();
        if !self.jobs.is_empty() && (!scheduled || dice.permille(600)) {
            for _ in 0..dice.between(1, 3) {
                let upstream = dice.index(self.jobs.len());
                let Some(upstream) = self.jobs.get(upstream).map(|job| job.name.clone()) else {
                    continue;
                };
                // The first edge of a job without a schedule gives it its versions.
                let plain = !scheduled && edges.is_empty();
                let says = if plain { "" } else { dice.pick(&EDGES).unwrap_or_default() };
                if !edges.iter().any(|(other, _)| *other == upstream) {
                    edges.push((upstream, says));
                }
            }
        }
        if scheduled && dice.permille(120) {
            edges.push((name.clone(), ", bind: previous, n: 1"));
        }
        let schedule = scheduled.then(|| Self::schedule(dice));
        let settings = settings(dice);
        self.jobs.push(Plan { name, was: None, schedule, edges, settings, open: None });
    }

    fn schedule(dice: &mut Dice) -> (i64, &'static str) {
        let zone = if dice.permille(150) { "Asia/Shanghai" } else { "UTC" };
        (dice.between(2, 5), zone)
    }

    /// Somebody changes something; says what.
    pub(super) fn edit(&mut self, dice: &mut Dice) -> String {
        let index = dice.index(self.jobs.len());
        let what = dice.below(8);
        for job in &mut self.jobs {
            job.was = None;
        }
        let named = self.named;
        let count = self.jobs.len();
        let Some(job) = self.jobs.get_mut(index) else { return String::new() };
        let name = job.name.clone();
        match what {
            0 if job.schedule.is_some() => {
                job.schedule = Some(Self::schedule(dice));
                format!("{name} gets another schedule")
            }
            1 => {
                job.settings = settings(dice);
                format!("{name} gets other policies")
            }
            2 if job.edges.len() > usize::from(job.schedule.is_none()) => {
                job.edges.pop();
                format!("{name} loses an edge")
            }
            3 => {
                let open = job.open.unwrap_or(true);
                job.open = Some(!open);
                format!("{name} is {}", if open { "closed" } else { "opened" })
            }
            4 => {
                let new = format!("j{named}");
                self.named += 1;
                job.name.clone_from(&new);
                job.was = Some(name.clone());
                for edge in self.jobs.iter_mut().flat_map(|job| &mut job.edges) {
                    if edge.0 == name {
                        edge.0.clone_from(&new);
                    }
                }
                format!("{name} is renamed to {new}")
            }
            5 if count > 3 => {
                self.jobs.remove(index);
                for job in &mut self.jobs {
                    job.edges.retain(|(upstream, _)| *upstream != name);
                    if job.edges.is_empty() && job.schedule.is_none() {
                        job.schedule = Some(Self::schedule(dice));
                    }
                }
                format!("{name} is taken away")
            }
            6 if job.schedule.is_some() && index > 0 => {
                let upstream = self.jobs.get(dice.index(index)).map(|job| job.name.clone());
                let (Some(upstream), Some(job)) = (upstream, self.jobs.get_mut(index)) else {
                    return String::new();
                };
                if !job.edges.iter().any(|(other, _)| *other == upstream) {
                    job.edges.push((upstream, dice.pick(&EDGES).unwrap_or_default()));
                }
                format!("{name} gets an edge")
            }
            _ => {
                self.add(dice);
                "a job comes".to_owned()
            }
        }
    }

    /// The job file.
    pub(super) fn file(&self) -> String {
        if let Some(text) = &self.written {
            return text.clone();
        }
        let mut text =
            format!("group: {GROUP}\ndefaults: {{ zone: UTC, lease: {}s }}\njobs:\n", self.lease_s);
        for job in &self.jobs {
            job.write(&mut text);
        }
        text.push_str("  - { name: hand, script: work }\n");
        text
    }

    /// How long a script works, milliseconds.
    pub(super) fn work(&self, dice: &mut Dice) -> i64 {
        match dice.below(100) {
            0..70 => dice.between(200, 4_000),
            70..95 => dice.between(4_000, 15_000),
            _ => dice.between(15_000, 40_000),
        }
    }
}

impl Plan {
    fn write(&self, text: &mut String) {
        let mut lines = vec![format!("name: {}", self.name)];
        lines.extend(self.was.as_ref().map(|was| format!("renamed_from: {was}")));
        lines.extend(self.schedule.map(|(every, zone)| {
            let hour = if zone == "UTC" { 8 } else { 16 };
            format!("schedule: {{ cron: \"0-12/{every} {hour} * * *\", zone: {zone} }}")
        }));
        let edges: Vec<String> =
            self.edges.iter().map(|(job, says)| format!("{{ job: {job}{says} }}")).collect();
        if !edges.is_empty() {
            lines.push(format!("depends_on: [{}]", edges.join(", ")));
        }
        lines.extend(
            self.open.map(|open| format!("state: {}", if open { "open" } else { "closed" })),
        );
        lines.push("script: work".to_owned());
        lines.extend(self.settings.iter().cloned());
        for (place, line) in lines.iter().enumerate() {
            let start = if place == 0 { "  - " } else { "    " };
            if writeln!(text, "{start}{line}").is_err() {
                return;
            }
        }
    }
}

fn settings(dice: &mut Dice) -> Vec<String> {
    let mut lines = vec![format!("urgency: {}", dice.between(1, 5))];
    if dice.permille(500) {
        let (times, delay) = (dice.between(1, 3), dice.between(1, 8));
        let grows = if dice.permille(300) { ", backoff: exponential" } else { "" };
        lines.push(format!("retries: {{ times: {times}, delay: {delay}s{grows} }}"));
    }
    let mut sometimes = |times, line: &str| {
        if dice.permille(times) {
            lines.push(line.to_owned());
        }
    };
    sometimes(300, "overlap: allow");
    sometimes(120, "at_most_once: true");
    sometimes(120, "timeout: 8s");
    sometimes(80, "start_within: 20s");
    sometimes(80, "max_lateness: 30s");
    if dice.permille(300) {
        lines.push(format!("restarts: {}", dice.between(0, 3)));
    }
    if dice.permille(250) {
        let catch_up = if dice.permille(500) { "last" } else { "skip" };
        lines.push(format!("catch_up: {catch_up}"));
    }
    lines
}
