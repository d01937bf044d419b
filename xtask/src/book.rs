//! The documents as a site: in goes `docs/`, out comes `target/book`, in which every link leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use steps::install::crate_program;
use steps::root;
use steps::step::{self, program};

/// What builds the site, and the folder it builds, which `book.toml` names as well.
const MDBOOK: (&str, &str) = ("mdbook", "0.5.4");
const FOLDER: &str = "target/book";

/// The attributes whose values are addresses.
const ADDRESSES: [&str; 2] = ["href", "src"];

/// Finds mdBook, or installs it. Neither its watching nor its serving is needed.
///
/// # Errors
/// When it is not there and cannot be had.
pub(crate) fn mdbook(root: &Path) -> Result<PathBuf> {
    crate_program(root, MDBOOK, &["search"])
}

/// Builds the site, and prints each link of it that leads nowhere.
///
/// # Errors
/// When the site cannot be built or read.
pub(crate) fn book(root: &Path, mdbook: &Path) -> Result<bool> {
    if !step::run(program(root, mdbook).arg("build"))?.ok {
        return Ok(false);
    }
    let mut files = BTreeMap::new();
    read(&root.join(FOLDER), Path::new(""), &mut files)?;
    let dead = dead(&files);
    dead.iter().for_each(|link| println!("    {link}"));
    println!("    {} files in {FOLDER}, {} links that lead nowhere", files.len(), dead.len());
    Ok(dead.is_empty())
}

/// Builds the site alone.
///
/// # Errors
/// When it cannot be built, or a link leads nowhere.
pub(crate) fn build() -> Result<()> {
    let root = root()?;
    if book(&root, &mdbook(&root)?)? { Ok(()) } else { bail!("the site is not whole") }
}

/// Every file below `folder` by its path from there, with its text where it is a page.
fn read(folder: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Option<String>>) -> Result<()> {
    for entry in
        fs::read_dir(folder.join(below)).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read(folder, &path, files)?;
        } else {
            let is_page = path.extension().is_some_and(|extension| extension == "html");
            let page = if is_page { Some(fs::read_to_string(folder.join(&path))?) } else { None };
            files.insert(path, page);
        }
    }
    Ok(())
}

/// One sentence for each link within the site that leads to no file, or to no place in one.
fn dead(files: &BTreeMap<PathBuf, Option<String>>) -> Vec<String> {
    let pages = || files.iter().filter_map(|(path, page)| Some((path.as_path(), page.as_deref()?)));
    let places: BTreeMap<&Path, BTreeSet<&str>> =
        pages().map(|(path, page)| (path, values(page, "id").collect())).collect();
    let mut dead = Vec::new();
    for (path, page) in pages() {
        for address in ADDRESSES.iter().flat_map(|name| values(page, name)) {
            // Other sites are theirs to keep; an address of the host is that of this site, for the page 404.
            if address.contains(':') || address.starts_with('/') {
                continue;
            }
            let (file, place) = address.split_once('#').map_or((address, None), |(f, p)| (f, Some(p)));
            let to = if file.is_empty() { path.to_path_buf() } else { beside(path, file) };
            let is_there = files.contains_key(&to)
                && place.is_none_or(|place| {
                    place.is_empty() || places.get(to.as_path()).is_some_and(|ids| ids.contains(place))
                });
            if !is_there {
                dead.push(format!("{}: `{address}` leads nowhere", path.display()));
            }
        }
    }
    dead
}

/// The values of an attribute, as mdBook writes it: after a blank, in double quotes.
fn values<'a>(page: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let before = format!(" {name}=\"");
    let found: Vec<&str> =
        page.split(&*before).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
    found.into_iter()
}

/// Where an address of the page at `path` leads, from the root of the site.
fn beside(path: &Path, address: &str) -> PathBuf {
    let mut to = path.parent().map(PathBuf::from).unwrap_or_default();
    for part in Path::new(address).components() {
        match part {
            Component::ParentDir => {
                to.pop();
            }
            Component::Normal(name) => to.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page = |text: &str| Some(String::from(text));
        let found = |page_of_a: &str| {
            dead(&BTreeMap::from([
                (PathBuf::from("a.html"), page(page_of_a)),
                (
                    PathBuf::from("c/b.html"),
                    page(r##"<h1 id="b"><a href="../a.html">a</a><a href="#b">b</a>"##),
                ),
                (PathBuf::from("c/d.css"), None),
            ]))
        };
        for whole in ["c/b.html", "c/b.html#b", "c/d.css", "https://a.example/b.html", "#", "/callwright/"] {
            assert_eq!(found(&format!(r#"<a href="{whole}">"#)), Vec::<String>::new(), "{whole}");
        }
        for nowhere in ["b.html", "c/b.html#a", "c/d.css#b", "#b"] {
            assert_eq!(
                found(&format!(r#"<img src="{nowhere}">"#)),
                [format!("a.html: `{nowhere}` leads nowhere")]
            );
        }
    }
}
