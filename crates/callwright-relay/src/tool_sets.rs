//! Tools, compiled once as long as requests bring the same ones.
//!
//! Definitions as text go in, compiled tools come out. New ones that several requests bring at once are compiled once, and all of
//! them wait for that. Nobody waits for the tools of others, unless all places are taken. Work without a waiter is not begun.

mod weight;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use callwright::ToolSet;
use callwright::lint::{Severity, lint};
use tokio::sync::{OnceCell, watch};

use self::weight::weight;
use crate::readers::Readers;
use crate::tool_search::ToolIndex;
use crate::wire::WireError;

/// Compiled tools by the text of their definitions: clients send the same ones with every request.
///
/// Definitions are long, and different ones differ in length or early on: a comparison with all kept ones costs less than a hash.
pub(crate) struct ToolSets {
    /// Compiles them, no more at once than it has threads: a large one takes seconds, and memory.
    readers: Readers,
    shelf: Arc<Mutex<Shelf>>,
}

struct Shelf {
    /// The approximate bytes that all kept ones may take. One that alone takes more is compiled for each request.
    most: usize,
    /// The kept ones, where those used last stand last.
    kept: Vec<Kept>,
    /// The ones that are being compiled.
    made: Vec<Weak<Making>>,
}

struct Kept {
    text: Arc<str>,
    tool_set: Arc<ToolSet>,
    /// The index, made when tools are first searched.
    index: Option<Arc<ToolIndex>>,
    /// The approximate bytes that both take.
    weight: usize,
}

/// Tools that are being compiled. It exists as long as somebody waits for them.
struct Making {
    text: Arc<str>,
    /// Somebody has begun.
    begun: OnceCell<()>,
    done: watch::Sender<Option<Compiled>>,
}

type Compiled = Result<Arc<ToolSet>, WireError>;

impl ToolSets {
    /// Makes one that keeps about this many bytes.
    pub(crate) fn new(most: usize) -> ToolSets {
        let shelf = Shelf { most, kept: Vec::new(), made: Vec::new() };
        ToolSets { readers: Readers::one_per_core(), shelf: Arc::new(Mutex::new(shelf)) }
    }

    /// Returns the tools of this text. Unknown ones are compiled on a thread of their own, so that a serving thread goes on.
    pub(crate) async fn of(&self, tools: &str) -> Result<Arc<ToolSet>, WireError> {
        let making = {
            let mut shelf = locked(&self.shelf);
            match shelf.used(tools) {
                Some(tool_set) => return Ok(tool_set),
                None => shelf.making(tools),
            }
        };
        let mut done = making.done.subscribe();
        // Who begins may leave before there is a place for it; then another one does.
        making.begun.get_or_init(|| self.begin(&making)).await;
        let compiled = done.wait_for(Option::is_some).await.map(|compiled| compiled.clone());
        // It panics on no text; should it, the request fails and nothing else.
        let gone =
            || WireError::bad_request(Some("tools"), "invalid_tools", String::from("cannot be compiled"));
        compiled.ok().flatten().unwrap_or_else(|| Err(gone()))
    }

    /// Returns the index of these tools: made once, as long as they are kept.
    pub(crate) fn index_of(&self, tool_set: &Arc<ToolSet>) -> Arc<ToolIndex> {
        let is_it = |kept: &&mut Kept| Arc::ptr_eq(&kept.tool_set, tool_set);
        let known = locked(&self.shelf).kept.iter_mut().find(is_it).and_then(|kept| kept.index.clone());
        known.unwrap_or_else(|| {
            let index = Arc::new(ToolIndex::of(tool_set));
            if let Some(kept) = locked(&self.shelf).kept.iter_mut().find(is_it) {
                kept.index = Some(Arc::clone(&index));
            }
            index
        })
    }

    /// Has them compiled once a place is free. The waiter may leave then: begun work is kept for the next one.
    async fn begin(&self, making: &Arc<Making>) {
        let (making, shelf) = (Arc::clone(making), Arc::clone(&self.shelf));
        self.readers
            .begin(move || {
                let compiled = compiled(&making.text);
                if let Ok(tool_set) = &compiled {
                    locked(&shelf).keep(Arc::clone(&making.text), tool_set);
                }
                making.done.send_replace(Some(compiled));
            })
            .await;
    }
}

