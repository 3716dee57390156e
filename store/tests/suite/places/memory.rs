//! The suite's place in memory.

use std::sync::Arc;

use hera_store::{MemoryStore, Store};

use crate::world::Place;

pub(crate) struct Memory(MemoryStore);

#[async_trait::async_trait]
impl Place for Memory {
    async fn fresh() -> Self {
        Self(MemoryStore::new("0123456789abcdef0123456789abcdef"))
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn second(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(self.0.another_link()))
    }
}
