//! The layer table: which crate may know which, read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use steps::root;

/// What a crate's resolved dependencies, its own and theirs, must not hold.
struct Layer {
    name: &'static str,
    never: &'static [&'static str],
}

const DATABASES: [&str; 5] = ["sqlx", "rusqlite", "postgres", "tokio-postgres", "diesel"];

/// Crates that do not exist yet have their rule already: it holds from their first day.
const LAYERS: &[Layer] = &[
    Layer { name: "callwright", never: &["tokio", "hyper", "reqwest", "tracing", "minijinja"] },
    Layer { name: "callwright-template", never: &["tokio", "hyper", "reqwest", "tracing"] },
    Layer {
        name: "callwright-relay",
        never: &["axum", "sqlx", "rusqlite", "postgres", "tokio-postgres", "diesel", "callwright-store"],
    },
    Layer {
        name: "callwright-store",
        never: &["callwright", "callwright-relay", "callwright-gateway", "callwright-agent", "axum"],
    },
    Layer {
        name: "callwright-view",
        never: &[
            "callwright-relay",
            "callwright-store",
            "callwright-gateway",
            "callwright-agent",
            "axum",
            "tokio",
        ],
    },
    Layer { name: "callwright-gateway", never: &["callwright-agent", "callwright-replay"] },
    Layer { name: "callwright-value", never: &["callwright", "tokio"] },
    Layer { name: "callwright-schema", never: &["callwright", "tokio"] },
    Layer {
        name: "callwright-replay",
        never: &["callwright", "callwright-relay", "callwright-gateway", "axum"],
    },
    Layer { name: "callwright-agent", never: &["callwright-gateway", "axum"] },
    Layer {
        name: "callwright-python",
        never: &["callwright-relay", "callwright-store", "callwright-gateway", "callwright-agent", "tokio"],
    },
    Layer {
        name: "callwright-wasm",
        never: &["callwright-relay", "callwright-store", "callwright-gateway", "callwright-agent", "tokio"],
    },
    Layer {
        name: "callwright-macros",
        never: &["callwright", "callwright-json", "callwright-relay", "callwright-agent", "tokio"],
    },
];

/// What reaches files or starts programs for a model, and who may have it.
const WALLS: [&str; 4] = ["cap-std", "landlock", "seccompiler", "rmcp"];
const ACTS: [&str; 1] = ["callwright-agent"];

/// Features that change what a crate does for all that use it. A build has each crate once, with the features that anyone
/// in it asks for: whoever adds one of ours to a program must not change the values that the program has of its own.
const FELT_BY_OTHERS: [(&str, &[&str]); 4] = [
    ("serde_json", &["arbitrary_precision", "preserve_order"]),
    ("minijinja", &["preserve_order"]),
    ("schemars", &["preserve_order"]),
    ("toml", &["preserve_order", "fast_hash"]),
];

/// The ways in from outside, which no crate takes.
const DOORS: [&str; 3] = ["callwright-cli", "callwright-python", "callwright-wasm"];

/// Who may use `anyhow`: the command, and the house's own programs. Both talk to a person.
const ANYHOW: [&str; 6] = ["callwright-cli", "e2e", "measure", "packaging", "steps", "xtask"];

/// Every breach of the table, one sentence each.
pub(crate) fn breaches() -> Result<Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root()?)
        .output()
        .context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    let metadata = serde_json::from_slice(&output.stdout).context("cargo metadata wrote no JSON")?;
    Ok(judge(&Graph::of(&metadata)?))
}

/// The resolved packages. Development dependencies are left out: they are in nobody's binary.
struct Graph {
    /// The workspace's own packages.
    members: BTreeSet<String>,
    /// Direct dependencies, by name.
    edges: BTreeMap<String, BTreeSet<String>>,
    /// The features that are on.
    features: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn of(metadata: &Value) -> Result<Graph> {
        let packages = metadata["packages"].as_array().context("no packages in cargo metadata")?;
        let names: BTreeMap<&str, &str> =
            packages.iter().filter_map(|p| Some((p["id"].as_str()?, p["name"].as_str()?))).collect();
        let named = |id: &Value| id.as_str().and_then(|id| names.get(id)).map(|name| name.to_string());
        let members =
            metadata["workspace_members"].as_array().into_iter().flatten().filter_map(named).collect();
        let nodes = metadata["resolve"]["nodes"].as_array().context("no resolved graph in cargo metadata")?;
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in nodes {
            let Some(from) = named(&node["id"]) else { continue };
            let on = node["features"].as_array().into_iter().flatten();
            features.entry(from.clone()).or_default().extend(on.filter_map(|f| Some(f.as_str()?.to_owned())));
            let used = node["deps"].as_array().into_iter().flatten().filter(|dep| is_built_in(dep));
            edges.entry(from).or_default().extend(used.filter_map(|dep| named(&dep["pkg"])));
        }
        Ok(Graph { members, edges, features })
    }

    fn direct(&self, name: &str) -> impl Iterator<Item = &str> {
        self.edges.get(name).into_iter().flatten().map(String::as_str)
    }

    /// All that is built into `name`, its own dependencies and theirs.
    fn closure<'g>(&'g self, name: &'g str) -> BTreeSet<&'g str> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = self.direct(name).collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(self.direct(next));
            }
        }
        seen
    }
}

