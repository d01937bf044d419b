//! JSON values that keep the spelling of their numbers and the order of their members.

use callwright_value::json;
use callwright_value::{Number, Value};

/// Whole numbers beyond 64 bits, what no double can hold, and what doubles spell otherwise.
const ODD: &str = r#"{"z":123456789012345678901234567890,"a":[1e400,0.10,-0,1E5,1.0,-1.5e-400,18446744073709551615],"m":{"y":1,"b":2}}"#;

#[test]
fn texts_come_out_as_they_went_in() {
    let value: Value = ODD.parse().unwrap();
    assert_eq!(value.to_string(), ODD);
    assert_eq!(serde_json::from_slice::<Value>(ODD.as_bytes()).unwrap(), value);
    assert_eq!(serde_json::to_vec(&value).unwrap(), ODD.as_bytes());
    assert_eq!(Value::of(&value).unwrap(), value);
    assert_eq!(value.to::<Value>().unwrap(), value);
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Around {
        inner: Value,
    }
    let around = format!(r#"{{"inner":{ODD}}}"#);
    let read: Around = serde_json::from_str(&around).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), around);
}

/// Behind a tag or `flatten`, serde has read the value into its own form, without the spelling of numbers.
#[test]
fn what_serde_holds_back_is_read_too() {
    #[derive(serde::Deserialize)]
    #[serde(tag = "t")]
    enum Tagged {
        A { inner: Value },
    }
    let Tagged::A { inner } = serde_json::from_str(r#"{"t":"A","inner":{"b":[1.5,-2,"x",null]}}"#).unwrap();
    assert_eq!(inner, json!({"b": [1.5, -2, "x", null]}));
    let table: Value = toml::from_str("b = 1\n[a]\nx = 1.5\nlist = [true]").unwrap();
    assert_eq!(table, json!({"b": 1, "a": {"x": 1.5, "list": [true]}}));
    let other = serde_json::json!({"b": [1.5, {"x": null}]});
    assert_eq!(Value::from(&other), json!({"b": [1.5, {"x": null}]}));
    assert_eq!(serde_json::from_value::<Value>(other.clone()).unwrap(), Value::from(other));
}

#[test]
fn what_is_no_value_is_refused() {
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (text, why) in [
        ("", "EOF"),
        ("{\"a\": 1,}", "key must be a string"),
        ("[1] 2", "trailing characters"),
        (r#"{"a": "\ud800"}"#, "half a surrogate pair"),
        (r#"{"\udc00": 1}"#, "half a surrogate pair"),
        (&nested, "nested"),
    ] {
        let error = text.parse::<Value>().unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn the_last_of_equal_keys_counts() {
    assert_eq!(r#"{"a":1,"b":2,"a":3}"#.parse::<Value>().unwrap().to_string(), r#"{"a":3,"b":2}"#);
}

#[test]
fn pointers_lead_to_values() {
    let mut value = json!({"a/b": [1, {"~": 2}], "": 3});
    assert_eq!(value.pointer(""), Some(&value));
    assert_eq!(value.pointer("/a~1b/1/~0"), Some(&json!(2)));
    assert_eq!(value.pointer("/"), Some(&json!(3)));
    for nothing in ["a", "/a~1b/01", "/a~1b/+1", "/a~1b/2", "/a~1b/0/x"] {
        assert_eq!(value.pointer(nothing), None, "{nothing}");
    }
    *value.pointer_mut("/a~1b/0").unwrap() = json!("x");
    assert_eq!(value["a/b"][0], "x");
}

#[test]
fn objects_are_equal_in_any_order_and_numbers_by_their_text() {
    assert_eq!(json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}));
    assert_ne!("1.0".parse::<Value>().unwrap(), "1.00".parse::<Value>().unwrap());
}

#[test]
fn only_numbers_of_json_are_numbers() {
    for number in ["0", "-0", "1e400", "0.10", "-12.5E-3"] {
        assert_eq!(Number::new(number).unwrap().as_str(), number);
    }
    for other in ["", "01", "+1", ".5", "1.", "NaN", "\"1\"", "[1]"] {
        assert_eq!(Number::new(other), None, "{other}");
    }
}

#[test]
fn a_number_is_given_where_it_fits() {
    let number = |text: &str| Number::new(text).unwrap();
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551615").as_i64(), None);
    assert_eq!(number("1.0").as_i64(), None);
    assert_eq!(number("1.50").as_f64(), Some(1.5));
    assert_eq!(number("1e400").as_f64(), None);
    assert_eq!(Number::from_f64(f64::NAN), None);
    assert_eq!(Number::from_f64(1.0).unwrap().as_str(), "1.0");
}
