//! Who leads, and what an old leader may still do: nothing.

use hera_common::id::Epoch;
use hera_common::unit::{Batch, Marks};
use hera_store::{Seen, StoreError};

use crate::rows;
use crate::world::{Place, World, acquire, candidate, insert_worker, unit};

pub(crate) async fn an_old_epoch_is_fenced(place: &impl Place) {
    let old = World::led(place).await;
    let new = acquire(&*place.store(), "two").await;
    assert_eq!(new, old.epoch.next());
    let units = || vec![unit(vec![], vec![insert_worker(rows::worker(1))])];
    let told = old.try_commit(units()).await;
    assert!(matches!(told, Err(StoreError::NotLeader)), "{told:?}");
    let nothing = Batch { units: Vec::new(), marks: Marks::default() };
    let told = old.store.commit(old.epoch, &nothing).await;
    assert!(matches!(told, Err(StoreError::NotLeader)), "{told:?}");
    assert!(old.all().await.workers.is_empty());
    let world = World { store: place.store(), epoch: new };
    assert_eq!(world.commit(units()).await, "D");
    // A future epoch is as wrong as an old one.
    let future = World { store: place.store(), epoch: new.next() };
    assert!(matches!(future.try_commit(units()).await, Err(StoreError::NotLeader)));
}

pub(crate) async fn the_leader_renews_and_resigns_and_nobody_else_does(place: &impl Place) {
    let store = place.store();
    let first = store.leadership().await.unwrap();
    assert_eq!((first.epoch, first.holder), (Epoch::from_raw(0), None));

    let (one, two) = (candidate("one"), candidate("two"));
    let epoch = acquire(&*store, "one").await;
    let row = store.leadership().await.unwrap();
    assert_eq!((row.epoch, row.holder.as_deref()), (epoch, Some("one")));
    assert_eq!(row.address, one.address);

    store.renew(epoch, &one).await.unwrap();
    let renewed = store.leadership().await.unwrap();
    assert!(renewed.renew_seq > row.renew_seq, "a standby sees that the leader lives");

    for told in [
        store.renew(epoch, &two).await.map(|_now| ()),
        store.renew(epoch.next(), &one).await.map(|_now| ()),
        store.resign(epoch, &two).await,
    ] {
        assert!(matches!(told, Err(StoreError::NotLeader)), "{told:?}");
    }

    let next = store.advance(epoch, &one).await.unwrap();
    assert_eq!(next, epoch.next());
    assert_eq!(store.advance(epoch, &one).await.unwrap(), next, "the answer may have been lost");
    for told in [store.advance(epoch, &two).await, store.advance(next, &two).await] {
        assert!(matches!(told, Err(StoreError::NotLeader)), "{told:?}");
    }
    let late = store.commit(epoch, &Batch::default()).await;
    assert!(matches!(late, Err(StoreError::NotLeader)), "{late:?}");
    store.commit(next, &Batch::default()).await.unwrap();
    let epoch = next;

    store.resign(epoch, &one).await.unwrap();
    let resigned = store.leadership().await.unwrap();
    assert_eq!((resigned.epoch, resigned.holder), (epoch, None));
    assert!(resigned.renew_seq > renewed.renew_seq);
    assert!(matches!(store.renew(epoch, &one).await, Err(StoreError::NotLeader)));
}

pub(crate) async fn of_two_candidates_one_wins(place: &impl Place) {
    // Where the folder's lock is the leadership there is no second candidate.
    let Some(second) = place.second().await else { return };
    let first = place.store();
    let row = first.leadership().await.unwrap();
    let seen = Seen { epoch: row.epoch, renew_seq: row.renew_seq };
    let (one, two) = (candidate("one"), candidate("two"));
    let (a, b) = tokio::join!(first.acquire(seen, &one), second.acquire(seen, &two));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert!(a.is_some() != b.is_some(), "{a:?} {b:?}");
    assert_eq!(a.or(b), Some(row.epoch.next()));
    assert_eq!(second.acquire(seen, &two).await.unwrap(), None, "the row has changed since");
    // The one who lost sees who won, and what it was given.
    let holder = second.leadership().await.unwrap().holder;
    assert_eq!(holder.as_deref(), Some(if a.is_some() { "one" } else { "two" }));
}

pub(crate) async fn a_store_keeps_its_identity(place: &impl Place) {
    let id = place.store().store_id().await.unwrap();
    assert_eq!(id.len(), 32);
    assert!(id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    assert_eq!(place.store().store_id().await.unwrap(), id);
}
