//! Kept responses, for clients that ask for them again.

use callwright_json::{quote, strict};
use http::StatusCode;

use super::kept::not_found;
use crate::api::UpstreamKind;
use crate::owner::Owner;
use crate::relay::Relay;
use crate::reply::Reply;
use crate::upstream::Upstream;
use crate::wire::{array, object, string_of};

/// The input items of a response that a client wants.
#[derive(Clone, Debug)]
pub struct ItemsWanted {
    /// The most items.
    pub limit: usize,
    /// The latest items stand first.
    pub newest_first: bool,
    /// Only the items behind the one of this id.
    pub after: Option<String>,
}

impl Default for ItemsWanted {
    fn default() -> ItemsWanted {
        ItemsWanted { limit: 20, newest_first: true, after: None }
    }
}

impl Relay {
    /// Returns whether this response is not kept here, but may be at another server that keeps its own.
    pub fn is_kept_elsewhere(&self, id: &str, owner: &Owner) -> bool {
        let keeps = |upstream: &std::sync::Arc<Upstream>| upstream.kind() == UpstreamKind::Responses;
        self.upstreams.all().iter().any(keeps) && self.responses.get(id, owner).is_none()
    }

    /// Returns a response that was kept for this owner.
    pub fn response(&self, id: &str, owner: &Owner) -> Reply {
        match self.responses.get(id, owner) {
            Some((body, _)) => Reply::json(StatusCode::OK, body),
            None => Reply::error(&not_found(id)),
        }
    }

    /// Returns the input items of such a response.
    pub fn response_items(&self, id: &str, owner: &Owner, wanted: &ItemsWanted) -> Reply {
        let Some((_, mut items)) = self.responses.get(id, owner) else {
            return Reply::error(&not_found(id));
        };
        if wanted.newest_first {
            items.reverse();
        }
        let id_of = |item: &String| {
            let tree = strict(item).ok()?;
            string_of(tree.root(item), "id").map(|id| id.into_owned())
        };
        let after = wanted.after.as_ref();
        let from = after.and_then(|after| items.iter().position(|item| id_of(item).as_ref() == Some(after)));
        let from = from.map_or(0, |at| at + 1);
        let page: Vec<&String> = items.iter().skip(from).take(wanted.limit).collect();
        let quoted = |item: Option<&&String>| {
            item.and_then(|item| id_of(item)).map_or(String::from("null"), |id| quote(&id))
        };
        let list = object([
            ("object", quote("list")),
            ("first_id", quoted(page.first())),
            ("last_id", quoted(page.last())),
            ("has_more", (from + page.len() < items.len()).to_string()),
            ("data", array(page)),
        ]);
        Reply::json(StatusCode::OK, list)
    }

    /// Forgets such a response.
    pub fn forget_response(&self, id: &str, owner: &Owner) -> Reply {
        if !self.responses.forget(id, owner) {
            return Reply::error(&not_found(id));
        }
        let told = [("id", quote(id)), ("object", quote("response")), ("deleted", String::from("true"))];
        Reply::json(StatusCode::OK, object(told))
    }
}
