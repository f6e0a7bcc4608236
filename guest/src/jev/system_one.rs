//! The System One wire protocol: what is sent to Jev and its relatives, and how their answers are read.
//!
//! Pure functions. Nothing that comes back is trusted: an answer counts only if it has the form that was
//! asked for, and everything else is as good as not answered.

use serde_json::{Map, Value, json};

use super::question::{Answer, Question, Request};

/// Most bytes of a response body that are read. Forty answers take about 10 KiB.
pub const MAX_RESPONSE: usize = 1 << 20;

/// Headers that a request may not carry, since they belong to the host: credentials, and what describes the
/// connection or the body.
const RESERVED: [&str; 13] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-api-key",
];

/// A form in which services speak the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// As TypeSafe defined it, also spoken by gateways and by local routers.
    SystemOne,
    /// In the envelope of Cloudflare's Workers AI.
    ///
    /// The form is that of Pi's own client (`pi-ai` 1.6.0, `api/cloudflare-workers-ai-system-one.js`):
    /// `POST {base}/run` with `{"model", "input"}`. Models of other makers add a run record to the answer.
    Cloudflare,
}

impl Protocol {
    /// Returns the protocol that a service's `api` names.
    pub fn named(api: &str) -> Option<Self> {
        match api {
            "typesafe-system-one" => Some(Self::SystemOne),
            "cloudflare-workers-ai-system-one" => Some(Self::Cloudflare),
            _ => None,
        }
    }

    /// Returns the address that questions are posted to.
    pub fn url(self, base_url: &str) -> String {
        let path = match self {
            Self::SystemOne => "systemone",
            Self::Cloudflare => "run",
        };
        format!("{}/{path}", base_url.trim_end_matches('/'))
    }

    /// Writes the request body.
    pub fn body(self, model: &str, request: &Request) -> String {
        let questions: Map<String, Value> =
            request.questions.iter().map(|(id, question)| (id.clone(), wire_question(question))).collect();
        match self {
            Self::SystemOne => json!({"model": model, "state": request.state, "questions": questions}),
            Self::Cloudflare => {
                json!({"model": model, "input": {"state": request.state, "questions": questions}})
            }
        }
        .to_string()
    }

    /// Reads a response body.
    pub fn read(self, body: &[u8], request: &Request) -> Reading {
        if body.len() > MAX_RESPONSE {
            return Reading::default();
        }
        let response: Value = serde_json::from_slice(body).unwrap_or_default();
        let result = match self {
            Self::SystemOne => Some(&response),
            Self::Cloudflare => opened(&response),
        };
        let Some(result) = result else { return Reading::default() };
        Reading {
            answers: result["answers"].as_object().map(|given| answers(given, request)),
            usage: Usage::read(&result["usage"]),
        }
    }
}

/// Takes the result out of Cloudflare's envelope.
fn opened(response: &Value) -> Option<&Value> {
    if response["success"] == false {
        return None;
    }
    let result = &response["result"];
    if result.get("answers").is_some() {
        return Some(result);
    }
    (result["state"] == "Completed").then(|| &result["result"])
}

/// Returns a question as the wire has it, where `bool` is called `noul`.
fn wire_question(question: &Value) -> Value {
    let mut question = question.clone();
    if let Some(kind) = question.get_mut("type").filter(|kind| **kind == "bool") {
        *kind = "noul".into();
    }
    question
}

/// What a response said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The valid answers ([`Answer`] as JSON) by question; `None` if the response was none.
    pub answers: Option<Map<String, Value>>,
    /// What it cost. Also a response without answers can have been billed.
    pub usage: Usage,
}

/// What one request used, as the service counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: u64,
    /// US dollars, where the service names a price.
    pub cost: Option<f64>,
}

impl Usage {
    fn read(usage: &Value) -> Self {
        let cost = ["cost", "total_cost"].iter().find_map(|name| usage[name].as_f64());
        Self {
            // 2^53: what a JSON number can count; anything above is no count of tokens.
            input_tokens: usage["input_tokens"]
                .as_f64()
                .filter(|n| (0.0..9_007_199_254_740_992.0).contains(n))
                .map_or(0, |n| n as u64),
            cost: cost.filter(|usd| usd.is_finite() && *usd >= 0.0),
        }
    }

    /// Returns the cost in US dollars: the service's own figure, else tokens times price per million.
    pub fn cost_usd(&self, input_price: f64) -> f64 {
        let price = if input_price.is_finite() { input_price.max(0.0) } else { 0.0 };
        self.cost.unwrap_or(self.input_tokens as f64 * price / 1e6)
    }
}

fn answers(given: &Map<String, Value>, request: &Request) -> Map<String, Value> {
    let mut valid = Map::new();
    for (id, question) in &request.questions {
        let answer = given.get(id).and_then(|answer| {
            let question = serde_json::from_value(question.clone()).ok()?;
            serde_json::to_value(valid_answer(answer, &question)?).ok()
        });
        if let Some(answer) = answer {
            valid.insert(id.clone(), answer);
        }
    }
    valid
}

