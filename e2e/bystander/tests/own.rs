//! What a user's own types and values are, with Callwright in the graph or without: the same.
#![cfg(not(feature = "others"))]

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, from_str, json};

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "type")]
enum Tagged {
    Temp { c: f64 },
}

#[derive(Debug, Deserialize, PartialEq)]
struct Flattened {
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    more: HashMap<String, Value>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Inner {
    c: f64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Untagged {
    F(f64),
    S(String),
}

#[test]
fn tagged_floats_are_floats() {
    assert_eq!(from_str::<Tagged>(r#"{"type":"Temp","c":1.5}"#).unwrap(), Tagged::Temp { c: 1.5 });
}

#[test]
fn flattened_floats_are_floats() {
    let read = from_str::<Flattened>(r#"{"c":1.5,"d":2.5}"#).unwrap();
    assert_eq!(read.inner, Inner { c: 1.5 });
    assert_eq!(read.more, HashMap::from([("d".to_owned(), json!(2.5))]));
}

#[test]
fn untagged_floats_are_floats() {
    assert_eq!(from_str::<Untagged>("1.5").unwrap(), Untagged::F(1.5));
    assert_eq!(from_str::<Untagged>("\"x\"").unwrap(), Untagged::S("x".into()));
}

#[test]
fn maps_are_sorted() {
    assert_eq!(from_str::<Value>(r#"{"b":1,"a":2}"#).unwrap().to_string(), r#"{"a":2,"b":1}"#);
}

#[test]
fn numbers_are_equal_by_value() {
    assert_eq!(json!(1.0), from_str::<Value>("1.00").unwrap());
    assert_eq!(from_str::<Value>("1.00").unwrap().to_string(), "1.0");
    assert!(from_str::<Value>("1e400").is_err());
}
