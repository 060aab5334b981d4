//! Texts that half of the time go on from an example, so that each notation is reached.

use std::sync::LazyLock;

use tilework::dialect;

/// The examples of all notations.
static EXAMPLES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    dialect::all().iter().flat_map(|dialect| dialect.examples).map(|example| example.text).collect()
});

/// The text in an input: behind its first byte, which names the example whose end the text takes the place of, or none.
pub fn text(bytes: &[u8]) -> Option<String> {
    let (&first, rest) = bytes.split_first()?;
    let text = std::str::from_utf8(rest).ok()?;
    Some(match usize::from(first) {
        number @ 128.. => {
            let example = EXAMPLES[number % EXAMPLES.len()];
            let mut cut = example.len() - text.len().min(example.len());
            while !example.is_char_boundary(cut) {
                cut -= 1;
            }
            format!("{}{text}", &example[..cut])
        }
        _ => text.to_owned(),
    })
}
