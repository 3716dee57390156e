//! Logs and files: bytes that are kept as they came.

use hera_common::id::Fence;

use crate::world::{Place, World};

pub(crate) async fn a_log_takes_each_byte_once(place: &impl Place) {
    let store = place.store();
    let fence = Fence::from_raw(12_345);
    let append = async |offset, bytes: &[u8]| store.append_log(fence, offset, bytes).await.unwrap();
    let all = async || store.read_log(fence, 0, 1_000).await.unwrap();
    assert_eq!((all().await.bytes, all().await.size), (vec![], 0));
    assert_eq!(append(0, b"").await, 0);
    assert_eq!(append(0, b"one\n").await, 4);
    assert_eq!(append(0, b"one\n").await, 4, "the same again");
    assert_eq!(append(9, b"far").await, 4, "a chunk beyond the end is not taken");
    assert_eq!(append(2, b"e\n\xfftwo").await, 8, "half of it is known");
    assert_eq!(append(8, b"\0\n").await, 10);
    assert_eq!(append(1, b"ne").await, 10, "old bytes change nothing");
    assert_eq!(all().await.bytes, b"one\n\xfftwo\0\n");
    let piece = store.read_log(fence, 3, 4).await.unwrap();
    assert_eq!((piece.bytes.as_slice(), piece.size), (&b"\n\xfftw"[..], 10));
    let beyond = store.read_log(fence, 10, 4).await.unwrap();
    assert_eq!((beyond.bytes.len(), beyond.size), (0, 10));
    let far = store.read_log(fence, 1 << 40, 4).await.unwrap();
    assert_eq!((far.bytes.len(), far.size), (0, 10));
    // The logs of others are others'.
    let other = store.read_log(fence.next(), 0, 4).await.unwrap();
    assert_eq!((other.bytes.len(), other.size), (0, 0));
}

pub(crate) async fn a_log_may_be_huge(place: &impl Place) {
    let store = place.store();
    let fence = Fence::from_raw(7);
    let chunk = |n: u8| vec![n; 256 << 10];
    let mut size = 0;
    for n in 0..24 {
        size = store.append_log(fence, size, &chunk(n)).await.unwrap();
    }
    assert_eq!(size, 24 * (256 << 10));
    let border = 5 * (256 << 10);
    let piece = store.read_log(fence, border - 2, 4).await.unwrap();
    assert_eq!((piece.bytes, piece.size), (vec![4, 4, 5, 5], size));
    let long = store.read_log(fence, border - 1, (512 << 10) + 2).await.unwrap();
    assert_eq!(long.bytes.len(), (512 << 10) + 2);
    assert_eq!((long.bytes[0], long.bytes[1], long.bytes[(512 << 10) + 1]), (4, 5, 7));
}

pub(crate) async fn a_file_is_kept_by_its_digest(place: &impl Place) {
    let world = World::led(place).await;
    let digest = "d".repeat(64);
    assert_eq!(world.store.blob(&digest).await.unwrap(), None);
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    world.store.put_blob(&digest, &bytes).await.unwrap();
    world.store.put_blob(&digest, &bytes).await.unwrap();
    assert_eq!(world.store.blob(&digest).await.unwrap(), Some(bytes));
    world.store.put_blob("e", b"").await.unwrap();
    assert_eq!(world.store.blob("e").await.unwrap(), Some(Vec::new()));
}
