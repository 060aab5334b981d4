//! Links to the page in the browser: what is on the page, in the fragment of its address.
//!
//! The fragment never leaves the browser, and it is all that the page needs. `#1l=bf16~4,8$;1,0:T(2,4)(2,1)@` is version 1,
//! the tab of a layout, and its text. Four brackets and the blank, which addresses do not allow, are written as signs that
//! notations do not use; whatever else an address does not allow is percent-encoded. What people type by hand is
//! read as well: brackets mean themselves. Fields are separated by `&`.

use serde::Serialize;
use tilework::{Error, Result};

/// The version of fragments.
const VERSION: char = '1';

/// Where the page is, unless somebody says otherwise: beside whoever follows the link.
pub const BASE: &str = "tilework.html";

/// The longest fragment: longer ones are cut on their way by some programs.
pub const LONGEST: usize = 8000;

/// The most dimensions that a slice is of.
const RANK: usize = 64;

/// The signs that stand for those that an address does not allow.
const SIGNS: [(char, char); 5] = [('[', '~'), (']', '$'), ('{', ';'), ('}', '@'), (' ', '+')];

/// What a link opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "tab", rename_all = "lowercase")]
pub enum Link {
    /// A layout, and the place that is pointed at.
    Layout {
        /// In any notation.
        text: String,
        /// An offset, in digits.
        at: Option<String>,
        /// Of an array of more dimensions than are drawn: the index in each of the others, and none for those that are.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        slice: Vec<Option<u64>>,
        /// Names of the dimensions; empty without.
        #[serde(skip_serializing_if = "String::is_empty")]
        axes: String,
    },
    /// Two layouts.
    Two {
        /// The one.
        a: String,
        /// The other.
        b: String,
    },
    /// The audit, without anything that was read: it stays on the machine.
    Audit {},
    /// Descriptors of DirectML.
    Check {
        /// As JSON or in a line.
        text: String,
    },
    /// A step of the tour, counted from 1.
    Learn {
        /// Its number.
        step: u32,
    },
}

impl Link {
    /// A layout, with nothing pointed at.
    pub fn layout(text: impl Into<String>) -> Link {
        Link::Layout { text: text.into(), at: None, slice: Vec::new(), axes: String::new() }
    }
}

/// The address of a page at `base`.
///
/// ```
/// use tilework_explain::link::{Link, decode, link};
/// let layout = Link::layout("bf16[4,8]{1,0:T(2,4)(2,1)}");
/// let address = link("https://example.org/", &layout)?;
/// assert_eq!(address, "https://example.org/#1l=bf16~4,8$;1,0:T(2,4)(2,1)@");
/// assert_eq!(decode("#1l=bf16[4,8]{1,0:T(2,4)(2,1)}")?, layout);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A text that is too long for a link.
pub fn link(base: &str, link: &Link) -> Result<String> {
    let base = base.split('#').next().unwrap_or_default();
    Ok(format!("{base}{}", encode(link)?))
}

/// The fragment, with its `#`.
///
/// # Errors
/// A text that is too long for a link.
pub fn encode(link: &Link) -> Result<String> {
    let mut out = format!("#{VERSION}");
    match link {
        Link::Layout { text, at, slice, axes } => {
            field(&mut out, 'l', text);
            let mut more = |name: char, text: &str| {
                out.push('&');
                field(&mut out, name, text);
            };
            if let Some(at) = at {
                more('o', at);
            }
            if !slice.is_empty() {
                let index = |at: &Option<u64>| at.map_or("x".to_owned(), |at| at.to_string());
                more('s', &slice.iter().map(index).collect::<Vec<String>>().join(","));
            }
            if !axes.is_empty() {
                more('d', axes);
            }
        }
        Link::Two { a, b } => {
            field(&mut out, 't', a);
            out.push('&');
            field(&mut out, 'b', b);
        }
        Link::Audit {} => out.push('a'),
        Link::Check { text } => field(&mut out, 'c', text),
        Link::Learn { step } => out.push_str(&format!("n={step}")),
    }
    if out.len() > LONGEST {
        return Err(Error::new(format!("a link of {} characters", out.len()))
            .rule(format!("what many programs pass on has at most {LONGEST}"))
            .accepts("a shorter text"));
    }
    // What is behind an address in a sentence is taken for the sentence's, such as a bracket or a full stop.
    if let Some(last) = out.pop() {
        match last.is_ascii_alphanumeric() || matches!(last, '@' | '$' | '~' | '=') {
            true => out.push(last),
            false => {
                // Percent-encoded, a sign is only itself.
                let meant = SIGNS.iter().find(|(_, sign)| *sign == last).map_or(last, |(plain, _)| *plain);
                percent(&mut out, meant);
            }
        }
    }
    Ok(out)
}