fn locked(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    /// Returns the tools of this text, if they are kept.
    fn used(&mut self, tools: &str) -> Option<Arc<ToolSet>> {
        let at = self.kept.iter().rposition(|kept| *kept.text == *tools)?;
        self.kept[at..].rotate_left(1);
        self.kept.last().map(|kept| Arc::clone(&kept.tool_set))
    }

    /// Returns the tools of this text that are compiled or will be.
    fn making(&mut self, tools: &str) -> Arc<Making> {
        self.made.retain(|making| 0 < making.strong_count());
        let mut made = self.made.iter().filter_map(Weak::upgrade);
        // One that is done may be there for a moment longer.
        let is_under_way = |making: &Arc<Making>| making.done.borrow().is_none();
        if let Some(making) = made.find(|making| *making.text == *tools && is_under_way(making)) {
            return making;
        }
        let making =
            Arc::new(Making { text: tools.into(), begun: OnceCell::new(), done: watch::Sender::new(None) });
        self.made.push(Arc::downgrade(&making));
        making
    }

    fn keep(&mut self, text: Arc<str>, tool_set: &Arc<ToolSet>) {
        let weight = weight(&text);
        if self.most < weight {
            return;
        }
        self.kept.push(Kept { text, tool_set: Arc::clone(tool_set), index: None, weight });
        let mut bytes = 0;
        let mut fits = |kept: &Kept| {
            bytes += kept.weight;
            bytes <= self.most
        };
        let n_kept = self.kept.iter().rev().take_while(|kept| fits(kept)).count();
        let n_old = self.kept.len() - n_kept;
        self.kept.drain(..n_old);
    }
}

fn compiled(tools: &str) -> Compiled {
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

    fn text(name: &str) -> String {
        format!(r#"[{{"name": "{name}"}}]"#)
    }

    #[tokio::test]
    async fn tools_are_compiled_once_as_long_as_they_are_used() {
        // Two of them have room.
        let sets = ToolSets::new(2 * weight(&text("a")));
        let of = async |name: &str| sets.of(&text(name)).await.unwrap();
        let (a, b) = (of("a").await, of("b").await);
        assert!(Arc::ptr_eq(&a, &of("a").await));
        // The third one takes the place of the one that was not used for longest.
        let c = of("c").await;
        assert!(Arc::ptr_eq(&a, &of("a").await));
        assert!(Arc::ptr_eq(&c, &of("c").await));
        assert!(!Arc::ptr_eq(&b, &of("b").await));
        assert!(sets.of("[{}]").await.is_err() && locked(&sets.shelf).kept.len() == 2);
        assert!(locked(&sets.shelf).making("[{}]").begun.get().is_none(), "what is wrong is not kept");
    }

    /// Tools that are larger than all may be are compiled for each request, and take the place of none.
    #[tokio::test]
    async fn what_is_too_large_is_not_kept() {
        let sets = ToolSets::new(2 * weight(&text("a")));
        let a = sets.of(&text("a")).await.unwrap();
        let long = text(&"x".repeat(60));
        let first = sets.of(&long).await.unwrap();
        assert!(!Arc::ptr_eq(&first, &sets.of(&long).await.unwrap()));
        assert!(Arc::ptr_eq(&a, &sets.of(&text("a")).await.unwrap()));
    }

    #[tokio::test]
    async fn who_brings_the_same_at_once_waits_for_the_same() {
        // Whoever comes when they are done finds them kept.
        let sets = ToolSets::new(1 << 20);
        let (one, other, third) =
            tokio::join!(sets.of(r#"[{"name": "f"}]"#), sets.of(r#"[{"name": "f"}]"#), sets.of("[{}]"));
        assert!(Arc::ptr_eq(&one.unwrap(), &other.unwrap()));
        assert!(third.is_err());
    }

    /// All places but one are taken by tools that are compiled for ever. Anyone with others goes on, and work whose client left
    /// before a place was free is never begun.
    #[tokio::test]
    async fn nobody_waits_for_the_tools_of_others() {
        let sets = ToolSets { readers: Readers::of(2), ..ToolSets::new(1 << 20) };
        let (ends, end) = std::sync::mpsc::channel::<()>();
        sets.readers.begin(move || assert!(end.recv().is_err())).await;
        assert!(sets.of(&text("f")).await.is_ok());
        let (also_ends, end) = std::sync::mpsc::channel::<()>();
        sets.readers.begin(move || assert!(end.recv().is_err())).await;
        let name = text("g");
        let left = sets.of(&name);
        tokio::select! {
            biased;
            _ = left => panic!("there is no place for it"),
            () = tokio::task::yield_now() => {}
        }
        drop(ends);
        assert!(sets.of(&text("h")).await.is_ok());
        let shelf = locked(&sets.shelf);
        assert!(shelf.kept.iter().all(|kept| *kept.text != *name), "nobody waits for it");
        drop(also_ends);
    }

    /// Work of seconds must not stop others that the same thread serves.
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
