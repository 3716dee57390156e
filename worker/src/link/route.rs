//! Which master is asked next. Pure: no connection, no clock.

/// The configured masters, and the one that leads as far as is known.
#[derive(Debug)]
pub(super) struct Route {
    masters: Vec<String>,
    turn: usize,
    leader: Option<String>,
}

impl Route {
    /// Over at least one address.
    pub(super) fn new(masters: Vec<String>) -> Self {
        Self { masters, turn: 0, leader: None }
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
        true
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
    fn without_a_leader_the_next_one_is_asked_but_not_at_once() {
        let mut route = route();
        assert!(!route.not_leading("http://a", ""));
        assert_eq!(route.address(), "http://b");
        assert!(!route.not_leading("http://b", "http://b"));
        assert_eq!(route.address(), "http://a");
    }
}
