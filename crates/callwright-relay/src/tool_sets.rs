//! Tools, compiled once as long as requests bring the same ones.

use std::sync::{Arc, Mutex, PoisonError};

use callwright::ToolSet;
use callwright::lint::{Severity, lint};

use crate::wire::WireError;

/// Compiled tools by the text of their definitions: clients send the same ones with every request.
///
/// Definitions are long, and two that are not the same differ in length or early on: to compare them with all that
/// are kept costs less than to hash them.
pub(crate) struct ToolSets {
    /// How many bytes all that are kept may take, about. The one that was used last is kept however large it is, or each
    /// request of its client would have it compiled again.
    most: usize,
    /// Those used last stand last.
    kept: Mutex<Vec<(Box<str>, Arc<ToolSet>)>>,
    /// One at a time is compiled: a large one takes seconds, and memory.
    compiling: tokio::sync::Mutex<()>,
}

/// A compiled set takes so many times the bytes of its text: 31 to 65 times were measured, from 51 KB to 2.6 MB.
const COMPILED: usize = 64;

impl ToolSets {
    /// So many bytes may be kept, about.
    pub(crate) fn new(most: usize) -> ToolSets {
        ToolSets { most, kept: Mutex::default(), compiling: tokio::sync::Mutex::default() }
    }

    /// The tools of this text, compiled on a thread of its own where they are not kept: whoever serves goes on.
    pub(crate) async fn of(&self, tools: &str) -> Result<Arc<ToolSet>, WireError> {
        if let Some(tool_set) = self.used(tools) {
            return Ok(tool_set);
        }
        let _alone = self.compiling.lock().await;
        // Whoever was first may have had the same ones.
        if let Some(tool_set) = self.used(tools) {
            return Ok(tool_set);
        }
        let text: Box<str> = tools.into();
        let compiled = tokio::task::spawn_blocking(move || {
            let tool_set = compiled(&text)?;
            Ok((text, tool_set))
        });
        // It panics on no text; should it, the request fails and nothing else.
        let gone = |error: tokio::task::JoinError| {
            WireError::bad_request(Some("tools"), "invalid_tools", error.to_string())
        };
        let (text, tool_set) = compiled.await.map_err(gone)??;
        self.keep(text, &tool_set);
        Ok(tool_set)
    }

    fn keep(&self, text: Box<str>, tool_set: &Arc<ToolSet>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((text, Arc::clone(tool_set)));
        let mut bytes = 0;
        // The last one stays, and before it all that have room.
        let mut fits = |(text, _): &(Box<str>, Arc<ToolSet>)| {
            bytes += text.len().saturating_mul(COMPILED);
            bytes <= self.most
        };
        let n_kept = kept.iter().rev().take_while(|entry| fits(entry)).count().max(1);
        let n_old = kept.len() - n_kept;
        kept.drain(..n_old);
    }

    /// The tools of this text, if they are kept.
    fn used(&self, tools: &str) -> Option<Arc<ToolSet>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().rposition(|(text, _)| **text == *tools)?;
        kept[at..].rotate_left(1);
        kept.last().map(|(_, tool_set)| Arc::clone(tool_set))
    }
}

fn compiled(tools: &str) -> Result<Arc<ToolSet>, WireError> {
    let tool_set = ToolSet::from_json(tools)
        .map_err(|error| WireError::bad_request(Some("tools"), "invalid_tools", error.to_string()))?;
    // Once for each set, as long as it is kept: nothing else shows a type such as `strnig`, which no value is held to.
    for finding in lint(&tool_set).iter().filter(|finding| finding.severity == Severity::Error) {
        tracing::warn!(tool = finding.tool, finding = %finding, "[tools] a definition says something else than it seems to");
    }
    Ok(Arc::new(tool_set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tools_are_compiled_once_as_long_as_they_are_used() {
        let text = |name: &str| format!(r#"[{{"name": "{name}"}}]"#);
        // Two of them have room.
        let sets = ToolSets::new(2 * COMPILED * text("a").len());
        let of = async |name: &str| sets.of(&text(name)).await.unwrap();
        let (a, b) = (of("a").await, of("b").await);
        assert!(Arc::ptr_eq(&a, &of("a").await));
        // The third one takes the place of the one that was not used for longest.
        let c = of("c").await;
        assert!(Arc::ptr_eq(&a, &of("a").await));
        assert!(Arc::ptr_eq(&c, &of("c").await));
        assert!(!Arc::ptr_eq(&b, &of("b").await));
        // One that is larger than all may be is kept alone, as long as nothing else is used.
        let long = of(&"x".repeat(60)).await;
        assert!(Arc::ptr_eq(&long, &of(&"x".repeat(60)).await));
        assert_eq!(sets.kept.lock().unwrap().len(), 1);
        assert!(sets.of("[{}]").await.is_err() && sets.kept.lock().unwrap().len() == 1);
    }

    /// What would take seconds must not stop whoever else is served by the same thread.
    #[tokio::test]
    async fn others_are_served_while_tools_are_compiled() {
        let sets = ToolSets::new(0);
        // So many that they are not compiled before this thread looks again.
        let tools: Vec<String> = (0..200).map(|n| format!(r#"{{"name": "f{n}"}}"#)).collect();
        let (mut turns, tools) = (0, format!("[{}]", tools.join(", ")));
        let others = async {
            loop {
                turns += 1;
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = others => {}
            set = sets.of(&tools) => assert!(set.is_ok()),
        }
        assert!(1 < turns, "it was compiled on this thread");
    }
}
