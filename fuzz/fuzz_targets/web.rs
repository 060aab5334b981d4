//! What the page in the browser may be asked, by whoever made the link that opened it or the files that were dropped on it: every
//! question has an answer, and what of it becomes a part of the page holds no foreign tag. The first byte chooses the question, the
//! second how things are drawn; what follows is parted by bytes of 1 into the texts of the request, each of which may go on from
//! an example.
#![no_main]

mod examples;
mod markup;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tilework_web::Session;

/// Those that say more come more often.
const ASKED: [&str; 14] = [
    "layout", "layout", "layout", "beside", "find", "point", "two", "two", "check", "open", "link", "audit",
    "step", "",
];

/// The parts of the page.
const TABS: [&str; 5] = ["layout", "two", "audit", "check", "learn"];

fuzz_target!(|bytes: &[u8]| {
    let Some((&[ask, how], rest)) = bytes.split_first_chunk() else { return };
    let ask = ASKED[usize::from(ask) % ASKED.len()];
    let mut session = Session::new();
    if ask.is_empty() {
        // No question that a page of ours asks.
        return answered(&session.answer(&String::from_utf8_lossy(rest), &[]));
    }
    let field = |number: usize| rest.split(|&byte| byte == 1).nth(number).unwrap_or_default();
    let text = |number: usize| examples::text(field(number)).unwrap_or_default();
    let look = json!({
        "width": u32::from(how) * 9,
        "rows": how % 32,
        "bare": how % 3 == 0,
        "slice": field(3).iter().map(|&at| (at != b'x').then_some(at)).collect::<Vec<_>>(),
    });
    if ask == "audit" {
        let name = String::from_utf8_lossy(field(1)).into_owned();
        let instead = [String::from_utf8_lossy(field(2)).into_owned()];
        let asked = |ask: &str| {
            json!({"ask": ask, "name": name, "names": [name, "module_0.txt"], "top": how % 8, "instead": instead,
                "compare": how % 2 == 0})
        };
        for ask in [
            "audit-select",
            "audit-read",
            "audit-new",
            "audit-read",
            "audit-page",
            "audit-words",
            "audit-file",
        ] {
            answered(&session.answer(&asked(ask).to_string(), text(0).as_bytes()));
        }
        return;
    }
    let request = match ask {
        "two" => json!({"ask": ask, "a": text(0), "b": text(1), "look": look}),
        "point" if how % 2 == 0 => json!({"ask": ask, "text": text(0), "offset": text(1)}),
        "point" => json!({"ask": ask, "text": text(0), "index": field(1)}),
        "check" => json!({"ask": ask, "text": text(0), "begins": how % 4 * 8, "buffer": how}),
        "open" => json!({"ask": ask, "fragment": String::from_utf8_lossy(rest)}),
        "link" => {
            json!({"ask": ask, "tab": TABS[usize::from(how) % TABS.len()], "text": text(0), "a": text(0), "b": text(1),
            "axes": text(2), "at": text(1), "look": look, "step": how})
        }
        "step" => json!({"ask": ask, "step": how}),
        // Most texts have no names beside them.
        _ if field(1).is_empty() => json!({"ask": ask, "text": text(0), "look": look}),
        _ => json!({"ask": ask, "text": text(0), "axes": String::from_utf8_lossy(field(1)), "look": look}),
    };
    answered(&session.answer(&request.to_string(), &[]));
});

/// It is an answer or an error, and what the page takes as it is holds only what is ours.
fn answered(answer: &str) {
    let value: Value = serde_json::from_str(answer).unwrap_or_else(|error| panic!("{answer}: {error}"));
    let parts = value.as_object().expect("an object");
    assert!(parts.len() == 1 && (parts.contains_key("ok") || parts.contains_key("error")), "{answer}");
    match &value["ok"] {
        // A page that stands alone, or words; what was found in a text is as it was there.
        Value::String(text) if text.starts_with("<!doctype html>") => markup::check(text),
        Value::String(text) => markup::is_harmless(text),
        _ => parts.iter().for_each(|(key, value)| is_ours(key, value)),
    }
}

fn is_ours(key: &str, value: &Value) {
    match value {
        Value::Object(all) => all.iter().for_each(|(key, value)| is_ours(key, value)),
        Value::Array(all) => all.iter().for_each(|value| is_ours(key, value)),
        Value::String(text) => match key {
            "svg" | "svgs" | "html" => markup::check(text),
            "words" | "plan" | "lead" => markup::is_harmless(text),
            _ => {}
        },
        _ => {}
    }
}
