//! Compiles `hera/v1/*.proto` without protoc.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

const FILES: [&str; 7] = [
    "hera/v1/common.proto",
    "hera/v1/calendar.proto",
    "hera/v1/job.proto",
    "hera/v1/action.proto",
    "hera/v1/run.proto",
    "hera/v1/cluster.proto",
    "hera/v1/worker.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    for file in FILES {
        println!("cargo::rerun-if-changed={file}");
    }
    let descriptors = protox::compile(FILES, ["."])?;
    // For reflection. `compile_fds` does not write it by itself.
    let out = PathBuf::from(env::var("OUT_DIR")?).join("hera_v1.bin");
    fs::write(out, descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes("hera.v1.AppendLogRequest.bytes")
        .bytes("hera.v1.FollowLogResponse.bytes")
        .bytes("hera.v1.ReadLogResponse.bytes")
        .bytes("hera.v1.Attachment.content")
        .bytes("hera.v1.FetchFileResponse.content")
        .compile_fds(descriptors)?;
    Ok(())
}
