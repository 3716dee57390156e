//! Which master is asked next. Pure: no connection, no clock.

/// The configured masters, and the one that leads as far as is known.
#[derive(Debug)]
pub(super) struct Route {
    masters: Vec<String>,
    turn: usize,
    leader: Option<String>,
    /// How often in a row one master sent us to another.
    sent_on: u32,
}

/// Two masters that each take the other for the leader must not be asked in a circle without a pause.
const SENT_ON_MAX: u32 = 2;

impl Route {
    /// Over at least one address.
    pub(super) fn new(masters: Vec<String>) -> Self {
        Self { masters, turn: 0, leader: None, sent_on: 0 }
    }

    /// Whom to ask.
    pub(super) fn address(&self) -> &str {
        let in_turn = || self.masters.get(self.turn).map_or("", String::as_str);
        self.leader.as_deref().unwrap_or_else(in_turn)
    }

    /// `address` gave no answer. Calls that overlap blame it once.
    pub(super) fn failed(&mut self, address: &str) {
        if self.address() == address {
            self.leader = None;
            self.next();
        }
    }

    /// `address` does not lead, and says who does. True where that is worth asking at once.
    pub(super) fn not_leading(&mut self, address: &str, leader: &str) -> bool {
        if self.address() != address {
            return true;
        }
        let leader = with_scheme(leader);
        if leader.is_empty() || leader == address {
            self.failed(address);
            return false;
        }
        self.leader = Some(leader);
        self.sent_on += 1;
        self.sent_on <= SENT_ON_MAX
    }

    /// The master that was asked leads.
    pub(super) fn answered(&mut self) {
        self.sent_on = 0;
    }

    fn next(&mut self) {
        self.turn = (self.turn + 1) % self.masters.len().max(1);
    }
}

/// Addresses may be written without a scheme; there is no TLS yet.
pub(super) fn with_scheme(address: &str) -> String {
    if address.is_empty() || address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    }
}

#[cfg(test)]
mod tests {
    use super::Route;

    fn route() -> Route {
        Route::new(vec!["http://a".to_owned(), "http://b".to_owned()])
    }

    #[test]
    fn masters_are_asked_in_turn_and_blamed_once() {
        let mut route = route();
        route.failed("http://a");
        route.failed("http://a");
        assert_eq!(route.address(), "http://b");
        route.failed("http://b");
        assert_eq!(route.address(), "http://a");
    }

    #[test]
    fn a_leader_is_followed_until_it_fails() {
        let mut route = route();
        assert!(route.not_leading("http://a", "c:9887"));
        assert_eq!(route.address(), "http://c:9887");
        assert!(route.not_leading("http://a", "http://d"), "somebody has moved on already");
        assert_eq!(route.address(), "http://c:9887");
        route.failed("http://c:9887");
        assert_eq!(route.address(), "http://b");
    }

    #[test]
    fn masters_that_send_us_round_are_not_asked_without_a_pause() {
        let mut route = route();
        let told: Vec<bool> = [("http://a", "b"), ("http://b", "a"), ("http://a", "b")]
            .map(|(asked, leader)| route.not_leading(asked, leader))
            .into();
        assert_eq!(told, [true, true, false]);
        route.answered();
        assert!(route.not_leading("http://b", "a"));
    }

    #[test]
    fn without_a_leader_the_next_one_is_asked_but_not_at_once() {
        let mut route = route();
        assert!(!route.not_leading("http://a", ""));
        assert_eq!(route.address(), "http://b");
        assert!(!route.not_leading("http://b", "http://b"));
        assert_eq!(route.address(), "http://a");
    }
}
