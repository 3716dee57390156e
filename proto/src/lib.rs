//! The gRPC contract: generated code. It knows the wire, and no rules.

/// Package `hera.v1`.
#[expect(clippy::excessive_nesting, reason = "generated code nests as its generator does")]
pub mod v1 {
    tonic::include_proto!("hera.v1");
}

/// The descriptors of package `hera.v1`, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hera_v1.bin"));

/// Metadata key in which a master that does not lead names the leader's address.
pub const LEADER_KEY: &str = "hera-leader";

/// Largest message that either side takes: the files of a job, with room.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
