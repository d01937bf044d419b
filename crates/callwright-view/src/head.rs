//! The head that all pages have.

use maud::{Markup, html};

use crate::visible::visible;

/// The members of a page's head. `folder` is where styles and icon stand: `/page/`, or nothing where that is beside the page.
pub fn head(title: &str, folder: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (visible(title)) " · Callwright" }
        link rel="icon" href={ (folder) "icon.svg" } type="image/svg+xml";
        link rel="stylesheet" href={ (folder) "style.css" };
    }
}
