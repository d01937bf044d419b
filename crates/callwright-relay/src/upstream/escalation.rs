//! Holds the configured second models against the upstreams: each has an upstream, and none leads back.

use super::error::ConfigError;
use super::{Upstreams, serves};
use crate::config::{ModelConfig, fits};

impl Upstreams {
    /// Checks the second model of each pattern.
    ///
    /// # Errors
    /// No upstream serves `big` of `escalate = "big"`, or `big` comes back to the pattern that it was asked for.
    pub(super) fn check_second_models(&self) -> Result<(), ConfigError> {
        let all: Vec<&ModelConfig> = self.models.iter().map(|model| &*model.config).collect();
        for (first, config) in all.iter().enumerate() {
            let Some(to) = &config.escalate else { continue };
            let error =
                |why| Err(ConfigError::Escalation { model: config.pattern.clone(), to: to.clone(), why });
            if !self.is_served(to) {
                return error("no upstream serves this model");
            }
            let mut met = vec![first];
            let mut next = to;
            while let Some(at) = all.iter().position(|config| fits(&config.pattern, next)) {
                match (at == first, met.contains(&at)) {
                    // One pattern for all models holds the second one as well, which has nobody behind it.
                    (true, _) if met.len() == 1 && config.pattern != *to => break,
                    (true, _) => return error("it leads back to the model that could not answer"),
                    // A ring that this pattern only leads to is told of at one of its own.
                    (false, true) => break,
                    (false, false) => {}
                }
                met.push(at);
                let Some(further) = all.get(at).and_then(|config| config.escalate.as_ref()) else { break };
                next = further;
            }
        }
        Ok(())
    }

    /// Returns whether an upstream may have this model.
    fn is_served(&self, model: &str) -> bool {
        let named = self.known(model).and_then(|known| known.upstreams.as_ref());
        named.is_some() || self.all.iter().any(|upstream| serves(upstream, model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{RelayConfig, UpstreamConfig};

    /// Returns the fault of these pairs of a pattern and its second model.
    fn why(models: &[(&str, &str)]) -> Option<String> {
        let model = |(pattern, to): &(&str, &str)| ModelConfig {
            escalate: Some((*to).to_owned()).filter(|to| !to.is_empty()),
            ..ModelConfig::new(pattern)
        };
        let mut upstream = UpstreamConfig::new("local", "http://127.0.0.1:1/v1");
        upstream.models = ["small*", "big*"].map(String::from).to_vec();
        let config = RelayConfig {
            upstreams: vec![upstream],
            models: models.iter().map(model).collect(),
            ..RelayConfig::default()
        };
        Upstreams::new(&config, &|_| None).err().map(|error| error.to_string())
    }

    #[test]
    fn a_second_model_is_served_and_leads_nowhere_back() {
        for models in [
            &[("small", "big")][..],
            // One pattern holds both.
            &[("*", "big")],
            &[("small", "big"), ("big", "")],
            // Nobody follows it: a second model is the last.
            &[("small-1", "small-2"), ("small-2", "big")],
        ] {
            assert_eq!(why(models), None, "{models:?}");
        }
        let served = "model `small`: escalate = \"other\": no upstream serves this model";
        assert_eq!(why(&[("small", "other")]).as_deref(), Some(served));
        for models in [
            &[("small", "small")][..],
            &[("small", "big"), ("big", "small")],
            &[("small-1", "small-2"), ("small-2", "big"), ("big*", "small-1")],
        ] {
            let why = why(models).unwrap_or_default();
            assert!(why.ends_with("it leads back to the model that could not answer"), "{models:?}: {why}");
        }
    }

    #[test]
    fn a_model_has_no_second_that_is_itself() {
        let config = RelayConfig {
            upstreams: vec![UpstreamConfig::new("local", "http://127.0.0.1:1/v1")],
            models: vec![ModelConfig { escalate: Some(String::from("big")), ..ModelConfig::new("*") }],
            ..RelayConfig::default()
        };
        let upstreams = Upstreams::new(&config, &|_| None).unwrap();
        assert_eq!((upstreams.second("small"), upstreams.second("big")), (Some("big"), None));
    }
}