/// Returns the answer if it has the form that the question asks for.
fn valid_answer(answer: &Value, question: &Question) -> Option<Answer> {
    match question {
        Question::Bool { .. } if answer["type"] == "noul" => {
            Some(Answer::Bool { probability: probability(&answer["noul"])? })
        }
        Question::Choice { criteria, .. } if answer["type"] == "choice" => {
            let choice = answer["choice"].as_str()?;
            let given = answer["probabilities"].as_object()?;
            let mut probabilities = Map::new();
            // Options that nobody asked about are left out; a number that is no probability spoils the
            // answer, since its other numbers come from the same place.
            for option in criteria.keys().filter(|option| given.contains_key(*option)) {
                probabilities.insert(option.clone(), probability(&given[option])?.into());
            }
            probabilities
                .contains_key(choice)
                .then(|| Answer::Choice { choice: choice.into(), probabilities })
        }
        _ => None,
    }
}

fn probability(value: &Value) -> Option<f64> {
    value.as_f64().filter(|p| (0.0..=1.0).contains(p))
}

/// Returns whether a status can be better the next time: the request took too long, met a conflict or a
/// limit, or the service failed.
pub fn worth_retrying(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// Reads a `retry-after` header, in milliseconds.
///
/// A date is not understood, since there is no wall clock to compare it with.
pub fn retry_after(value: &[u8]) -> Option<u64> {
    let seconds: u64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    seconds.checked_mul(1_000)
}

/// Returns the headers of a request: the service's own, without those that are the host's to set, and ours.
pub fn headers(service: &[(String, String)], body_length: usize) -> Vec<(String, Vec<u8>)> {
    let mut headers: Vec<(String, Vec<u8>)> = service
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.as_bytes().to_vec()))
        .filter(|(name, _)| !RESERVED.contains(&name.as_str()) && !name.starts_with("proxy-"))
        .collect();
    headers.extend(
        [
            ("accept", "application/json".to_owned()),
            // The body is read as it comes: nothing here unpacks it.
            ("accept-encoding", "identity".to_owned()),
            ("content-length", body_length.to_string()),
            ("content-type", "application/json".to_owned()),
            ("user-agent", concat!("context-guard/", env!("CARGO_PKG_VERSION")).to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value.into_bytes())),
    );
    headers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request() -> Request {
        serde_json::from_value(json!({
            "state": {"situation": "s", "chunks": {"chunk_1": "a"}},
            "questions": {
                "keep_whole": {"type": "bool", "instructions": "?", "criteria": {"true": "t", "false": "f"}},
                "focus": {"type": "choice", "instructions": "?", "criteria": {"whole": "w", "none": "n"}},
            },
        }))
        .unwrap()
    }

    fn read(answers: Value) -> Map<String, Value> {
        let body = json!({"answers": answers}).to_string();
        Protocol::SystemOne.read(body.as_bytes(), &request()).answers.unwrap()
    }

    #[test]
    fn a_request_keeps_its_order_and_calls_a_bool_noul() {
        insta::assert_snapshot!(
            Protocol::SystemOne.body("jev-latest", &request()),
            @r#"{"model":"jev-latest","state":{"situation":"s","chunks":{"chunk_1":"a"}},"questions":{"keep_whole":{"type":"noul","instructions":"?","criteria":{"true":"t","false":"f"}},"focus":{"type":"choice","instructions":"?","criteria":{"whole":"w","none":"n"}}}}"#
        );
    }

    #[test]
    fn cloudflare_puts_the_same_questions_into_an_envelope() {
        let body: Value =
            serde_json::from_str(&Protocol::Cloudflare.body("typesafe/jev", &request())).unwrap();
        assert_eq!(body["model"], "typesafe/jev");
        assert_eq!(body["input"]["questions"]["keep_whole"]["type"], "noul");
        let answer = json!({"answers": {"keep_whole": {"type": "noul", "noul": 0.5}}});
        for envelope in [
            json!({"success": true, "errors": [], "result": answer}),
            json!({"success": true, "result": {"state": "Completed", "result": answer}}),
        ] {
            let reading = Protocol::Cloudflare.read(envelope.to_string().as_bytes(), &request());
            assert_eq!(reading.answers.unwrap().len(), 1);
        }
        for refusal in [
            json!({"success": false, "errors": [{"message": "no"}], "result": answer}),
            json!({"success": true, "result": {"state": "Queued", "result": answer}}),
        ] {
            let reading = Protocol::Cloudflare.read(refusal.to_string().as_bytes(), &request());
            assert_eq!(reading, Reading::default());
        }
    }

    #[test]
    fn slashes_at_the_end_of_an_address_do_not_double() {
        assert_eq!(Protocol::SystemOne.url("https://a.test/v1//"), "https://a.test/v1/systemone");
        assert_eq!(Protocol::Cloudflare.url("https://a.test/ai"), "https://a.test/ai/run");
        assert_eq!(Protocol::named("llama-cpp-classify"), None);
    }

    #[test]
    fn answers_are_read_with_their_probabilities() {
        let answers = read(json!({
            "keep_whole": {"type": "noul", "noul": 0.97},
            "focus": {"type": "choice", "choice": "none", "confidence": 0.8,
                      "probabilities": {"none": 0.8, "whole": 0.1, "unasked": 7}},
        }));
        assert_eq!(answers["keep_whole"], json!({"type": "bool", "probability": 0.97}));
        assert_eq!(
            answers["focus"],
            json!({"type": "choice", "choice": "none", "probabilities": {"whole": 0.1, "none": 0.8}})
        );
    }

    #[test]
    fn an_answer_of_another_form_is_missing_and_spoils_no_other() {
        let good = json!({"type": "choice", "choice": "none", "probabilities": {"none": 1}});
        for bad in [
            json!({"type": "noul", "noul": -0.1}),
            json!({"type": "noul", "noul": 1.1}),
            json!({"type": "noul", "noul": "0.5"}),
            json!({"type": "noul"}),
            json!({"type": "bool", "probability": 0.5}),
            json!(0.5),
            Value::Null,
        ] {
            let answers = read(json!({"keep_whole": bad, "focus": good, "unasked": good}));
            assert_eq!(answers.keys().collect::<Vec<_>>(), ["focus"], "{bad}");
        }
        for bad in [
            json!({"type": "choice", "choice": "unasked", "probabilities": {"unasked": 1}}),
            json!({"type": "choice", "choice": "none", "probabilities": {"whole": 1}}),
            json!({"type": "choice", "choice": "none", "probabilities": {"none": 0.6, "whole": -3}}),
            json!({"type": "choice", "choice": "none"}),
            json!({"type": "noul", "noul": 0.5}),
        ] {
            assert_eq!(read(json!({"focus": bad})), Map::new(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_response_answers_nothing() {
        let huge = format!(r#"{{"answers":{{}},"x":"{}"}}"#, "x".repeat(MAX_RESPONSE));
        let deep = "[".repeat(100_000);
        for body in [
            b"<html>502</html>".as_slice(),
            b"",
            b"null",
            b"[]",
            b"{}",
            br#"{"answers":[]}"#,
            br#"{"answers":{"keep_whole":{"type":"noul","noul":NaN}}}"#,
            br#"{"answers":{"keep_whole":{"type":"noul","noul":1e999}}}"#,
            b"{\"answers\":{\"keep_whole\":\"\xff\"}}",
            huge.as_bytes(),
            deep.as_bytes(),
        ] {
            assert_eq!(Protocol::SystemOne.read(body, &request()).answers, None);
        }
    }

    #[test]
    fn a_service_that_names_its_price_is_believed() {
        let usage = |text: &str| {
            let body = format!(r#"{{"usage":{text}}}"#);
            Protocol::SystemOne.read(body.as_bytes(), &request()).usage
        };
        assert_eq!(usage(r#"{"input_tokens":2000000,"cost":0.01}"#).cost_usd(0.042), 0.01);
        assert_eq!(usage(r#"{"input_tokens":2000000,"total_cost":0.02}"#).cost_usd(0.042), 0.02);
        assert_eq!(usage(r#"{"input_tokens":2000000}"#).cost_usd(0.042), 0.084);
        assert_eq!(usage(r#"{"input_tokens":2000000,"cost":-1}"#).cost_usd(0.042), 0.084);
        assert_eq!(usage(r#"{"input_tokens":2000000}"#).cost_usd(f64::NAN), 0.0);
        assert_eq!(usage(r#"{"input_tokens":-5}"#), Usage::default());
        assert_eq!(usage(r#""free""#), Usage::default());
    }

    #[test]
    fn retry_after_is_read_in_seconds_only() {
        assert_eq!(retry_after(b" 2 "), Some(2_000));
        assert_eq!(retry_after(b"Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(retry_after(b"-1"), None);
        assert_eq!(retry_after(b"18446744073709551615"), None);
    }

    #[test]
    fn no_credential_leaves_through_a_header() {
        let service = ["Authorization", "X-Api-Key", "Cookie", "Proxy-Authorization", "Host", "X-Title"]
            .map(|name| (name.to_owned(), "value".to_owned()));
        let headers = headers(&service, 3);
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["x-title", "accept", "accept-encoding", "content-length", "content-type", "user-agent"]
        );
    }

    proptest! {
        #[test]
        fn no_body_breaks_the_reader(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            Protocol::SystemOne.read(&body, &request());
            Protocol::Cloudflare.read(&body, &request());
        }
    }
}
