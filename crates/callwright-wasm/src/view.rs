//! The page to try it, made in the browser.

use callwright_view::try_it::{Asked, Place, main};
use wasm_bindgen::prelude::wasm_bindgen;

/// The main part of the page, as HTML, for the state that stands in `query`.
#[wasm_bindgen]
pub fn try_it(query: &str) -> String {
    main(&Asked::of_query(query), Place::Browser).into_string()
}
