//! Which upstream is asked for a model: by configuration, by health, by load.

use std::sync::Arc;

use bytes::Bytes;
use callwright_relay::config::RelayConfig;
use callwright_relay::upstream::{Route, Upstreams};
use http::HeaderMap;

use crate::common::{Reply, Server, json};

const PATH: &str = "/chat/completions";

fn pool(a: &Server, b: &Server, models: &str) -> Upstreams {
    let config: RelayConfig = toml::from_str(&format!(
        "[[upstreams]]\nname = 'a'\nbase_url = '{}'\nretries = 0\n\
         [[upstreams]]\nname = 'b'\nbase_url = '{}'\nretries = 0\nmodels = ['qwen*']\n{models}",
        a.base_url(),
        b.base_url(),
    ))
    .unwrap();
    Upstreams::new(&config, &|_| None).unwrap()
}

fn names(route: &Route) -> Vec<&str> {
    route.candidates.iter().map(|candidate| candidate.upstream.name()).collect()
}

async fn ask(route: &Route) {
    let first = &route.candidates[0].upstream;
    if let Ok(answer) = first.post(PATH, Bytes::new(), &HeaderMap::new()).await {
        answer.body.whole(100).await.unwrap();
    }
}

#[tokio::test]
async fn the_configuration_says_who_serves_a_model() {
    let server = Server::start(|_, _| json(200, "{}")).await;
    let upstreams = pool(
        &server,
        &server,
        "[[models]]\npattern = 'fast'\nrename = 'vendor/fast-1'\nupstreams = ['b', 'a']\n\
         [[models]]\npattern = '*'\nrename = 'too late'\nupstreams = ['a']",
    );
    let route = upstreams.route("fast");
    assert_eq!(names(&route), ["b", "a"]);
    assert_eq!(route.candidates[0].model, "vendor/fast-1");
    assert_eq!(route.config.as_ref().map(|config| config.pattern.as_str()), Some("fast"));
    let upstreams = pool(&server, &server, "");
    assert_eq!(names(&upstreams.route("qwen2.5")), ["a", "b"]);
    assert_eq!(names(&upstreams.route("gpt-4o")), ["a"]);
    assert_eq!(upstreams.route("gpt-4o").candidates[0].model, "gpt-4o");
}

#[tokio::test]
async fn one_that_fails_is_asked_last() {
    let failing = Server::start(|_, _| json(503, "{}")).await;
    let well = Server::start(|_, _| json(200, "{}")).await;
    for routing in ["ordered", "least_busy"] {
        let models = format!("[[models]]\npattern = '*'\nupstreams = ['a', 'b']\nrouting = '{routing}'");
        let upstreams = pool(&failing, &well, &models);
        assert_eq!(upstreams.route("m").candidates.len(), 2);
        for _ in 0..4 {
            ask(&upstreams.route("m")).await;
        }
        assert_eq!(names(&upstreams.route("m")), ["b", "a"], "{routing}");
        assert!(0.0 < upstreams.all()[0].error_rate() && upstreams.all()[1].error_rate() == 0.0);
    }
}

/// S3-61: by load. A slow upstream gets one request and, as long as it works on it, no other.
#[tokio::test]
async fn a_slow_one_gets_no_more_than_it_can_do() {
    let slow = Server::start(|_, _| Reply::Hold(String::new())).await;
    let fast = Server::start(|_, _| json(200, "{}")).await;
    let models = "[[models]]\npattern = '*'\nupstreams = ['a', 'b']\nrouting = 'least_busy'";
    let upstreams = Arc::new(pool(&slow, &fast, models));
    assert_eq!(names(&upstreams.route("m")), ["a", "b"]);
    let slow_one = Arc::clone(&upstreams.all()[0]);
    let held = tokio::spawn(async move { slow_one.post(PATH, Bytes::new(), &HeaderMap::new()).await });
    slow.arrived.notified().await;
    for _ in 0..20 {
        ask(&upstreams.route("m")).await;
    }
    assert_eq!((slow.seen().len(), fast.seen().len()), (1, 20));
    held.abort();
    assert!(held.await.is_err());
    // Where none has work, they take turns.
    let firsts: Vec<String> = (0..4).map(|_| names(&upstreams.route("m"))[0].to_owned()).collect();
    assert!(firsts.contains(&"a".to_owned()) && firsts.contains(&"b".to_owned()), "{firsts:?}");
}

#[tokio::test]
async fn in_order_a_slow_one_is_still_the_first() {
    let server = Server::start(|_, _| Reply::Hold("HTTP/1.1 200 OK\r\n\r\n".to_owned())).await;
    let upstreams = pool(&server, &server, "");
    let _held = upstreams.all()[0].post(PATH, Bytes::new(), &HeaderMap::new()).await.unwrap();
    assert_eq!(upstreams.all()[0].open_requests(), 1);
    assert_eq!(names(&upstreams.route("qwen")), ["a", "b"]);
}
