//! The one bridge from faults to gRPC. Faults of ours are logged here with their causes, and told in short.

use hera_proto::LEADER_KEY;
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};
use tracing::error;

use crate::service::fault::{Fault, FaultKind, Violation};
use hera_common::chain::Chain;

/// Bytes of a message. It travels as a header, in which a letter beyond ASCII takes three times its bytes; many clients take
/// 16 KiB of headers and break the connection at more.
const MESSAGE_BYTES_MAX: usize = 1_024;
/// Bytes of all details, which travel as a header, too, a third longer.
const DETAILS_BYTES_MAX: usize = 6_144;
/// Bytes of one detail: what people write is repeated in it.
const DETAIL_BYTES_MAX: usize = 1_024;

/// What the caller is told.
pub(super) fn status(fault: Fault) -> Status {
    let code = match fault.kind() {
        FaultKind::Invalid => Code::InvalidArgument,
        FaultKind::NotFound => Code::NotFound,
        FaultKind::AlreadyExists => Code::AlreadyExists,
        FaultKind::Conflict | FaultKind::NotLeading => Code::FailedPrecondition,
        FaultKind::Stale => Code::Aborted,
        FaultKind::Unavailable => Code::Unavailable,
        // Of gRPC's codes the one that says that it may have been done all the same.
        FaultKind::Unknown => Code::DeadlineExceeded,
        FaultKind::Internal => Code::Internal,
    };
    let text = cut(&fault.to_string(), MESSAGE_BYTES_MAX);
    match fault {
        Fault::Invalid(violations) => invalid(text, violations),
        Fault::NotLeading { leader } => not_leading(&text, leader.as_deref()),
        Fault::Store(_) | Fault::OtherReply | Fault::Died(_) => {
            error!(error = %Chain(&fault), "a request failed");
            Status::new(code, text)
        }
        Fault::Activating
        | Fault::Stopping
        | Fault::NotFound(_)
        | Fault::AlreadyExists(_)
        | Fault::Conflict(_)
        | Fault::Stale(_)
        | Fault::Unanswered(_) => Status::new(code, text),
    }
}

fn invalid(text: String, violations: Vec<Violation>) -> Status {
    let details = ErrorDetails::with_bad_request(fitting(violations));
    Status::with_error_details(Code::InvalidArgument, text, details)
}

/// The first violations, as many as travel; then how many more there are.
fn fitting(violations: Vec<Violation>) -> Vec<FieldViolation> {
    let all = violations.len();
    let mut room = DETAILS_BYTES_MAX;
    let mut told = Vec::new();
    for Violation { field, problem } in violations {
        let (field, problem) = (cut(&field, DETAIL_BYTES_MAX), cut(&problem, DETAIL_BYTES_MAX));
        let Some(left) = room.checked_sub(field.len() + problem.len()) else { break };
        room = left;
        told.push(FieldViolation::new(field, problem));
    }
    if told.len() < all {
        let more = format!("and {} more: mend these first", all - told.len());
        told.push(FieldViolation::new("", more));
    }
    told
}

/// A text with its middle left out where it is too long.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(bytes * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - bytes / 4);
    let part = |range: Option<&str>| range.unwrap_or_default().to_owned();
    part(text.get(..head)) + " … " + &part(text.get(tail..))
}

fn not_leading(text: &str, leader: Option<&str>) -> Status {
    let mut status = Status::failed_precondition(text);
    // Present and empty where nobody leads: callers tell by the key that the call was not refused for what it asked.
    let leader = leader.and_then(|leader| MetadataValue::try_from(leader).ok());
    let leader = leader.unwrap_or_else(|| MetadataValue::from_static(""));
    status.metadata_mut().insert(LEADER_KEY, leader);
    status
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use hera_store::StoreError;
    use tonic_types::StatusExt as _;

    use super::{Fault, LEADER_KEY, Violation, status};
    use crate::desk::Unanswered;

    #[test]
    fn each_fault_has_its_code() {
        let store = |text: &str| Fault::Store(StoreError::Unavailable(text.into()));
        let faults = [
            Fault::NotLeading { leader: None },
            Fault::Activating,
            Fault::Stopping,
            Fault::invalid("page.limit", "must be at most 1000"),
            Fault::NotFound("job a/b does not exist".to_owned()),
            Fault::AlreadyExists("a".to_owned()),
            Fault::Conflict("b depends on it".to_owned()),
            Fault::Stale("read again".to_owned()),
            Fault::Unanswered(Unanswered::LeftOut),
            Fault::Unanswered(Unanswered::Unknown),
            Fault::Unanswered(Unanswered::SteppedDown),
            store("down"),
            Fault::Store(StoreError::Unusable("old".to_owned())),
            Fault::OtherReply,
        ];
        let told = faults.map(|fault| {
            let status = status(fault);
            format!("{:?}: {}", status.code(), status.message())
        });
        expect![[r#"
            FailedPrecondition: this master does not lead
            Unavailable: this master is about to lead, ask again
            Unavailable: this master is stopping
            InvalidArgument: page.limit: must be at most 1000
            NotFound: job a/b does not exist
            AlreadyExists: a
            FailedPrecondition: b depends on it
            Aborted: read again
            Unavailable: something else changed the same things first, ask again
            DeadlineExceeded: the store did not answer, ask again
            DeadlineExceeded: this master stopped leading, ask again
            Unavailable: the store does not answer as it should
            Internal: the store does not answer as it should
            Internal: the engine answered something else than was asked"#]]
        .assert_eq(&told.join("\n"));
    }

    #[test]
    fn what_is_told_fits_into_headers_and_says_what_is_left_out() {
        let violation = |n: usize| Violation {
            field: format!("jobs.yaml:{n}:7"),
            problem: format!("zone: there is no zone {}", "Ü".repeat(n)),
        };
        let told = status(Fault::Invalid((0..5_000).map(violation).collect()));
        assert!(told.details().len() + told.message().len() * 3 < 12_000);
        let details = told.get_details_bad_request().unwrap().field_violations;
        assert!(details.len() > 20, "{}", details.len());
        let last = details.last().unwrap().description.clone();
        assert_eq!(last, format!("and {} more: mend these first", 5_000 - (details.len() - 1)));

        let told =
            status(Fault::invalid("zone", format!("there is no zone {}", "x".repeat(9_000))));
        assert!(told.message().len() < 1_100, "{}", told.message().len());
        assert!(told.message().starts_with("zone: there is no zone xxx"), "{}", told.message());
    }

    #[test]
    fn a_standby_names_the_leader_and_a_bad_field_is_named() {
        let leader = Some("http://m1:9887".to_owned());
        let told = status(Fault::NotLeading { leader });
        assert_eq!(told.metadata().get(LEADER_KEY).unwrap(), "http://m1:9887");

        let told = status(Fault::invalid("asked.actor", "must not be empty"));
        let details = told.get_details_bad_request().unwrap();
        assert_eq!(details.field_violations[0].field, "asked.actor");
        assert_eq!(details.field_violations[0].description, "must not be empty");
    }
}