fn field(out: &mut String, name: char, text: &str) {
    out.push(name);
    out.push('=');
    for c in text.chars() {
        match SIGNS.iter().find(|(plain, _)| *plain == c) {
            Some((_, sign)) => out.push(*sign),
            None if is_plain(c) => out.push(c),
            None => percent(out, c),
        }
    }
}

/// Whether an address may have it, and it means nothing to us.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._!'()*,:=/?".contains(c)
}

fn percent(out: &mut String, c: char) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        out.push_str(&format!("%{byte:02X}"));
    }
}

/// What a fragment says, with or without its `#`.
///
/// # Errors
/// Another version, an unknown tab, a number that is none, and bytes that are no text.
pub fn decode(fragment: &str) -> Result<Link> {
    let whole = fragment.strip_prefix('#').unwrap_or(fragment);
    let of = |what: &str| Error::new(what.to_owned()).accepts("a link as tilework link prints it");
    let Some(rest) = whole.strip_prefix(VERSION) else {
        return Err(of("a link of another version than this page"));
    };
    let mut fields = rest.split('&');
    let (name, first) = part(fields.next().unwrap_or_default());
    let first = text(first).ok_or_else(|| of("a link that is no text"))?;
    let others: Vec<(&str, &str)> = fields.map(part).collect();
    let other = |wanted: &str| others.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    match name {
        "l" => {
            let at = other("o").map(|at| match at.parse::<u64>() {
                Ok(at) => Ok(at.to_string()),
                Err(_) => Err(of("an offset that is no number")),
            });
            let index = |at: &str| match at {
                "x" => Ok(None),
                at => at.parse().map(Some).map_err(|_| of("a slice that is no index")),
            };
            let slice = other("s").map(|slice| slice.split(',').take(RANK).map(index).collect());
            let axes = text(other("d").unwrap_or_default()).ok_or_else(|| of("a link that is no text"))?;
            Ok(Link::Layout {
                text: first,
                at: at.transpose()?,
                slice: slice.transpose()?.unwrap_or_default(),
                axes,
            })
        }
        "t" => {
            let b = text(other("b").unwrap_or_default()).ok_or_else(|| of("a link that is no text"))?;
            Ok(Link::Two { a: first, b })
        }
        "a" => Ok(Link::Audit {}),
        "c" => Ok(Link::Check { text: first }),
        "n" => Ok(Link::Learn { step: first.parse().map_err(|_| of("a step that is no number"))? }),
        _ => Err(of("a link to something that this page does not have")),
    }
}

fn part(field: &str) -> (&str, &str) {
    field.split_once('=').unwrap_or((field, ""))
}

/// The text of a field; none if its bytes are none.
fn text(field: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        if c == '%' {
            let (high, low) = (chars.next()?.to_digit(16)?, chars.next()?.to_digit(16)?);
            bytes.push((high * 16 + low) as u8);
            continue;
        }
        let c = SIGNS.iter().find(|(_, sign)| *sign == c).map_or(c, |(plain, _)| *plain);
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        let texts = [
            "",
            "bf16[4,8]{1,0:T(2,4)(2,1)}",
            "f32[2,3]{",
            "f32[2,3] ",
            "a&b=c%20~;$@+ \n\t#[]{}é😀\u{202e}\"<script>",
            "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]",
            "np.pad(x, ((0, 1),)).reshape(2, 2)  # x: float32 (3, 5).",
        ];
        for text in texts {
            let text = text.to_owned();
            let links = [
                Link::layout(text.clone()),
                Link::Layout {
                    text: text.clone(),
                    at: Some(u64::MAX.to_string()),
                    slice: vec![Some(3), None, None, Some(u64::MAX)],
                    axes: text.clone(),
                },
                Link::Two { a: text.clone(), b: text.clone() },
                Link::Check { text },
            ];
            for link in links {
                let fragment = encode(&link).expect("short enough");
                assert_eq!(decode(&fragment).expect("our own"), link, "{fragment}");
                let is_of_addresses =
                    |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/?%".contains(c);
                assert!(fragment[1..].chars().all(is_of_addresses), "{fragment}");
            }
        }
        for link in [Link::Audit {}, Link::Learn { step: 7 }] {
            assert_eq!(decode(&encode(&link).expect("short")).expect("our own"), link);
        }
    }

    #[test]
    fn a_link_in_a_sentence_ends_where_it_should() {
        let layout = Link::layout("(4,8):(8,1)");
        assert_eq!(encode(&layout).expect("short"), "#1l=(4,8):(8,1%29");
    }

    #[test]
    fn what_is_no_link_is_refused() {
        for fragment in [
            "",
            "#",
            "#2l=x",
            "#1",
            "#1x=y",
            "#1l=%",
            "#1l=%zz",
            "#1l=%ff",
            "#1l=x&o=-1",
            "#1l=x&s=,",
            "#1n=x",
        ] {
            assert!(decode(fragment).is_err(), "{fragment}");
        }
        let long = Link::Check { text: "{".repeat(LONGEST) };
        assert!(encode(&long).is_err());
    }
}
