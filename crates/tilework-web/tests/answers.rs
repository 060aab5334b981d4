//! What the page asks, and what it gets: the same as the command, and an error for whatever else.

use serde_json::{Value, json};
use tilework_web::Session;

fn ask(request: Value) -> Value {
    serde_json::from_str(&Session::new().answer(&request.to_string(), &[])).expect("an answer is JSON")
}

fn ok(request: Value) -> Value {
    let mut answer = ask(request.clone());
    assert!(answer.get("ok").is_some(), "{request}: {answer}");
    answer["ok"].take()
}

#[test]
fn a_layout_is_drawn_and_explained() {
    let said = ok(json!({"ask": "layout", "text": "f32[3,5]{1,0:T(2,2)}"}));
    assert_eq!(said["lead"], "15 elements take 96 B: 1.60 times their own size, because 36 B are padding.");
    assert_eq!(said["array"]["causes"][0], "dimension 0 is 3, tiled to 4: 1.33 times");
    let svg = said["array"]["svg"].as_str().expect("a picture");
    assert!(svg.contains("data-o=\"17\" data-i=\"2,3\""));
}

#[test]
fn the_order_of_memory_is_a_sentence() {
    let said =
        |text: &str, axes: &str| ok(json!({"ask": "layout", "text": text, "axes": axes}))["array"].take();
    assert_eq!(
        said("bf16[4,8]{1,0:T(2,4)(2,1)}", "")["filling"],
        "Memory holds one coloured tile after the other (2 of i, 4 of j), and in it one piece after the other (2 of i)."
    );
    let named = said("f32[3,5]{1,0:T(2,2)}", "rows,columns");
    assert_eq!(named["filling"], "Memory holds one coloured tile after the other (2 of rows, 2 of columns).");
    assert_eq!(named["letters"], json!(["rows", "columns"]));
    assert!(said("f32[3,5]", "")["filling"].is_null());
    let wrong = &ask(json!({"ask": "layout", "text": "f32[3,5]", "axes": "a,a"}))["error"];
    assert_eq!(wrong["field"], "names of the dimensions");
}

#[test]
fn an_error_is_cut_at_its_place() {
    let error = &ask(json!({"ask": "layout", "text": "f32[3,5]{1,1}"}))["error"];
    assert_eq!(error["around"], json!(["f32[3,5]{1,", "1", "}"]));
    assert!(error["rule"].is_string());
}

#[test]
fn layouts_are_found_in_what_is_pasted() {
    let text = "copied f32[3,5]{0,1} to memref<3x5xf32>, and not f32[3,";
    assert_eq!(ok(json!({"ask": "find", "text": text})), json!(["f32[3,5]{0,1}", "memref<3x5xf32>"]));
}

#[test]
fn a_slice_of_more_dimensions_is_chosen() {
    let asked = |slice: Value| ok(json!({"ask": "layout", "text": "f32[4,2,3]", "look": {"slice": slice}}));
    assert_eq!(asked(json!([]))["array"]["slice"], json!([0, null, null]));
    let second = asked(json!([1, null, null]));
    assert_eq!(second["array"]["slice"], json!([1, null, null]));
    assert!(second["array"]["svg"].as_str().is_some_and(|svg| svg.contains("data-o=\"6\" data-i=\"1,0,0\"")));
}

#[test]
fn a_place_beyond_a_pages_numbers_is_exact() {
    let text = "f32[1152921504606846975]";
    let point = ok(json!({"ask": "point", "text": text, "offset": "1152921504606846973"}));
    assert_eq!(point["index"], json!([1_152_921_504_606_846_973_u64]));
    assert_eq!(point["offset"], "1152921504606846973");
}

#[test]
fn two_layouts_take_the_array_of_the_first() {
    let two = ok(json!({"ask": "two", "a": "f32[4,6]{1,0:T(2,3)}", "b": "{0,1}"}));
    assert_eq!(two["compared"]["b"], "f32[4,6]{0,1}");
    assert_eq!(two["compared"]["transpose"]["answer"], "yes");
    assert!(two["plan"].as_str().is_some_and(|plan| plan.contains("deinterleave 3")));
}

#[test]
fn a_descriptor_is_checked_from_a_line_and_from_json() {
    let line = ok(json!({"ask": "check", "text": "FLOAT16 [5,55] strides [9,3] total 123 alignment 5"}));
    assert!(line[0]["broken"].as_array().is_some_and(|broken| broken.len() >= 2));
    let text = r#"{"DataType": "FLOAT32", "Sizes": [2, 3]}"#;
    let fits = ok(json!({"ask": "check", "text": text, "begins": 0, "buffer": 24}));
    assert_eq!(fits[0]["ok"], true);
    let short = ok(json!({"ask": "check", "text": text, "begins": 4, "buffer": 24}));
    assert!(short[0]["broken"][0]["legal"].is_string());
}

