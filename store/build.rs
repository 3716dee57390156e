//! Builds the store anew when a migration comes: the compiler does not see that the program carries them.

fn main() {
    println!("cargo::rerun-if-changed=../migrations");
}