fn is_built_in(dep: &Value) -> bool {
    dep["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
}

fn judge(graph: &Graph) -> Vec<String> {
    let mut breaches = Vec::new();
    if let Some(dep) = graph.closure("callwright-json").first() {
        breaches.push(format!("callwright-json depends on {dep}: it has no dependencies at all"));
    }
    for layer in LAYERS {
        let closure = graph.closure(layer.name);
        for name in layer.never.iter().filter(|name| closure.contains(**name)) {
            breaches.push(format!("{} depends on {name}, which its layer forbids", layer.name));
        }
    }
    // Of the whole workspace, the binary and the tests included: what is tested is what users get.
    for (name, felt) in FELT_BY_OTHERS {
        let on = graph.features.get(name).into_iter().flatten();
        for feature in on.filter(|feature| felt.contains(&feature.as_str())) {
            breaches.push(format!(
                "{name} has its feature {feature}, which changes it for all others in a build"
            ));
        }
    }
    for name in &graph.members {
        let direct: Vec<&str> = graph.direct(name).collect();
        for door in DOORS.iter().filter(|door| direct.contains(door)) {
            breaches.push(format!("{name} imports {door}: nothing does"));
        }
        if direct.contains(&"anyhow") && !ANYHOW.contains(&name.as_str()) {
            breaches.push(format!("{name} uses anyhow: libraries name their errors"));
        }
        // The store alone speaks to a database, and the gateway leaves model text to the engine.
        if name != "callwright-store" {
            for database in DATABASES.iter().filter(|database| direct.contains(database)) {
                breaches.push(format!(
                    "{name} depends on {database}: only callwright-store speaks to a database"
                ));
            }
        }
        // Who acts for a model stands behind the agent's rights and walls.
        if !ACTS.contains(&name.as_str()) {
            for wall in WALLS.iter().filter(|wall| direct.contains(wall)) {
                breaches.push(format!("{name} depends on {wall}: only callwright-agent acts for a model"));
            }
        }
        if name == "callwright-gateway" && direct.contains(&"callwright-json") {
            breaches.push(format!("{name} depends on callwright-json: it does not parse model text itself"));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        Graph {
            members: edges.iter().map(|(name, _)| name.to_string()).collect(),
            edges: edges
                .iter()
                .map(|(name, deps)| (name.to_string(), deps.iter().map(|d| d.to_string()).collect()))
                .collect(),
            features: BTreeMap::new(),
        }
    }

    #[test]
    fn the_allowed_direction_is_clean() {
        let fine = graph(&[
            ("callwright-json", &[]),
            ("callwright", &["callwright-json", "serde_json"]),
            ("callwright-cli", &["callwright", "anyhow"]),
        ]);
        assert_eq!(judge(&fine), Vec::<String>::new());
    }

    #[test]
    fn each_rule_finds_its_breach() {
        let finds = |edges: &[(&str, &[&str])], part: &str| {
            let breaches = judge(&graph(edges));
            assert!(breaches.iter().any(|b| b.contains(part)), "{part:?} not in {breaches:?}");
        };
        finds(&[("callwright-json", &["memchr"])], "no dependencies at all");
        finds(&[("callwright", &["jsonschema"]), ("jsonschema", &["reqwest"])], "depends on reqwest");
        finds(&[("callwright-relay", &["axum"])], "depends on axum");
        finds(&[("callwright-store", &["callwright-relay"])], "depends on callwright-relay");
        finds(&[("callwright-agent", &["callwright-gateway"])], "depends on callwright-gateway");
        finds(&[("callwright-gateway", &["callwright-json"])], "does not parse model text");
        finds(&[("callwright-gateway", &["sqlx"])], "only callwright-store");
        finds(&[("callwright-relay", &["cap-std"])], "only callwright-agent acts");
        finds(&[("callwright-macros", &["callwright"])], "depends on callwright,");
        finds(&[("callwright", &["anyhow"])], "uses anyhow");
        finds(&[("callwright-agent", &["callwright-cli"])], "imports callwright-cli");
        finds(&[("callwright-cli", &["callwright-python"])], "imports callwright-python");
        finds(&[("callwright-python", &["callwright-agent"])], "depends on callwright-agent");
    }

    #[test]
    fn a_feature_that_others_feel_is_a_breach() {
        let graph = |feature: &str| {
            let metadata = serde_json::json!({
                "packages": [{"id": "a", "name": "serde_json"}],
                "workspace_members": [],
                "resolve": {"nodes": [{"id": "a", "deps": [], "features": ["std", feature]}]},
            });
            judge(&Graph::of(&metadata).unwrap())
        };
        assert_eq!(graph("raw_value"), Vec::<String>::new());
        let breaches = graph("arbitrary_precision");
        assert!(breaches[0].contains("serde_json has its feature arbitrary_precision"), "{breaches:?}");
    }

    #[test]
    fn development_dependencies_do_not_count() {
        let metadata = serde_json::json!({
            "packages": [{"id": "a", "name": "callwright-json"}, {"id": "b", "name": "proptest"}],
            "workspace_members": ["a"],
            "resolve": {"nodes": [{"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": "dev"}]}]}]},
        });
        assert_eq!(judge(&Graph::of(&metadata).unwrap()), Vec::<String>::new());
    }
}
