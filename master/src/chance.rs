//! Randomness from the system: for the engine, and for names that must be unique. It must not know what for.

use hera_engine::Chance;

/// The system's source of random bits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemChance;

impl Chance for SystemChance {
    fn bits(&mut self) -> u64 {
        getrandom::u64().expect("the kernel gives random bytes once it has booted")
    }
}

/// A name that no other process has: 32 hexadecimal digits.
pub(crate) fn unique_name() -> String {
    let mut chance = SystemChance;
    format!("{:016x}{:016x}", chance.bits(), chance.bits())
}

/// A number in `0.8..1.2`, so that masters do not look in step.
pub(crate) fn spread() -> f64 {
    let part = u32::try_from(SystemChance.bits() >> 32).unwrap_or(0);
    0.4_f64.mul_add(f64::from(part) / f64::from(u32::MAX), 0.8)
}
