//! Questions to the masters by gRPC, asked often while a test waits. What people see is asked by the command.

use anyhow::{Context, Result};
use hera_proto::v1;
use hera_proto::v1::action_service_client::ActionServiceClient;
use hera_proto::v1::cluster_service_client::ClusterServiceClient;
use hera_testkit::wait_for_async;
use tonic::Status;

use super::{Cluster, LIMIT};

impl Cluster {
    /// What one master answers about the cluster; a standby refuses.
    ///
    /// # Errors
    /// The refusal.
    pub async fn ask_master(&self, number: usize) -> Result<v1::GetClusterResponse, Status> {
        let master = self.master(number).map_err(|error| Status::not_found(error.to_string()))?;
        let mut client = ClusterServiceClient::new(master.channel.clone());
        Ok(client.get_cluster(v1::GetClusterRequest {}).await?.into_inner())
    }

    /// Waits until a master leads, and gives what it says of the cluster.
    ///
    /// # Errors
    /// When none does.
    pub async fn led(&self) -> Result<v1::GetClusterResponse> {
        wait_for_async("a leader", LIMIT, || async {
            for number in 0..self.masters.len() {
                if let Ok(seen) = self.ask_master(number).await {
                    return Some(seen);
                }
            }
            None
        })
        .await
        .with_context(|| self.last_words())
    }

    /// An action, or nothing while no leader answers or there is no such action.
    pub async fn action(&self, name: &str) -> Option<v1::Action> {
        for master in &self.masters {
            let mut client = ActionServiceClient::new(master.channel.clone());
            let request = v1::GetActionRequest { action: name.to_owned() };
            if let Ok(answer) = client.get_action(request).await {
                return answer.into_inner().action;
            }
        }
        None
    }

    /// Waits until an action is in a state: `succeeded`, `failed(timeout)`, `active(running)`.
    ///
    /// # Errors
    /// When it does not get there; the message names the last state.
    pub async fn reaches(&self, name: &str, state: &str) -> Result<v1::Action> {
        let mut last = String::from("nothing");
        let found = wait_for_async(&format!("{name} to be {state}"), LIMIT, async || {
            let action = self.action(name).await?;
            last = shown(action.state.as_ref());
            let there = last == state || last.split('(').next() == Some(state);
            there.then_some(action)
        })
        .await;
        found.with_context(|| format!("{name} is {last}"))
    }

    /// The worker that holds the live run of an action, once it runs.
    ///
    /// # Errors
    /// When it does not run.
    pub async fn holder(&self, name: &str) -> Result<String> {
        let action = self.reaches(name, "active(running)").await?;
        Ok(action.live_run.context("a running action has a run")?.worker)
    }

    /// How often a worker has registered; nothing where the leader does not know it.
    pub(super) async fn incarnation(&self, name: &str) -> Option<i64> {
        for master in &self.masters {
            let mut client = ClusterServiceClient::new(master.channel.clone());
            let request = v1::ListWorkersRequest::default();
            if let Ok(answer) = client.list_workers(request).await {
                let workers = answer.into_inner().workers;
                return workers.iter().find(|w| w.name == name).map(|w| w.incarnation);
            }
        }
        None
    }
}

fn shown(state: Option<&v1::State>) -> String {
    match state {
        Some(state) if state.reason.is_empty() => state.word.clone(),
        Some(state) => format!("{}({})", state.word, state.reason),
        None => String::from("without a state"),
    }
}
