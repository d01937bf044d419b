//! `callwright serve --check`: what is configured, and where each part comes from. Never a key.

use std::io::{self, Write};

use callwright_agent::mcp::ServerConfig;
use callwright_relay::config::{Mode, ModelConfig, Routing, UpstreamConfig};

use super::Config;
use super::origin::{Env, shown};
use crate::dialects;
use crate::harmless::harmless;

/// Prints what was found.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn print(config: &Config, env: Env<'_>, out: &mut dyn Write) -> io::Result<()> {
    let settings = &config.settings;
    let file = config.file.as_deref().map_or_else(|| "none".into(), shown);
    line(out, "file", &file, "")?;
    line(out, "listen", &settings.listen, &origin(config, "listen"))?;
    let needs = match settings.keys.len() {
        0 => "none are needed".to_owned(),
        1 => "1 is accepted".to_owned(),
        n => format!("{n} are accepted"),
    };
    line(out, "client keys", &needs, &origin(config, "keys"))?;
    line(out, "policy", settings.policy.name(), &origin(config, "policy"))?;
    let model = settings.default_model.as_deref().unwrap_or("none");
    line(out, "default model", model, &origin(config, "default_model"))?;
    line(out, "store", &kept(config, env), &origin(config, "store.at"))?;
    for upstream in &settings.upstreams {
        line(out, "upstream", &described(upstream, env), &origin(config, "upstreams"))?;
    }
    for model in &settings.models {
        line(out, "model", &set_for(model), &origin(config, "models"))?;
    }
    for dialect in config.dialects.own() {
        line(out, "dialect", &dialects::described(dialect), &origin(config, "dialect"))?;
    }
    for (name, server) in &settings.mcp {
        line(out, "MCP server", &reached(name, server), &origin(config, "mcp"))?;
    }
    let above = ["listen", "policy", "default_model", "store.at"];
    for (key, value) in config.values.iter().filter(|(key, _)| !above.contains(key)) {
        line(out, "set", &format!("{key} = {value}"), &origin(config, key))?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, what: &str, value: &str, origin: &str) -> io::Result<()> {
    let origin = if origin.is_empty() { String::new() } else { format!("  ({origin})") };
    writeln!(out, "{what:14} {}{origin}", harmless(value))
}

fn origin(config: &Config, key: &str) -> String {
    config.origins.get(key).map_or_else(|| "default".into(), ToString::to_string)
}

/// Tells the place where requests are kept.
fn kept(config: &Config, env: Env<'_>) -> String {
    match config.keep(env, &Default::default()) {
        Ok(Some(keep)) => keep.store.location.to_string(),
        Ok(None) => "off".into(),
        Err(failure) => failure.to_string(),
    }
}

fn described(upstream: &UpstreamConfig, env: Env<'_>) -> String {
    let key = match &upstream.key_env {
        None => "no key".to_owned(),
        Some(name) if env(name).is_some() => format!("key from {name}"),
        Some(name) => format!("key from {name}, which is not set"),
    };
    let models = match upstream.models.as_slice() {
        [] => "all models".to_owned(),
        patterns => format!("models {}", patterns.join(", ")),
    };
    // A query may hold a key.
    let url = upstream.base_url.split('?').next().unwrap_or_default();
    let kind = upstream.kind.map_or_else(String::new, |kind| format!(", kind {}", kind.name()));
    format!("{} at {url}{kind}, {key}, {models}", upstream.name)
}

fn reached(name: &str, server: &ServerConfig) -> String {
    match (&server.command, &server.url) {
        (Some(command), _) => format!("{name}: {command} {}", server.args.join(" ")),
        // A query may hold a key.
        (None, Some(url)) => format!("{name} at {}", url.split('?').next().unwrap_or_default()),
        (None, None) => format!("{name}: neither command nor url"),
    }
}

fn set_for(model: &ModelConfig) -> String {
    let mut parts = Vec::new();
    parts.extend(model.rename.as_deref().map(|name| format!("named {name} upstream")));
    if !model.upstreams.is_empty() {
        parts.push(format!("upstreams {}", model.upstreams.join(", ")));
    }
    match model.routing {
        Routing::Ordered => {}
        Routing::LeastBusy => parts.push("the least busy first".into()),
        Routing::Right => parts.push("the one whose calls are right more often first".into()),
    }
    parts.extend(model.mode.map(Mode::name).map(|mode| format!("mode {mode}")));
    parts.extend(model.dialect.as_deref().map(|dialect| format!("dialect {dialect}")));
    parts.extend(model.only_dialect.as_deref().map(|dialect| format!("read as {dialect} only")));
    parts.extend(model.max_tokens_cap.map(|tokens| format!("at most {tokens} tokens")));
    parts.extend(model.num_ctx.map(|tokens| format!("a context of {tokens} tokens at Ollama's own API")));
    parts.extend(model.calls_in_reasoning.map(|calls| format!("calls in reasoning: {}", calls.name())));
    parts.extend(model.policy.map(|policy| format!("policy {}", policy.name())));
    parts.extend(model.escalate.as_deref().map(|model| format!("then {model}")));
    format!("{}: {}", model.pattern, parts.join(", "))
}
