//! What is read, and what is said about it.

use tilework::Layout;
use tilework::dialect::{self, Dialect, Known, Reading, Said};
use tilework_explain::{Comparison, Line, Look, NARROWEST, Sense, Shown, WIDEST, explain, explain_layout};

/// Texts of every kind that is read.
const TEXTS: [&str; 12] = [
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[64,300]{1,0:T(8,128)(2,1)}",
    "s4[300,500,7]{2,1,0:T(8,128)E(4)}",
    "f32[]",
    "f32[0,5]",
    "f32[4]{strides(0)}",
    "f32[3000000,5000000]{1,0:T(8,128)}",
    "(f32[2], (s8[3,3]{0,1}, token[]))",
    "f32[?,5]",
    "FLOAT16 NHWC [1,64,56,56]",
    "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]",
    r#"{"DataType": "UINT8", "Sizes": [2,3], "Strides": [5,1]}"#,
];

fn read(text: &str) -> Said {
    dialect::read_one(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| line.to_string()).collect()
}

#[test]
fn the_text_of_a_subject_is_read_back() {
    for text in TEXTS {
        let said = read(text).to_string();
        assert_eq!(read(&said).to_string(), said, "{text}");
    }
}

#[test]
fn strict_text_is_what_xla_writes_and_nothing_else() -> tilework::Result<()> {
    let known = Known { strict: true, ..Known::default() };
    let strict = Reading { dialect: Some(Dialect::named("xla")?), known };
    for text in TEXTS {
        let is_strict = !text.contains("strides") && !text.starts_with("FLOAT") && !text.starts_with('{');
        assert_eq!(strict.read(text).is_ok(), is_strict, "{text}");
    }
    Ok(())
}

#[test]
fn json_holds_several_descriptors_each_with_its_name() -> tilework::Result<()> {
    let json = r#"{"in": {"DataType": "UINT8", "Sizes": [2]}, "out": {"DataType": "INT64", "Sizes": [3]}}"#;
    let found = dialect::read(json)?;
    let said: Vec<(Option<&str>, String)> =
        found.iter().map(|found| (found.name.as_deref(), found.said.to_string())).collect();
    assert_eq!(said, [(Some("in"), "UINT8 [2]".to_owned()), (Some("out"), "INT64 [3]".to_owned())]);
    assert!(dialect::read_one(json).is_err_and(|error| error.to_string().contains("one of in, out")));
    Ok(())
}

#[test]
fn errors_know_where_in_the_text() {
    for (text, found) in [("f32[3,", 6..6), ("FLOAT32 [2,x]", 11..12), (r#"{"Sizes": }"#, 10..11)] {
        assert_eq!(dialect::read(text).unwrap_err().span(), Some(found), "{text}");
    }
    assert!(read("(f32[2], s8[3])").layout().is_err());
}

#[test]
fn no_line_is_wider_than_the_page_whatever_is_asked() -> tilework::Result<()> {
    for text in TEXTS {
        for (asked, width) in [(0, NARROWEST), (33, 33), (80, 80), (200, 200), (usize::MAX, WIDEST)] {
            for ascii in [false, true] {
                let lines = explain(&*read(text), asked, Look { color: false, ascii })?;
                for line in texts(&lines) {
                    assert!(line.chars().count() <= width, "{text} in {width} columns: {line}");
                    assert!(!ascii || line.is_ascii(), "{text}: {line}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn what_is_too_large_to_count_is_an_error_in_words_and_as_an_object() {
    let subject = read("(s8[2], s8[1048576,1048576,524288,1]{3,2,1,0:T(8,128)})");
    let error = explain(&*subject, 80, Look::default()).unwrap_err();
    assert_eq!(Shown::new(&*subject).err().map(|error| error.to_string()), Some(error.to_string()));
}

#[test]
fn a_layout_without_a_text_is_explained_like_one_with_a_text() -> tilework::Result<()> {
    let text = "bf16[64,300]{1,0:T(8,128)(2,1)}";
    let subject = read(text);
    let layout: Layout = subject.layout()?;
    let with = texts(&explain(&*subject, 80, Look::default())?);
    let without = texts(&explain_layout(&layout, 80, Look::default()));
    let from = |lines: &[String]| {
        let sizes = lines.iter().position(|line| line.trim_start().starts_with("elements "));
        // Names stand in a column as wide as the widest of them.
        let words = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        lines.iter().skip(sizes.unwrap_or(usize::MAX)).map(words).collect::<Vec<_>>()
    };
    assert!(from(&without).len() > 10);
    assert_eq!(from(&without), from(&with));
    Ok(())
}

#[test]
fn objects_say_what_pages_say() -> Result<(), Box<dyn std::error::Error>> {
    let object = serde_json::to_value(Shown::new(&*read("f32[3,5]{1,0:T(2,2)}"))?)?;
    assert_eq!(object["kind"], "array");
    let layout = &object["array"]["layout"];
    assert_eq!(layout["waste_bytes"], 36);
    assert_eq!(layout["causes"][1]["dimensions"][0], 1);
    let tuple = serde_json::to_value(Shown::new(&*read("(f32[2], (s8[3,3]{0,1}, token[]))"))?)?;
    assert_eq!(tuple["leaves"][1]["path"], serde_json::json!([1, 0]));
    assert_eq!(tuple["total"]["element_bytes"], 17);
    Ok(())
}

#[test]
fn a_comparison_answers_each_sense_by_its_name() -> tilework::Result<()> {
    let texts = ["f32[16,128]{1,0:T(8,128)}", "f32[2048]"];
    let subjects = texts.map(read);
    let layouts = [subjects[0].layout()?, subjects[1].layout()?];
    let comparison = Comparison::new([&*subjects[0], &*subjects[1]], [&layouts[0], &layouts[1]]);
    let senses = [Sense::Function, Sense::Buffer, Sense::Reshape, Sense::Transpose];
    let holds = senses.map(|sense| comparison.object(sense).holds);
    assert_eq!(holds, [false, false, true, true]);
    assert_eq!(senses.map(|sense| comparison.object(sense).sense), senses.map(Sense::name));
    Ok(())
}

#[test]
fn tiles_over_an_unbounded_dimension_are_not_said_to_cut_nothing() -> tilework::Result<()> {
    let lines = texts(&explain(&*read("bf16[16,?]{1,0:T(8,128)(2,1)}"), 80, Look::default())?);
    let said = |tile: u32| format!("tile {tile}: the number of tiles is known at run time only");
    assert!((1..=2).all(|tile| lines.iter().any(|line| line.contains(&said(tile)))), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("cuts nothing")), "{lines:#?}");
    Ok(())
}
