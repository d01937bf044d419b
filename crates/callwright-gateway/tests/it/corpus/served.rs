//! A gateway in this process, in front of one upstream.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;

use callwright::json;
use callwright::value::{Map, Value};
use callwright_gateway::{Gateway, GatewayConfig, ServerConfig, Signals, Stop};
use callwright_relay::UpstreamKind;
use callwright_relay::config::{Mode, ModelConfig, RelayConfig, UpstreamConfig};

use crate::corpus::case::ModelMode;

/// A running gateway. It stops when it is dropped.
pub(crate) struct Served {
    pub(crate) base_url: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Starts one in front of `upstream`, whose models all have native calls.
    pub(crate) fn in_front_of(upstream: &str) -> Served {
        Served::with(upstream, ModelMode::Native)
    }

    /// Starts one in front of `upstream`, whose models are all configured like this.
    pub(crate) fn with(upstream: &str, mode: ModelMode) -> Served {
        Served::of_kind(upstream, mode, None)
    }

    /// The same for an upstream of which it is said, or not, which API it speaks.
    pub(crate) fn of_kind(upstream: &str, mode: ModelMode, kind: Option<UpstreamKind>) -> Served {
        Served::set((upstream, kind), mode, &Map::new(), None)
    }

    /// The same with this in its configuration, and with another upstream, whose model `big` is asked where others fail.
    pub(crate) fn set(
        (upstream, kind): (&str, Option<UpstreamKind>),
        mode: ModelMode,
        set: &Map,
        second: Option<(&str, Option<UpstreamKind>)>,
    ) -> Served {
        let config = GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            server: ServerConfig { workers: 1, ..ServerConfig::default() },
            ..GatewayConfig::default()
        };
        let at = |name: &str, base_url: &str, kind| {
            let upstream: UpstreamConfig = from(
                json!({ "name": name, "base_url": base_url, "retries": 0, "headers": { "x-whose": name } }),
            );
            UpstreamConfig { kind, ..upstream }
        };
        let model: ModelConfig = from(json!({ "pattern": "*" }));
        let model = ModelConfig { mode: configured(mode), ..model };
        let mut relay: RelayConfig = from(set.clone().into());
        relay.upstreams.push(at("replay", upstream, kind));
        relay.models.push(model.clone());
        if let Some((base_url, kind)) = second {
            relay.upstreams.push(at("second", base_url, kind));
            let named = |name: &str| vec![String::from(name)];
            let big = json!({ "pattern": "big", "upstreams": ["second"], "mode": "native" });
            let escalate = Some(String::from("big"));
            relay.models = vec![from(big), ModelConfig { escalate, upstreams: named("replay"), ..model }];
        }
        let gateway = Gateway::new(config, relay, &|_| None).unwrap_or_else(|error| panic!("{error}"));
        let base_url = format!("http://{}/v1", gateway.address().unwrap());
        let stop = gateway.stop();
        let thread = std::thread::spawn(move || gateway.run(Signals::Ignore).unwrap());
        Served { base_url, stop, thread: Some(thread) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.close();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the gateway panicked");
    }
}

fn configured(mode: ModelMode) -> Option<Mode> {
    match mode {
        ModelMode::Native => Some(Mode::Native),
        ModelMode::Prompt => Some(Mode::Prompt),
        ModelMode::Auto => None,
    }
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    value.to().unwrap()
}
