//! Layouts are found wherever they stand in a text, and nothing else is.

use proptest::prelude::*;
use tilework::dialect::{self, Found, find};

use crate::dialects::shaken;

fn texts(text: &str) -> Vec<(u64, String, u64)> {
    let found = find(text);
    assert!(found.is_complete);
    found.all.into_iter().map(|one| (one.line, one.text, one.times)).collect()
}

#[test]
fn every_example_is_found_between_words() {
    for example in dialect::all().iter().flat_map(|dialect| dialect.examples) {
        // Texts that are no sentence's part: of several lines, and those that only a whole line says.
        if example.text.contains('\n') {
            continue;
        }
        // Some texts are known by the bracket or number with which their line begins.
        let is_line = example.text.trim_start().starts_with(|c: char| c == '[' || c.is_ascii_digit());
        let before = if is_line { "" } else { "here, " };
        let found = find(&format!("the first: one\n{before}{}", example.text));
        // The name of what an operation makes is none of it.
        let text = example.text.strip_prefix("%p = ").unwrap_or(example.text).trim();
        let is_it = |one: &dialect::Sighting| one.text == text && one.line == 2;
        assert!(found.all.iter().any(is_it), "{}: {:?}", example.text, found.all);
    }
}

#[test]
fn names_of_mlir_are_what_lines_above_say() {
    let text = "#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#map = affine_map<(d0, d1) -> (d1, d0)>
!mine = memref<4x6xf32, #map>
module {
  %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>
  %1 = arith.addf %a, %b : tensor<64x64xf16, #blocked>
  %2 = arith.addf %a, %1 : tensor<64x64xf16, #blocked>
  %3 = f(%2) : (!mine) -> (!mine)
}
";
    let found = texts(text);
    let lines: Vec<(u64, u64)> = found.iter().map(|(line, _, times)| (*line, *times)).collect();
    assert_eq!(lines, [(6, 1), (7, 2)]);
    assert!(found[0].1.contains("#ttg.swizzled_shared<{vec = 8"), "{}", found[0].1);
    // Of definitions that nothing uses, what they define is there.
    let alone = texts("#map = affine_map<(d0, d1) -> (d1, d0)>\n!mine = memref<4x6xf32, #map>\n");
    assert_eq!(alone, [(2, "memref<4x6xf32, affine_map<(d0, d1) -> (d1, d0)>>".to_owned(), 1)]);
    // A name that stands for itself ends somewhere.
    assert_eq!(texts("#a = tensor<4xf32, #a>\n#a").len(), 1);
}

#[test]
fn what_says_too_little_is_found_with_what_is_missing() {
    let found = find(">>> x.format\nFormat(layout=Layout(major_to_minor=(1, 0)), sharding=None)\n");
    let [one] = &found.all[..] else { panic!("{:?}", found.all) };
    let error = one.found.as_ref().expect_err("it has no sizes");
    assert_eq!(error.found(), "a layout of JAX alone");
    let found = texts("the layout is S<3,4,3> o 0 o (128,64):(64,1), as it should");
    assert_eq!(found, [(1, "S<3,4,3> o 0 o (128,64):(64,1)".to_owned(), 1)]);
}

#[test]
fn prose_and_numbers_are_none() {
    for text in [
        "",
        "\n\n",
        "I have no layout, but f32 and [3, 5] and (1, 2): three, and {0}.",
        "At 12:30 (about): 5 of 7 (f32). x[3] = y(2,2); size=3, shape=(2",
        "{'a': 1} [\"b\"] <<>> ((((:1)))) ab strides",
        "#shared = 3\n!x = 4\n",
        "f32[3,5]{1,1}, f32[3](x) and f32[3]yes are broken",
        "é🦀 f32🦀[3] tensor<é> memref<",
    ] {
        assert_eq!(texts(text), [], "{text}");
    }
}

#[test]
fn a_long_log_is_looked_at_to_its_end() {
    // How far into the text a layout stands is no part of the work.
    let log = "x = 1\n".repeat(70_000) + &"moved f32[3,5]{0,1}\n".repeat(1000);
    assert_eq!(texts(&log), [(70_001, "f32[3,5]{0,1}".to_owned(), 1000)]);
}

#[test]
fn text_that_is_made_to_be_slow_ends() {
    // Long enough that whoever goes over it again at each bracket within each bracket does not end.
    for piece in ["f32[", "(", "{\"", "tensor<", "((1,2):(", "f32[3] (", "#a = #a#a\n#a ", "S<3,3,3> o "] {
        let _ = find(&piece.repeat(50_000 / piece.len()));
    }
    let many: String = (1..6000).map(|size| format!("f32[{size}] ")).collect();
    let found = find(&many);
    assert!(!found.is_complete && found.all.len() == 4096);
}

proptest! {
    #[test]
    fn no_text_is_too_strange(pieces in prop::collection::vec(piece(), 0..12)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn what_is_found_between_changed_words_is_what_it_says_alone(texts in prop::collection::vec(shaken(), 1..4)) {
        let texts: Vec<&str> = texts.iter().map(|(_, text)| &**text).collect();
        check(&texts.join(" and "))?;
        check(&texts.join("\n"))?;
    }
}

/// Whatever is found stands in the text, and says the same alone.
fn check(text: &str) -> Result<(), TestCaseError> {
    let found = find(text);
    for one in &found.all {
        prop_assert!(
            text.get(one.span.clone()).is_some_and(|own| !own.is_empty()),
            "{:?} of {text}",
            one.span
        );
        let lines = text[..one.span.start].matches('\n').count() as u64 + 1;
        prop_assert_eq!(one.line, lines);
        let Ok(found) = &one.found else { continue };
        let again = dialect::read(&one.text)
            .map_err(|error| TestCaseError::fail(error.report(&one.text).to_string()))?;
        let said = |found: &[Found]| {
            let one = |found: &Found| (found.said.to_string(), found.said.layout(), found.said.element());
            found.iter().map(one).collect::<Vec<_>>()
        };
        prop_assert_eq!(said(found), said(&again), "{}", text);
    }
    Ok(())
}

fn piece() -> impl Strategy<Value = String> {
    let examples: Vec<&str> =
        dialect::all().iter().flat_map(|dialect| dialect.examples).map(|example| example.text).collect();
    let cut = (prop::sample::select(examples), any::<prop::sample::Index>()).prop_map(|(text, at)| {
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text[..at].to_owned()
    });
    prop_oneof![cut, "[ -~\n]{0,6}", "[(){}<>\\[\\]\"':#!é🦀 ]{0,4}"]
}
