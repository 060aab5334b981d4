//! What a layout can be said in, by name.

use std::collections::HashSet;

use tilework::dialect::{self, Target, targets};
use tilework::{Element, Layout, Result};

#[test]
fn every_target_has_a_name_of_its_own_and_is_found_by_it() -> Result<()> {
    let mut names = HashSet::new();
    for target in targets() {
        assert!(names.insert(target.name()), "{} stands for two things", target.name());
        assert_eq!(Target::named(target.name())?.title(), target.title());
    }
    for dialect in dialect::all() {
        assert_eq!(Target::named(dialect.name)?.dialect(), *dialect);
    }
    Ok(())
}

#[test]
fn an_unknown_name_is_answered_with_those_that_there_are() {
    let error = Target::named("torhc").unwrap_err();
    assert_eq!(error.found(), "there is no notation `torhc`");
    let accepted = error.accepted().unwrap();
    assert!(accepted.starts_with("xla, ") && accepted.ends_with("; did you mean torch?"), "{accepted}");
}

#[test]
fn every_example_is_said_in_every_target_or_there_is_a_reason() {
    let mut said = HashSet::new();
    for example in dialect::all().iter().flat_map(|dialect| dialect.examples) {
        let read = dialect::read_one(example.text).expect(example.text);
        let (layout, element) = (read.layout().expect(example.text), read.element().expect(example.text));
        for target in targets() {
            match target.say(&layout, element) {
                Ok(found) => {
                    let again = dialect::read_one(&found.to_string()).and_then(|again| again.layout());
                    assert!(again.is_ok_and(|again| again.same_buffer(&layout).is_yes()), "{found}");
                    said.insert(target.name());
                }
                Err(error) => {
                    assert!(!error.found().is_empty());
                    let lost = error.broken_rule() == Some("a text reads back as the layout that it says");
                    assert!(!lost, "{} as {}: {error}", example.text, target.name());
                }
            }
        }
    }
    for target in targets() {
        assert!(said.contains(target.name()), "no example can be said as {}", target.name());
    }
}

fn say(target: &str, layout: &Layout, element: Element) -> String {
    let said = Target::named(target).and_then(|target| target.say(layout, element));
    said.map_or_else(|error| format!("no: {}", error.found()), |said| said.to_string())
}

#[test]
fn a_layout_has_the_words_of_each_library() -> Result<()> {
    let channels_last = Layout::strided(&[2, 3, 4, 5], 32, &[60, 1, 15, 3], None, None)?;
    for (target, text) in [
        ("xla", "f32[2,3,4,5]{1,3,2,0}"),
        ("numpy", "float32 (2, 3, 4, 5) strides (240, 4, 60, 12)"),
        ("torch", "torch.float32 [2, 3, 4, 5] torch.channels_last"),
        ("memref", "memref<2x3x4x5xf32, strided<[60, 1, 15, 3]>>"),
        ("jax", "f32[2,3,4,5] Layout(major_to_minor=(0, 2, 3, 1))"),
    ] {
        assert_eq!(say(target, &channels_last, Element::F32), text);
    }
    let reversed = Layout::row_major(&[2, 3], 16)?.flip(1)?;
    assert_eq!(say("numpy", &reversed, Element::F16), "float16 (2, 3) strides (6, -2)");
    assert_eq!(say("torch", &reversed, Element::F16), "no: dimension 1 runs backward");
    let part = Layout::strided(&[2, 3], 32, &[1, 2], Some(4), None)?;
    assert_eq!(say("torch", &part, Element::F32), "torch.float32 [2, 3] strides [1, 2] storage_offset 4");
    Ok(())
}

#[test]
fn what_would_not_read_back_is_not_said() -> Result<()> {
    // Seven places behind the last element: a tensor of MLIR ends with its last element.
    let tail = Layout::strided(&[3, 3], 8, &[3, 1], None, Some(16))?;
    for target in ["memref", "jax"] {
        let text = say(target, &tail, Element::S8);
        assert!(text.starts_with("no: "), "{text}");
    }
    assert_eq!(say("xla", &tail, Element::S8), "s8[3,3]{strides(3,1),size(16)}");
    // Elements of 4 bits, side by side.
    let nibbles = Layout::row_major(&[3, 5], 4)?;
    assert_eq!(
        say("numpy", &nibbles, Element::S4),
        "no: elements of 4 bits, and NumPy gives each whole bytes"
    );
    assert_eq!(say("xla", &nibbles, Element::S4), "s4[3,5]{1,0:E(4)}");
    Ok(())
}