#[test]
fn a_dump_is_audited_as_the_command_audits_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/dump");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("samples").flatten().map(|file| file.path()).collect();
    files.sort();
    let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let mut session = Session::new();
    let mut ask = |request: Value, bytes: &[u8]| -> Value {
        serde_json::from_str(&session.answer(&request.to_string(), bytes)).expect("JSON")
    };
    let chosen = ask(json!({"ask": "audit-select", "names": names}), &[]);
    for place in chosen["ok"].as_array().expect("places") {
        let place = usize::try_from(place.as_u64().expect("a place")).expect("small");
        let bytes = std::fs::read(&files[place]).expect("a sample");
        let read = ask(json!({"ask": "audit-read", "name": names[place]}), &bytes);
        assert!(read.get("ok").is_some(), "{read}");
    }
    let page = ask(json!({"ask": "audit-page", "top": 5}), &[]);
    let mut audit = tilework_audit::Audit::new();
    assert_eq!(audit.read_path(std::path::Path::new(folder)), []);
    let findings = audit.findings(usize::MAX);
    let shown = tilework_explain::AuditPage { top: 5, base: Some(""), change: &[] };
    assert_eq!(page["ok"]["html"], tilework_explain::audit_html_part(&findings, &shown));
    let lines =
        tilework_explain::explain_audit(&audit.findings(5), 5, 100, tilework_explain::Look::default());
    let words: Vec<String> = lines.iter().map(ToString::to_string).collect();
    assert_eq!(ask(json!({"ask": "audit-words", "top": 5}), &[])["ok"], words.join("\n"));
    let offers = page["ok"]["offers"].as_array().expect("offers").clone();
    let instead = offers[0]["instead"].as_str().expect("a shape");
    let supposed = ask(json!({"ask": "audit-page", "top": 5, "instead": [instead]}), &[]);
    assert!(
        supposed["ok"]["html"].as_str().is_some_and(|html| html.contains("<pre class=\"change\">What if ")),
        "{supposed}"
    );
    // What was supposed is forgotten.
    assert_eq!(ask(json!({"ask": "audit-page", "top": 5}), &[])["ok"]["html"], page["ok"]["html"]);
}

#[test]
fn a_link_comes_back() {
    let fragment = ok(json!({"ask": "link", "tab": "layout", "text": "f32[3,5]{0,1}", "at": "7"}));
    assert_eq!(fragment, "#1l=f32~3,5$;0,1@&o=7");
    let link = ok(json!({"ask": "open", "fragment": fragment}));
    assert_eq!(link, json!({"tab": "layout", "text": "f32[3,5]{0,1}", "at": "7"}));
    let slice = json!([2, null, null]);
    let asked = json!({"ask": "link", "tab": "layout", "text": "f32[4,2,3]", "axes": "N,H,W", "look": {"slice": slice}});
    let link = ok(json!({"ask": "open", "fragment": ok(asked)}));
    assert_eq!((&link["slice"], &link["axes"]), (&slice, &json!("N,H,W")));
}

#[test]
fn nothing_that_is_asked_panics() {
    let texts = [
        "",
        "\u{0}",
        "<script>alert(1)</script>",
        "f32[9223372036854775807,2]",
        "f32[?]",
        "(f32[2], s32[])",
        "é",
    ];
    for text in texts {
        for ask_for in ["layout", "beside", "check"] {
            ask(json!({"ask": ask_for, "text": text}));
        }
        ask(json!({"ask": "two", "a": text, "b": text}));
        ask(json!({"ask": "point", "text": text, "offset": text}));
        ask(json!({"ask": "open", "fragment": text}));
        ask(json!({"ask": "link", "tab": text}));
        ask(json!({"ask": "audit-page", "top": 0, "instead": [text]}));
    }
    for broken in ["", "{", "[]", "{\"ask\":\"nothing\"}"] {
        assert!(Session::new().answer(broken, &[]).starts_with("{\"error\""), "{broken}");
    }
}

#[test]
fn markup_in_a_text_is_text() {
    let said = ask(json!({"ask": "two", "a": "f32[2]", "b": "f32[2]{0:T(2)}<img src=x>"}));
    assert!(said.get("error").is_some());
    let named = ok(json!({"ask": "beside", "text": "f32[2,2]"}));
    assert!(!named.to_string().contains("<img"));
}
