//! Scripts as attempts get them: of an action, or any text at any instant. It must not run anything.

use std::collections::BTreeMap;

use hera_common::time::Version;
use hera_engine::template;

use super::Service;
use super::fault::Fault;

/// What to render.
#[derive(Debug, Clone)]
pub(crate) enum Rendered {
    /// An action's name.
    Action(String),
    Text {
        text: String,
        at: Version,
        zone: String,
    },
}

impl Service {
    /// The rendered text.
    pub(crate) async fn render(&self, wanted: &Rendered) -> Result<String, Fault> {
        let catalog = self.catalog()?;
        match wanted {
            Rendered::Action(name) => {
                let action = self.find_action(&catalog, "action", name).await?.action;
                let job = catalog.jobs.get(&action.job);
                let spec = job.and_then(|job| job.spec.as_ref());
                let Some(spec) = spec else {
                    return Err(Fault::NotFound("its job cannot be read".to_owned()));
                };
                render("action", &spec.script, &spec.config, (action.version, &action.zone))
            }
            Rendered::Text { text, at, zone } => {
                let zone = if zone.is_empty() { "UTC" } else { zone };
                if hera_engine::time::zone::find(zone).is_none() {
                    let problem = format!("`{zone}` is no time zone: write an IANA name");
                    return Err(Fault::invalid("text.zone", problem));
                }
                render("text.text", text, &BTreeMap::new(), (*at, zone))
            }
        }
    }
}

fn render(
    field: &str,
    text: &str,
    config: &BTreeMap<String, String>,
    (version, zone): (Version, &str),
) -> Result<String, Fault> {
    let rendered = template::render(text, config, version, zone);
    rendered.map_err(|error| Fault::invalid(field, error.to_string()))
}
