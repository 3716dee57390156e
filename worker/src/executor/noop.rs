//! Jobs without a process: a lease that ends well at once.

use super::{Executor, Plan, PrepareError};
use crate::attempt_dir::AttemptDir;
use crate::contract::Assignment;

pub(super) struct Noop;

impl Executor for Noop {
    fn prepare(&self, _: &Assignment, _: &AttemptDir) -> Result<Plan, PrepareError> {
        Ok(Plan::Nothing)
    }
}
