//! What a model can do: who is asked, in which order, how often, and what is remembered.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use callwright::Dialects;
use callwright_relay::capability::{Capabilities, Capability, Evidence, Source, Strict, StrictHeld, places};
use callwright_relay::config::{CapabilityConfig, Constrain, RelayConfig};
use callwright_relay::upstream::Upstreams;

use crate::common::{Reply, Seen, Server, candidate, json, upstream, upstreams};

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// A clock that a test puts forward.
#[derive(Clone, Default)]
struct Now(Arc<AtomicU64>);

impl Now {
    fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::Relaxed);
    }

    fn capabilities(&self, config: &CapabilityConfig, upstreams: &Upstreams) -> Capabilities {
        let now = Arc::clone(&self.0);
        Capabilities::new(
            config,
            upstreams.all(),
            &Dialects::default(),
            Box::new(move || now.load(Ordering::Relaxed)),
        )
    }
}

fn in_memory(upstreams: &Upstreams) -> Capabilities {
    Now::default().capabilities(&CapabilityConfig::default(), upstreams)
}

/// A server that answers these lines with 200 and these bodies, and all others with 404.
async fn server(answers: &'static [(&'static str, &'static str)]) -> Server {
    Server::start(move |seen, _| known(seen, answers)).await
}

fn known(seen: &Seen, answers: &[(&str, &str)]) -> Reply {
    let path = seen.line.split('?').next().unwrap();
    answers.iter().find(|(line, _)| *line == path).map_or(json(404, "{}"), |(_, body)| json(200, body))
}

fn told(place: &str) -> Source {
    Source::Metadata(place.into())
}

/// What was seen, in which words, and when.
fn seen(source: &Source) -> (Evidence, &str, u64) {
    let Source::Experience(seen) = source else { panic!("{source:?}") };
    (seen.evidence, &seen.words, seen.since)
}

const LISTED: &[(&str, &str)] = &[(
    "GET /v1/models",
    r#"{"data":[
        {"id":"google/gemma-3-27b-it:free","supported_parameters":["max_tokens","temperature"]},
        {"id":"qwen/qwen3-32b","supported_parameters":["tools","tool_choice","structured_outputs"]},
        {"id":"anthropic/claude-3-5-haiku","supported_parameters":["tools"]},
        {"id":"meta-llama/llama-3.3-70b-instruct","supported_parameters":["tools","response_format"]},
        {"id":"deepseek/deepseek-chat","supported_parameters":["tools"]}
    ]}"#,
)];

/// Each process writes what it knows, and leaves what others have found out.
#[tokio::test]
async fn processes_share_a_file() {
    let server = server(LISTED).await;
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shared-capability");
    let _ = std::fs::remove_dir_all(&dir);
    let config = CapabilityConfig { dir: Some(dir.clone()), ..CapabilityConfig::default() };
    let now = Now::default();
    let one = upstreams(&[upstream("one", &server.base_url())]).unwrap();
    let two = upstreams(&[upstream("two", &server.base_url())]).unwrap();
    let (first, second) = (now.capabilities(&config, &one), now.capabilities(&config, &two));
    first.learn(&candidate(&one, "mine"), Evidence::Called, "").await;
    second.learn(&candidate(&two, "yours"), Evidence::Called, "").await;
    first.learn(&candidate(&one, "mine too"), Evidence::Called, "").await;
    let place = |upstream: &str| vec![(upstream.to_owned(), server.base_url())];
    assert_eq!(places(&dir, "mine"), place("one"));
    assert_eq!(places(&dir, "yours"), place("two"));
    assert_eq!(places(&dir, "nobody's"), []);
    let known = now.capabilities(&config, &two).what_is_known(&candidate(&two, "yours"));
    assert_eq!(seen(&known.tools_source).0, Evidence::Called);
    // What holds no more is left out by whoever writes next.
    now.set(2 * DAY);
    first.learn(&candidate(&one, "mine"), Evidence::Called, "").await;
    assert_eq!(places(&dir, "yours"), []);
}

