//! Waiting on a value, with a limit: the last resort where a test has no event to wait for. It looks at the
//! level and never at an edge, so that it cannot miss what happened before it began.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::clock::{self, Start};

/// The first pause between two looks; it doubles up to [`PAUSE_MAX`].
const PAUSE_FIRST: Duration = Duration::from_millis(2);
/// Short enough that a test loses little, long enough that many waiting tests leave the CPU alone.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Looks at `condition` until it gives a value, for at most `limit`.
///
/// # Errors
/// When the limit has passed; the message names `what`.
pub fn wait_for<T>(
    what: &str,
    limit: Duration,
    mut condition: impl FnMut() -> Option<T>,
) -> Result<T> {
    let start = Start::now();
    let mut pause = PAUSE_FIRST;
    loop {
        if let Some(value) = condition() {
            return Ok(value);
        }
        if start.elapsed() >= limit {
            bail!("waited {limit:?} in vain for {what}");
        }
        clock::pause(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// [`wait_for`] inside a runtime, with a condition that may itself wait.
///
/// # Errors
/// When the limit has passed, also in the middle of a look; the message names `what`.
pub async fn wait_for_async<T>(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> Option<T>,
) -> Result<T> {
    let looking = async {
        let mut pause = PAUSE_FIRST;
        loop {
            if let Some(value) = condition().await {
                return value;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    };
    match tokio::time::timeout(limit, looking).await {
        Ok(value) => Ok(value),
        Err(_elapsed) => bail!("waited {limit:?} in vain for {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_there_is_given_at_once_even_with_no_time() {
        assert_eq!(wait_for("seven", Duration::ZERO, || Some(7)).unwrap(), 7);
    }

    #[test]
    fn a_wait_in_vain_names_what_it_waited_for() {
        let told = wait_for("the moon", Duration::from_millis(5), || None::<()>);
        assert_eq!(told.unwrap_err().to_string(), "waited 5ms in vain for the moon");
    }

    #[tokio::test(start_paused = true)]
    async fn an_async_wait_looks_again_until_the_value_comes() {
        let mut looks = 0;
        let seen = wait_for_async("the third look", Duration::from_secs(60), async || {
            looks += 1;
            (looks == 3).then_some("seen")
        });
        assert_eq!(seen.await.unwrap(), "seen");
    }

    #[tokio::test(start_paused = true)]
    async fn an_async_wait_ends_in_the_middle_of_a_look() {
        let told = wait_for_async("a reply", Duration::from_secs(1), async || {
            std::future::pending::<Option<()>>().await
        });
        assert_eq!(told.await.unwrap_err().to_string(), "waited 1s in vain for a reply");
    }
}
