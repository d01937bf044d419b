//! The findings about a model's own chat template, made once for each template.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callwright::Dialects;
use callwright::prompt::PromptDialect;
use callwright_template::{Findings, Template, TemplateError, Turns};

/// The longest template that is kept, in bytes.
pub(super) const LONGEST: usize = 256 << 10;
/// The most templates that are kept.
const MOST: usize = 64;
/// The longest time that a request waits for a template, once: most templates take some milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A model's own chat template, and the findings about it.
#[derive(Debug)]
pub struct ModelTemplate {
    source: Arc<str>,
    findings: Result<Findings, TemplateError>,
    dialects: Dialects,
}

/// Two templates with the same text are equal.
impl PartialEq for ModelTemplate {
    fn eq(&self, other: &ModelTemplate) -> bool {
        self.source == other.source
    }
}

impl Eq for ModelTemplate {}

impl ModelTemplate {
    fn of(source: Arc<str>, dialects: &Dialects) -> ModelTemplate {
        let findings = Template::new(&source).map(|t| Findings::of(&t, dialects, &name_of(&source)));
        let own = findings.as_ref().ok().and_then(|found| found.calls.as_ref().ok()?.own.clone());
        let with_own = own.and_then(|own| Dialects::new(dialects.own().cloned().chain([own])).ok());
        let dialects = with_own.unwrap_or_else(|| dialects.clone());
        ModelTemplate { source, findings, dialects }
    }

    fn unread(source: Arc<str>, dialects: &Dialects) -> ModelTemplate {
        ModelTemplate { source, findings: Err(TemplateError::Endless), dialects: dialects.clone() }
    }

    /// Returns the findings.
    ///
    /// # Errors
    /// The text is not a template, or does not come to an end.
    pub fn findings(&self) -> Result<&Findings, &TemplateError> {
        self.findings.as_ref()
    }

    /// Returns the name of the dialect of its calls, if that was proved.
    pub fn dialect(&self) -> Option<&str> {
        Some(&self.findings.as_ref().ok()?.calls.as_ref().ok()?.name)
    }

    /// Returns the dialects to read the model's answers in, its own among them.
    pub fn dialects(&self) -> &Dialects {
        &self.dialects
    }

    /// Returns the dialect that its model was trained on.
    pub(crate) fn spoken(&self) -> Option<PromptDialect> {
        PromptDialect::named(&self.dialects, self.dialect()?)
    }

    /// Returns the turns that it takes, if it tells.
    pub(crate) fn turns(&self) -> Option<Turns> {
        self.findings.as_ref().ok().map(|found| found.turns)
    }
}

impl fmt::Display for ModelTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proved = match &self.findings {
            Err(error) => return error.fmt(f),
            Ok(Findings { calls: Err(unknown), .. }) => return unknown.fmt(f),
            Ok(Findings { calls: Ok(proved), .. }) => proved,
        };
        write!(f, "{} (proved by {} round trips)", proved.name, proved.round_trips)
    }
}

/// Makes the name of a dialect that only this template has.
fn name_of(source: &str) -> String {
    // FNV-1a: the name must be the same in each run.
    let hash = source.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("template-{:08x}", hash >> 32)
}

/// The templates that were looked at.
#[derive(Debug)]
pub(super) struct Templates {
    dialects: Dialects,
    /// The templates, where those looked at last stand last.
    kept: Mutex<Vec<Arc<ModelTemplate>>>,
}

impl Templates {
    pub(super) fn new(dialects: Dialects) -> Templates {
        Templates { dialects, kept: Mutex::default() }
    }

    /// Returns the template of this text, if it was looked at.
    pub(super) fn get(&self, source: &Arc<str>) -> Option<Arc<ModelTemplate>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |known: &&Arc<ModelTemplate>| Arc::ptr_eq(&known.source, source) || known.source == *source;
        kept.iter().rfind(is_it).cloned()
    }

    /// Looks at a template, away from the threads that serve requests.
    pub(super) async fn look_at(&self, source: Arc<str>) {
        let (text, dialects) = (Arc::clone(&source), self.dialects.clone());
        let looking = tokio::task::spawn_blocking(move || ModelTemplate::of(text, &dialects));
        let found = match tokio::time::timeout(PATIENCE, looking).await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) | Err(_) => ModelTemplate::unread(source, &self.dialects),
        };
        tracing::info!(template = %found, "[relay] the model's chat template");
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if MOST <= kept.len() {
            kept.remove(0);
        }
        kept.push(Arc::new(found));
    }
}
