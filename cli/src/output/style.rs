//! Colours of states on a terminal. A state is always written out too: colour only helps to find it.

/// What a text tells by its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Done as wanted.
    Good,
    /// Needs a person.
    Bad,
    /// Goes on now.
    Live,
    /// Waits for something.
    Waits,
    /// Of no concern now.
    Faint,
    Head,
}

/// Whether colours are written at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colours: bool,
}

impl Style {
    /// With or without colours.
    pub(crate) const fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// `text` in the colour of `tone`.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => "",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Live => "36",
            Tone::Waits => "33",
            Tone::Faint => "2",
            Tone::Head => "1",
        };
        if self.colours && !code.is_empty() && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Tone {
    /// Of the bare word of any state: of actions, runs, attempts, jobs and workers.
    pub(crate) fn of_state(word: &str) -> Self {
        match word {
            "succeeded" | "online" | "open" => Self::Good,
            "failed" | "cancelled" | "lost" | "timed_out" | "parked" | "gone" => Self::Bad,
            "active" | "running" | "leased" | "started" => Self::Live,
            "waiting" | "queued" | "draining" => Self::Waits,
            "planned" | "skipped" | "closed" | "none" => Self::Faint,
            _ => Self::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Style, Tone};

    #[test]
    fn colours_are_written_only_where_they_are_wanted() {
        assert_eq!(Style::new(false).paint(Tone::Bad, "failed"), "failed");
        assert_eq!(Style::new(true).paint(Tone::Bad, "failed"), "\x1b[31mfailed\x1b[0m");
        assert_eq!(Style::new(true).paint(Tone::Plain, "x"), "x");
        assert_eq!(Tone::of_state("failed"), Tone::Bad);
    }
}
