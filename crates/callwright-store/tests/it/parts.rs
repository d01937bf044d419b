//! What the requests of a conversation have in common is written once, and read back to the byte.

use callwright_store::{
    Became, Filter, Masking, NewNode, NewTurn, NodeKind, Retention, Secrets, Store, StoreConfig, now,
};
use callwright_value::json;
use sqlx::Row;

use crate::places::{database, each, folder, run, turn};

/// The body of the `n`th request of a conversation, whose answers and results are of some length.
fn body(session: &str, n: usize) -> String {
    let said = |n: usize| {
        let result: String = (0..40_u64)
            .map(|k| format!("{:x} ", (k + 7 * n as u64).wrapping_mul(0x9e37_79b9_7f4a)))
            .collect();
        format!(
            r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}"}}]}},{{"role":"tool","content":"{result}"}}"#
        )
    };
    let history: String = (0..n).map(said).collect();
    format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"Find {session}"}}{history}],"tools":[{{"name":"run_code"}}]}}"#
    )
}

/// The turn that it makes: the same body came and went on.
fn request(session: &str, n: usize) -> NewTurn {
    let mut turn = turn(session, &format!("needle{n}"), Became::Passed);
    for node in &mut turn.nodes {
        node.body = Some(body(session, n));
    }
    turn
}

#[test]
fn a_conversation_is_read_back_as_it_was() {
    each(async |store| {
        for n in 0..30 {
            store.write(request("a", n)).await.unwrap();
            store.write(request("b", n)).await.unwrap();
        }
        for name in ["a", "b"] {
            let session = store.session(name).await.unwrap().unwrap();
            let bodies: Vec<String> = session.nodes.iter().filter_map(|node| session.body(node)).collect();
            assert_eq!(bodies.len(), 60);
            for (n, told) in bodies.chunks(2).enumerate() {
                assert_eq!(told, [body(name, n), body(name, n)]);
            }
            // One by one, and in a file.
            let (_, last) = store.node(name, session.summary.nodes).await.unwrap().unwrap();
            assert_eq!(last.unwrap(), body(name, 29));
            let dump = store.dump(name).await.unwrap().unwrap().into_session();
            assert_eq!(dump.body(dump.nodes.last().unwrap()).unwrap(), body(name, 29));
            // 59 messages and the tools.
            assert_eq!(dump.parts.len(), 60);
        }
        let filter = Filter { text: Some("needle17".into()), ..Filter::default() };
        assert_eq!(store.sessions(filter, None, 5).await.unwrap().sessions.len(), 2);
    });
}

#[test]
fn a_request_takes_no_more_room_the_longer_its_session_gets() {
    each(async |store| {
        let mut bytes: Vec<i64> = vec![0];
        for n in 0..120 {
            store.write(request("a", n)).await.unwrap();
            let row = sqlx::query("SELECT bytes FROM sessions").fetch_one(&mut database(&store).await).await;
            bytes.push(row.unwrap().get(0));
        }
        let grown = |from: usize| (bytes[from + 20] - bytes[from]) / 20;
        assert!(grown(100) <= grown(10) * 21 / 20, "{} bytes a turn became {}", grown(10), grown(100));
    });
}

#[test]
fn a_secret_is_found_wherever_a_body_is_cut() {
    let secrets = Secrets::default();
    // The end of one message and the beginning of the next one.
    secrets.keep(r#"end"},{"role":"user","content":"begin"#);
    secrets.keep("hunterzwozwoundmehr");
    let masking = Masking::new(secrets.clone(), &[String::from(r#"tick"\},\{"role":"\w+"#)]).unwrap();
    let config = StoreConfig { masking, ..StoreConfig::at(folder().join("callwright.db")) };
    let store = Store::open(config).unwrap();
    let said = |texts: &[&str]| {
        let messages: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"role":"user","content":"{text}"}}"#)).collect();
        format!(r#"{{"messages":[{}],"user":"hunterzwozwoundmehr"}}"#, messages.join(","))
    };
    let key = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEA", "-----END RSA PRIVATE KEY-----"];
    // Each alone holds no secret, and each is known by the time that they stand beside each other.
    for texts in [
        vec!["end", "x", "begin", "tick", "y", "hunterzwozwoundmehr", key[1]],
        vec![key[0]],
        vec![key[2]],
        vec!["end", "begin", "z"],
        vec!["tick", "y"],
        vec!["x", key[0], key[1], key[2], "x"],
        vec!["x", key[0], key[1], key[2], "x", "later"],
    ] {
        let body = said(&texts);
        let mut turn = turn("s", "x", Became::Passed);
        turn.nodes[1].body = Some(body.clone());
        let written = run(store.write(turn)).unwrap();
        let number = *written.numbers.last().unwrap();
        let kept = run(store.node("s", number)).unwrap().unwrap().1.unwrap();
        assert_eq!(kept.len(), body.len(), "places in it stay true: {kept}");
        let across = r#"end"},{"role":"user","content":"begin"#;
        for secret in [across, r#"tick"},{"#, "hunterzwo", r#"KEY-----"},{"#] {
            assert!(!kept.contains(secret), "{secret} of {body} is in {kept}");
        }
        assert_eq!(kept.contains(key[1]), texts.len() == 7, "{kept}");
    }
    // What becomes known to be secret later is masked from then on, though it was written before.
    secrets.keep("later and later");
    let mut turns = ["one", "two"].map(|_| {
        let mut turn = turn("t", "x", Became::Passed);
        turn.nodes[1].body = Some(said(&["sixteen letters."]));
        turn
    });
    run(store.write(turns[0].clone())).unwrap();
    secrets.keep("sixteen letters.");
    turns[1].nodes[1].answer = None;
    let written = run(store.write(turns[1].clone())).unwrap();
    let kept = run(store.node("t", *written.numbers.last().unwrap())).unwrap().unwrap().1.unwrap();
    assert!(!kept.contains("sixteen") && kept.contains("****************"), "{kept}");
}

/// More comes than may be kept, all the time: what is there is the newest.
#[test]
fn the_newest_is_kept() {
    const MOST: u64 = 100_000;
    let retention = Retention { days: 30, bytes: MOST };
    let config = StoreConfig { retention, ..StoreConfig::at(folder().join("callwright.db")) };
    let store = Store::open(config).unwrap();
    run(async {
        let begin = now() - 1_000_000;
        for n in 0..400 {
            let mut turn = request(&format!("s{n}"), 3);
            turn.turn.at = begin + n;
            store.write(turn).await.unwrap();
        }
        store.append("s0", vec![NewNode::new(NodeKind::Note, json!({}))]).await.unwrap();
        store.delete("s0").await.unwrap();
        let page = store.sessions(Filter::default(), None, 1000).await.unwrap();
        let ids: Vec<String> = page.sessions.iter().map(|summary| summary.id.clone()).collect();
        let newest: Vec<String> = (0..400).rev().take(ids.len()).map(|n| format!("s{n}")).collect();
        assert_eq!(ids, newest);
        assert!((20..390).contains(&ids.len()), "{}", ids.len());
    });
}
