//! The runs of the suite that a part of it belongs to.

use serde::Deserialize;

/// The runs of which a task, a behaviour or a client is a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Every {
    /// Each run.
    Ci,
    /// Those with `--all`, and those where `--only` names it.
    #[default]
    All,
}
