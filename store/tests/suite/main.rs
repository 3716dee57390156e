//! What every store must do, told once and run on each.
#![expect(clippy::unwrap_used, reason = "a case that cannot go on has failed")]
#![expect(clippy::panic, reason = "a case that cannot go on has failed")]
#![expect(clippy::indexing_slicing, reason = "a row that is missing fails the case")]

mod bytes;
mod collapse;
mod databases;
mod guard;
mod lead;
mod look;
mod places;
mod random;
mod rows;
mod rule;
mod schema;
mod world;

/// Makes a test of each case, on one place.
macro_rules! on {
    ($place:ty: $($room:ident { $($case:ident)+ })+) => {$(
        mod $room {
            $(#[tokio::test]
            async fn $case() {
                let place = <$place as crate::world::Place>::fresh().await;
                crate::$room::$case(&place).await;
            })+
        }
    )+};
}

/// Makes a module of tests for each place.
macro_rules! suite {
    ($($name:ident: $place:ty),+ => $cases:tt) => {$(
        mod $name {
            on_each!($place: $cases);
        }
    )+};
}

macro_rules! on_each {
    ($place:ty: { $($cases:tt)+ }) => { on!($place: $($cases)+); };
}

suite! {
    memory: crate::places::memory::Memory,
    sqlite: crate::places::sqlite::Sqlite,
    postgres: crate::places::postgres::Postgres => {
        lead {
            an_old_epoch_is_fenced
            the_leader_renews_and_resigns_and_nobody_else_does
            of_two_candidates_one_wins
            a_store_keeps_its_identity
        }
        guard {
            each_kind_of_guard_holds_for_the_row_as_it_is
            a_unit_is_left_out_with_all_that_build_on_it
            a_guard_is_judged_on_the_rows_as_the_units_before_leave_them
            of_two_writers_of_one_run_one_wins
            a_guard_may_name_a_row_that_its_unit_does_not_write
        }
        collapse {
            a_whole_life_fits_into_one_batch
            planned_rows_come_and_go
            bindings_are_replaced_whole
            a_late_report_is_kept_once_and_only_after_the_end
            jobs_may_trade_their_paths
        }
        rule {
            an_impossible_change_is_refused_and_leaves_no_trace
            one_held_run_of_a_job_and_one_live_run_of_an_action
            a_run_hands_over_to_the_next_in_one_batch
            marks_never_go_back
            rows_of_every_kind_come_back_as_they_were_written
            an_edit_of_a_calendar_is_kept_and_never_made_twice
        }
        look {
            what_is_active_is_loaded_and_nothing_else
            loading_by_job_is_loading_a_part
            versions_are_looked_up
            versions_of_jobs_by_hand_are_loaded
            a_list_shows_each_row_once_while_rows_are_added
            actions_are_filtered_by_the_store
            runs_are_filtered_newest_first
            runs_come_in_pages
            what_belongs_to_many_rows_is_read_at_once
            history_is_kept_for_people
            attempts_are_found_by_run_and_by_token
        }
        random {
            random_batches_do_what_they_do_in_memory
        }
        bytes {
            a_log_takes_each_byte_once
            a_log_may_be_huge
            a_file_is_kept_by_its_digest
        }
    }
}

/// What only a store in memory can be told to do.
mod told {
    use hera_common::time::Wall;
    use hera_common::unit::{Batch, Marks};
    use hera_store::{CommitFault, MemoryStore, Store, StoreError};

    use crate::rows;
    use crate::world::{World, acquire, insert_worker, unit};

    #[tokio::test]
    async fn a_commit_fails_before_or_after_it_was_made() {
        let memory = MemoryStore::new(&"0".repeat(32));
        let store = std::sync::Arc::new(memory.clone());
        let epoch = acquire(&memory, "one").await;
        let world = World { store, epoch };
        let register = |id| vec![unit(vec![], vec![insert_worker(rows::worker(id))])];
        for (fault, there) in [(CommitFault::Before, 0), (CommitFault::After, 1)] {
            memory.fail_next_commit(fault);
            let told = world.try_commit(register(1)).await;
            assert!(matches!(told, Err(StoreError::Unavailable(_))), "{told:?}");
            assert_eq!(world.all().await.workers.len(), there, "{fault:?}");
        }
        assert_eq!(world.commit(register(2)).await, "D", "the fault is over");
    }

    #[tokio::test]
    async fn one_link_is_cut_and_the_other_is_not() {
        let one = MemoryStore::new(&"0".repeat(32));
        let two = one.another_link();
        one.set_now(Wall::from_ms(5));
        let epoch = acquire(&two, "two").await;
        one.set_reachable(false);
        let empty = Batch { units: Vec::new(), marks: Marks::default() };
        assert!(matches!(one.leadership().await, Err(StoreError::Unavailable(_))));
        assert!(matches!(one.commit(epoch, &empty).await, Err(StoreError::Unavailable(_))));
        let told = two.commit(epoch, &empty).await.unwrap();
        assert_eq!(told.store_now, Wall::from_ms(5));
        one.set_reachable(true);
        assert_eq!(one.leadership().await.unwrap().epoch, epoch);
    }
}
