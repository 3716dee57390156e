//! A worker that executes nothing: it takes attempts and says of them what the test wants.

use hera_proto::v1;
use tonic::Status;

use crate::world::{LIMIT, World};

/// A registered worker.
pub(crate) struct Worker<'a> {
    world: &'a World,
    pub(crate) header: v1::WorkerHeader,
    tokens: u8,
}

impl<'a> Worker<'a> {
    pub(crate) async fn register(world: &'a World, name: &str, instance: &str) -> Self {
        let header = v1::WorkerHeader {
            name: name.to_owned(),
            instance_id: instance.to_owned(),
            ..v1::WorkerHeader::default()
        };
        let request = v1::RegisterRequest {
            header: Some(header.clone()),
            state_id: format!("state-of-{name}"),
            capacity: 4,
            program: "test".to_owned(),
            ..v1::RegisterRequest::default()
        };
        let answer = world.workers().register(request).await.unwrap().into_inner();
        let master = answer.header.unwrap();
        assert!(answer.timing.unwrap().heartbeat_min_ms >= 500);
        let header = v1::WorkerHeader {
            worker_id: answer.worker_id,
            incarnation: answer.incarnation,
            store_id_seen: master.store_id,
            max_epoch_seen: master.epoch,
            ..header
        };
        Self { world, header, tokens: 0 }
    }

    fn header(&self) -> Option<v1::WorkerHeader> {
        Some(self.header.clone())
    }

    /// One poll with one fresh token.
    pub(crate) async fn poll(&mut self) -> Result<Vec<v1::Assignment>, Status> {
        self.tokens += 1;
        let token = vec![self.tokens; 16];
        self.poll_with(vec![token]).await
    }

    pub(crate) async fn poll_with(
        &self,
        tokens: Vec<Vec<u8>>,
    ) -> Result<Vec<v1::Assignment>, Status> {
        let request = v1::PollRequest { header: self.header(), tokens, ..Default::default() };
        Ok(self.world.workers().poll(request).await?.into_inner().assignments)
    }

    /// Polls until something is granted.
    pub(crate) async fn take(&mut self) -> v1::Assignment {
        let polls = async {
            loop {
                if let Some(assignment) = self.poll().await.unwrap().pop() {
                    return assignment;
                }
            }
        };
        tokio::time::timeout(LIMIT, polls).await.unwrap()
    }

    pub(crate) async fn start(&self, assignment: &v1::Assignment) -> v1::VerdictKind {
        let request = v1::StartRequest { header: self.header(), items: vec![held(assignment)] };
        let answer = self.world.workers().start(request).await.unwrap().into_inner();
        answer.verdicts.first().unwrap().kind()
    }

    pub(crate) async fn heartbeat(&self, assignment: &v1::Assignment) -> v1::VerdictKind {
        let request = v1::HeartbeatRequest {
            header: self.header(),
            items: vec![held(assignment)],
            kill_failed: Vec::new(),
        };
        let answer = self.world.workers().heartbeat(request).await.unwrap().into_inner();
        answer.verdicts.first().unwrap().kind()
    }

    /// One heartbeat for many.
    pub(crate) async fn beat_for(
        &self,
        held: impl Iterator<Item = (i64, Vec<u8>)>,
    ) -> Vec<v1::VerdictKind> {
        let items = held.map(|(run_id, token)| v1::Held { run_id, token }).collect();
        let request = v1::HeartbeatRequest { header: self.header(), items, kill_failed: vec![] };
        let answer = self.world.workers().heartbeat(request).await.unwrap().into_inner();
        answer.verdicts.iter().map(v1::Verdict::kind).collect()
    }

    pub(crate) async fn finish(
        &self,
        assignment: &v1::Assignment,
        end: v1::End,
        exit_code: Option<i32>,
    ) -> v1::VerdictKind {
        let item = v1::Ended {
            run_id: assignment.run_id,
            token: assignment.token.clone(),
            end: end.into(),
            exit_code,
            ..v1::Ended::default()
        };
        let request = v1::FinishRequest { header: self.header(), items: vec![item] };
        let answer = self.world.workers().finish(request).await.unwrap().into_inner();
        answer.verdicts.first().unwrap().kind()
    }

    pub(crate) async fn log(&self, assignment: &v1::Assignment, offset: u64, text: &str) -> u64 {
        let request = v1::AppendLogRequest {
            header: self.header(),
            token: assignment.token.clone(),
            offset,
            bytes: text.as_bytes().to_vec().into(),
        };
        self.world.workers().append_log(request).await.unwrap().into_inner().size
    }
}

fn held(assignment: &v1::Assignment) -> v1::Held {
    v1::Held { run_id: assignment.run_id, token: assignment.token.clone() }
}