#[tokio::test]
async fn servers_tell_in_ways_of_their_own() {
    type Answers = &'static [(&'static str, &'static str)];
    let models = |owner: &str| -> &'static str {
        let text =
            format!(r#"{{"object":"list","data":[{{"id":"m","object":"model","owned_by":"{owner}"}}]}}"#);
        Box::leak(text.into_boxed_str())
    };
    let ollama = |show| -> Answers {
        Box::leak(Box::new([("GET /v1/models", models("library")), ("POST /api/show", show)]))
    };
    let llama_cpp = |props| -> Answers {
        Box::leak(Box::new([("GET /v1/models", models("llamacpp")), ("GET /props", props)]))
    };
    let unknown = |line, body| -> Answers {
        Box::leak(Box::new([("GET /v1/models", models("somebody")), (line, body)]))
    };
    let listed = |entry: &str| -> Answers {
        let text = format!(r#"{{"data":[{{"id":"m",{entry}}}]}}"#);
        Box::leak(Box::new([("GET /v1/models", &*Box::leak(text.into_boxed_str()))]))
    };
    let vllm: Answers = Box::leak(Box::new([("GET /v1/models", models("vllm"))]));
    let lm_studio: Answers = Box::leak(Box::new([
        ("GET /v1/models", models("organization_owner")),
        ("GET /api/v0/models", r#"{"data":[{"id":"m","type":"llm","capabilities":["tool_use"]}]}"#),
    ]));
    let (schema, grammar, none) = (Constrain::JsonSchema, Constrain::Grammar, Constrain::None);
    let nothing = Source::Unknown;
    for (name, answers, tools, tools_source, constrain) in [
        (
            "Ollama",
            ollama(r#"{"capabilities":["completion","tools"]}"#),
            true,
            told("/api/show capabilities"),
            schema,
        ),
        (
            "Ollama, none",
            ollama(r#"{"capabilities":["completion"]}"#),
            false,
            told("/api/show capabilities"),
            schema,
        ),
        (
            "Ollama, old",
            ollama(r#"{"template":"{{ if .Tools }}"}"#),
            true,
            told("/api/show template"),
            schema,
        ),
        (
            "llama.cpp",
            llama_cpp(
                r#"{"build_info":"b1","chat_template":"{% if tools %}","chat_template_caps":{"supports_tools":true}}"#,
            ),
            true,
            told("/props chat_template"),
            grammar,
        ),
        (
            "llama.cpp would drop the tools: the template has none, whatever is said of it",
            llama_cpp(
                r#"{"build_info":"b1","chat_template":"{% for m in messages %}","chat_template_caps":{"supports_tools":true}}"#,
            ),
            false,
            told("/props chat_template"),
            grammar,
        ),
        (
            "llama.cpp would drop the tools: it says so, whatever the template mentions",
            llama_cpp(
                r#"{"build_info":"b1","chat_template":"{{ xml_tools }}","chat_template_caps":{"supports_tools":false}}"#,
            ),
            false,
            told("/props chat_template"),
            grammar,
        ),
        (
            "llama.cpp with a second template",
            llama_cpp(
                r#"{"build_info":"b1","chat_template":"{{ m }}","chat_template_tool_use":"{{ tools }}"}"#,
            ),
            true,
            told("/props chat_template"),
            grammar,
        ),
        ("vLLM", vllm, true, Source::Server("vLLM"), schema),
        ("LM Studio", lm_studio, true, told("/api/v0/models capabilities"), schema),
        (
            "LiteLLM",
            unknown(
                "GET /model/info",
                r#"{"data":[{"model_name":"m","model_info":{"supports_function_calling":true,"supports_response_schema":false}}]}"#,
            ),
            true,
            told("/model/info supports_function_calling"),
            none,
        ),
        (
            "llama.cpp that does not say its name",
            unknown("GET /props", r#"{"build_info":"b1","chat_template":"{{ tools }}"}"#),
            true,
            told("/props chat_template"),
            grammar,
        ),
        (
            "Mistral",
            listed(r#""owned_by":"mistralai","capabilities":{"function_calling":true}"#),
            true,
            told("/models capabilities"),
            none,
        ),
        ("by name alone", listed(r#""supports_tools":false"#), false, told("/models supports_tools"), none),
        (
            "an odd list",
            &[("GET /v1/models", r#"{"data":[{"id":7,"capabilities":"all"},{"id":"m"}]}"#)],
            true,
            nothing.clone(),
            none,
        ),
        ("no list", &[("GET /v1/models", "<html>")], true, nothing.clone(), none),
        ("nothing at all", &[], true, nothing, none),
    ] {
        let server = server(answers).await;
        let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
        let capability = in_memory(&upstreams).of(&candidate(&upstreams, "m")).await;
        assert_eq!((capability.tools, &capability.tools_source), (tools, &tools_source), "{name}");
        assert_eq!(capability.constrain, constrain, "{name}");
    }
}

/// S3-15, S3-16, S3-17: these families take no tools unless the upstream says that they do.
#[tokio::test]
async fn one_list_tells_of_all_its_models() {
    let server = server(LISTED).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let capabilities = in_memory(&upstreams);
    for (model, tools, source, constrain) in [
        ("qwen/qwen3-32b", true, told("/models supported_parameters"), Constrain::JsonSchema),
        ("google/gemma-3-27b-it:free", false, told("/models supported_parameters"), Constrain::None),
        ("anthropic/claude-3-5-haiku", true, told("/models supported_parameters"), Constrain::None),
        ("meta-llama/llama-3.3-70b-instruct", true, told("/models supported_parameters"), Constrain::None),
        ("deepseek/deepseek-chat", true, told("/models supported_parameters"), Constrain::None),
    ] {
        let capability = capabilities.of(&candidate(&upstreams, model)).await;
        assert_eq!((capability.tools, capability.tools_source), (tools, source), "{model}");
        assert_eq!(capability.constrain, constrain, "{model}");
    }
    assert_eq!(server.lines(), ["GET /v1/models"]);
    let variant = capabilities.of(&candidate(&upstreams, "qwen/qwen3-32b:nitro")).await;
    assert!(variant.tools);
}

/// S3-14 to S3-17: the table of families counts where a model that is tried out shows nothing.
#[tokio::test]
async fn where_the_upstream_is_silent_the_family_counts() {
    let server = server(&[]).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let capabilities = in_memory(&upstreams);
    for (model, tools, source) in [
        ("claude-3-5-haiku", true, Source::Family),
        ("llama-3.3", false, Source::Family),
        ("gemma-3-27b", false, Source::Family),
        ("qwen3-max", false, Source::Family),
        ("deepseek-v3.2", false, Source::Family),
        ("never-heard-of", true, Source::Unknown),
    ] {
        let capability = capabilities.of(&candidate(&upstreams, model)).await;
        assert_eq!((capability.tools, capability.tools_source), (tools, source), "{model}");
    }
    assert!(server.lines().contains(&"GET /v1/models".to_owned()));
}

/// S3-25: no request for a known model.
#[tokio::test]
async fn nobody_is_asked_about_what_is_known() {
    let server = server(LISTED).await;
    let configured = |extra: &str| -> Upstreams {
        let base_url = server.base_url();
        let text = format!("[[upstreams]]\nname = 'u'\nbase_url = '{base_url}'\n{extra}");
        Upstreams::new(&toml::from_str::<RelayConfig>(&text).unwrap(), &|_| None).unwrap()
    };
    let native = configured("[[models]]\npattern = '*'\nmode = 'native'");
    let capability = in_memory(&native).of(&candidate(&native, "google/gemma-3-27b-it:free")).await;
    assert_eq!((capability.tools, capability.tools_source), (true, Source::Configured));

    let prompt = configured("constrain = 'grammar'\n[[models]]\npattern = '*'\nmode = 'prompt'");
    let capability = in_memory(&prompt).of(&candidate(&prompt, "qwen/qwen3-32b")).await;
    assert_eq!(
        capability,
        Capability {
            tools: false,
            tools_source: Source::Configured,
            calls_in_text: false,
            demanded: None,
            constrain: Constrain::Grammar,
            constrain_source: Source::Configured,
            strict: Strict::None,
            strict_source: Source::Unknown,
            strict_held: StrictHeld::Unknown,
            template: None,
            server: None,
        }
    );

    let plain = configured("");
    let no_probe = CapabilityConfig { probe: false, ..CapabilityConfig::default() };
    let capabilities = Now::default().capabilities(&no_probe, &plain);
    let capability = capabilities.of(&candidate(&plain, "claude-3-5-haiku")).await;
    assert_eq!((capability.tools, capability.tools_source), (true, Source::Family));
    assert_eq!(server.lines(), [] as [&str; 0]);

    // How a prompt can be constrained is worth a question.
    let unconstrained = configured("[[models]]\npattern = '*'\nmode = 'prompt'");
    let capability = in_memory(&unconstrained).of(&candidate(&unconstrained, "qwen/qwen3-32b")).await;
    assert_eq!((capability.tools, capability.constrain), (false, Constrain::JsonSchema));
    assert_eq!(server.lines().len(), 1);
}

#[tokio::test]
async fn many_at_once_ask_one_time() {
    let server = server(LISTED).await;
    let upstreams = Arc::new(upstreams(&[upstream("u", &server.base_url())]).unwrap());
    let capabilities = Arc::new(in_memory(&upstreams));
    let askers: Vec<_> = (0..50)
        .map(|_| {
            let (upstreams, capabilities) = (Arc::clone(&upstreams), Arc::clone(&capabilities));
            tokio::spawn(async move { capabilities.of(&candidate(&upstreams, "qwen/qwen3-32b")).await.tools })
        })
        .collect();
    for asker in askers {
        assert!(asker.await.unwrap());
    }
    assert_eq!(server.lines(), ["GET /v1/models"]);
}

#[tokio::test]
async fn what_was_refused_counts_more_than_what_was_announced_and_not_for_ever() {
    let server = server(LISTED).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let now = Now::default();
    let capabilities = now.capabilities(&CapabilityConfig::default(), &upstreams);
    let qwen = candidate(&upstreams, "qwen/qwen3-32b");
    assert!(capabilities.of(&qwen).await.tools);

    capabilities.learn(&qwen, Evidence::Refused, "qwen3-32b does not support tools").await;
    capabilities.learn_no_constraint(&qwen, "no grammar\u{1b}[0m").await;
    let capability = capabilities.of(&qwen).await;
    assert_eq!((capability.tools, capability.constrain), (false, Constrain::None));
    assert_eq!(seen(&capability.tools_source), (Evidence::Refused, "qwen3-32b does not support tools", 0));
    assert_eq!(seen(&capability.constrain_source), (Evidence::Refused, "no grammar[0m", 0));
    assert!(capabilities.of(&candidate(&upstreams, "anthropic/claude-3-5-haiku")).await.tools);

    now.set(DAY);
    let capability = capabilities.of(&qwen).await;
    assert_eq!((capability.tools, capability.constrain), (true, Constrain::JsonSchema));
    assert_eq!(server.lines().len(), 2);
}

/// An empty directory for one test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// S3-59: a second run makes no probe, until what is kept expires or is to be refreshed.
#[tokio::test]
async fn the_next_run_asks_nothing() {
    let server = server(LISTED).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let config =
        CapabilityConfig { dir: Some(directory("next-run")), ttl: HOUR, ..CapabilityConfig::default() };
    let now = Now::default();
    let (qwen, gemma) =
        (candidate(&upstreams, "qwen/qwen3-32b"), candidate(&upstreams, "google/gemma-3-27b-it:free"));

    let first = now.capabilities(&config, &upstreams);
    let found = first.of(&qwen).await;
    assert!(found.tools);
    first.learn(&gemma, Evidence::Refused, "no tools").await;
    assert_eq!(server.lines().len(), 1);

    let second = now.capabilities(&config, &upstreams);
    assert_eq!(second.of(&qwen).await, found);
    assert_eq!(seen(&second.of(&gemma).await.tools_source), (Evidence::Refused, "no tools", 0));
    assert_eq!(server.lines().len(), 1);

    now.set(HOUR - 1);
    second.of(&qwen).await;
    assert_eq!(server.lines().len(), 1);
    now.set(HOUR);
    second.of(&qwen).await;
    assert_eq!(server.lines().len(), 2);
    assert_eq!(
        now.capabilities(&config, &upstreams).of(&gemma).await.tools_source,
        told("/models supported_parameters")
    );

    second.learn(&qwen, Evidence::Refused, "no tools").await;
    assert_eq!(second.refresh(&qwen).await, found);
    assert_eq!(server.lines().len(), 3);
    assert_eq!(now.capabilities(&config, &upstreams).of(&qwen).await, found);
    assert_eq!(server.lines().len(), 3);
}

#[tokio::test]
async fn another_server_under_an_old_name_starts_from_nothing() {
    let (old, new) = (server(LISTED).await, server(&[]).await);
    let config = CapabilityConfig { dir: Some(directory("another-server")), ..CapabilityConfig::default() };
    for (server, source) in [(&old, told("/models supported_parameters")), (&new, Source::Family)] {
        let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
        let capabilities = Now::default().capabilities(&config, &upstreams);
        assert_eq!(capabilities.of(&candidate(&upstreams, "qwen/qwen3-32b")).await.tools_source, source);
    }
}

#[tokio::test]
async fn a_broken_file_is_as_good_as_none() {
    let server = server(LISTED).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let dir = directory("broken-file");
    let config = CapabilityConfig { dir: Some(dir.clone()), ..CapabilityConfig::default() };
    std::fs::create_dir_all(&dir).unwrap();
    for content in ["", "{\"version\":1,\"models\":[{\"upst", "[]", "{\"version\":99,\"models\":[]}", "\u{0}"]
    {
        std::fs::write(dir.join("capability.json"), content).unwrap();
        let n_before = server.lines().len();
        for n_asked in [1, 1] {
            let capabilities = Now::default().capabilities(&config, &upstreams);
            assert!(capabilities.of(&candidate(&upstreams, "qwen/qwen3-32b")).await.tools);
            assert_eq!(server.lines().len(), n_before + n_asked, "{content}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["capability.json"]);
}

#[tokio::test]
async fn a_server_that_cannot_tell_now_is_asked_again_later() {
    let server = Server::start(|seen, n| match n {
        0 => json(503, r#"{"error":{"message":"Loading model"}}"#),
        _ => known(seen, LISTED),
    })
    .await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let now = Now::default();
    let capabilities = now.capabilities(&CapabilityConfig::default(), &upstreams);
    let qwen = candidate(&upstreams, "qwen/qwen3-32b");
    for (seconds, tools, n_asked) in [(0, false, 1), (59, false, 1), (60, true, 2)] {
        now.set(seconds);
        assert_eq!(capabilities.of(&qwen).await.tools, tools, "{seconds}");
        assert_eq!(server.lines().len(), n_asked, "{seconds}");
    }
}

#[tokio::test]
async fn what_was_told_holds_on_while_the_server_is_away() {
    let server = Server::start(|seen, n| if n == 0 { known(seen, LISTED) } else { json(502, "") }).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let now = Now::default();
    let capabilities = now.capabilities(&CapabilityConfig::default(), &upstreams);
    for seconds in [0, DAY, DAY + 30] {
        now.set(seconds);
        let capability = capabilities.of(&candidate(&upstreams, "qwen/qwen3-32b")).await;
        assert_eq!(capability.tools_source, told("/models supported_parameters"), "{seconds}");
    }
    assert_eq!(server.lines().len(), 2);
}

/// The clock of the runtime stands still and jumps to the next timer: the test takes no time.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_tells_delays_no_request_for_long() {
    let server = Server::start(|_, _| Reply::Hold(String::new())).await;
    let upstreams = upstreams(&[upstream("u", &server.base_url())]).unwrap();
    let capabilities = in_memory(&upstreams);
    let start = tokio::time::Instant::now();
    let capability = capabilities.of(&candidate(&upstreams, "claude")).await;
    assert_eq!((capability.tools, capability.tools_source), (true, Source::Family));
    assert!(start.elapsed().as_secs() <= 2);
}

/// Known APIs are native whatever their models are called, and nobody has to ask for that.
#[tokio::test]
async fn models_of_known_apis_go_native() {
    for (base_url, model, pattern) in [
        ("https://api.openai.com/v1", "o3", "api.openai.com"),
        ("https://api.x.ai/v1", "grok-4", "api.x.ai"),
        ("https://api.deepseek.com", "deepseek-chat", "api.deepseek.com"),
        ("https://api.moonshot.ai/v1", "kimi-k2-0905-preview", "api.moonshot.ai"),
        ("https://api.mistral.ai/v1", "codestral-latest", "api.mistral.ai"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen3-max", "dashscope*.aliyuncs.com"),
        ("https://ours.openai.azure.com/openai/v1", "our-deployment", "*.openai.azure.com"),
    ] {
        let upstreams = upstreams(&[upstream("u", base_url)]).unwrap();
        let known = in_memory(&upstreams).what_is_known(&candidate(&upstreams, model));
        assert_eq!((known.tools, known.tools_source), (true, Source::Host(pattern)), "{base_url} {model}");
    }
}
