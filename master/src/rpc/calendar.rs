//! The service of calendars.

use hera_common::calendar::CalendarRow;
use hera_proto::v1;
use tonic::{Request, Response, Status};
use v1::calendar_service_server::CalendarService;

use super::status::status;
use super::{Rpc, from_wire};
use crate::service::calendar::{ShownCalendar, WholeCalendar};

#[tonic::async_trait]
impl CalendarService for Rpc {
    async fn list_calendars(
        &self,
        request: Request<v1::ListCalendarsRequest>,
    ) -> Result<Response<v1::ListCalendarsResponse>, Status> {
        let page = from_wire::page(request.into_inner().page).map_err(status)?;
        let piece = self.service.list_calendars(&page).map_err(status)?;
        let calendars = piece.rows.into_iter().map(shown).collect();
        Ok(Response::new(v1::ListCalendarsResponse { calendars, next: piece.next }))
    }

    async fn get_calendar(
        &self,
        request: Request<v1::GetCalendarRequest>,
    ) -> Result<Response<v1::GetCalendarResponse>, Status> {
        let calendar = self.service.get_calendar(&request.get_ref().name).map_err(status)?;
        Ok(Response::new(whole(calendar)))
    }

    async fn delete_calendar(
        &self,
        request: Request<v1::DeleteCalendarRequest>,
    ) -> Result<Response<v1::DeleteCalendarResponse>, Status> {
        let v1::DeleteCalendarRequest { asked, name } = request.into_inner();
        let asked = from_wire::asked(asked).map_err(status)?;
        self.service.delete_calendar(asked, name).await.map_err(status)?;
        Ok(Response::new(v1::DeleteCalendarResponse {}))
    }
}

fn whole(calendar: WholeCalendar) -> v1::GetCalendarResponse {
    let WholeCalendar { calendar, days, revisions } = calendar;
    let revision = |row: CalendarRow| v1::CalendarRevision {
        revision: row.revision.raw(),
        since_ms: row.since.ms(),
        spec_json: row.spec.unwrap_or_default(),
        actor: row.actor,
        why: row.why,
    };
    v1::GetCalendarResponse {
        calendar: Some(shown(calendar)),
        days: days.iter().map(ToString::to_string).collect(),
        revisions: revisions.into_iter().map(revision).collect(),
    }
}

fn shown(calendar: ShownCalendar) -> v1::Calendar {
    let ShownCalendar { name, revision, description, valid_until, of, jobs, spec_json } = calendar;
    v1::Calendar {
        name,
        revision: revision.raw(),
        description,
        valid_until: valid_until.map(|until| until.to_string()).unwrap_or_default(),
        of,
        jobs,
        spec_json,
    }
}
