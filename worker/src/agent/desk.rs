//! Where others talk to the owner of the attempts. Decides nothing.

use hera_common::id::Token;
use tokio::sync::{mpsc, oneshot};

use super::Input;
use crate::attempt::Event;
use crate::beat::Beats;
use crate::contract::{Assignment, Timing};

/// The way to the owner. Once it has gone nothing said here matters, and questions get no answer.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    inbox: mpsc::Sender<Input>,
}

impl Desk {
    pub(super) fn new(inbox: mpsc::Sender<Input>) -> Self {
        Self { inbox }
    }

    /// Something was heard of an attempt.
    pub(crate) async fn heard(&self, token: Token, event: Event) {
        self.say(Input::Heard { token, event }).await;
    }

    /// Hands over what was granted; the answer is how many places are free then.
    pub(crate) async fn granted(&self, assignments: Vec<Assignment>) -> Option<u32> {
        self.ask(|free| Input::Granted { assignments, free }).await
    }

    /// The leader wants these to be renewed at once.
    pub(crate) async fn look(&self, tokens: Vec<Token>) {
        self.say(Input::Look(tokens)).await;
    }

    /// What must be renewed now.
    pub(crate) async fn beats(&self) -> Option<Beats> {
        self.ask(Input::Beats).await
    }

    /// All tokens held.
    pub(crate) async fn tokens(&self) -> Option<Vec<Token>> {
        self.ask(Input::Tokens).await
    }

    /// The leader's numbers have changed.
    pub(crate) async fn timing(&self, timing: Timing) {
        self.say(Input::Timing(timing)).await;
    }

    /// Nothing new shall be taken; with `stop`, what runs shall end.
    pub(crate) async fn drain(&self, stop: bool) {
        self.say(Input::Drain { stop }).await;
    }

    async fn say(&self, input: Input) {
        let _ended = self.inbox.send(input).await;
    }

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Input) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.say(question(reply)).await;
        answer.await.ok()
    }
}
