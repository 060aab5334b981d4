//! Choosing arrays by their names: `layers.*.weight`.

use tilework::{Error, Result};

/// A pattern of names: `*` is any number of characters, dots among them, `?` is one, and all others are themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<char>);

impl Pattern {
    /// The pattern of this text. Every text is one.
    pub fn new(text: &str) -> Pattern {
        Pattern(text.chars().collect())
    }

    /// Whether a name is of this pattern, as a whole.
    ///
    /// ```
    /// use tilework_files::container::Pattern;
    /// assert!(Pattern::new("layers.*.weight").matches("layers.0.mlp.weight"));
    /// assert!(!Pattern::new("layers.?").matches("layers.10"));
    /// ```
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (&self.0, name.chars().collect::<Vec<char>>());
        // Where to go on if what follows does not match: behind the last star, one character further into the name.
        let (mut at, mut next, mut star) = (0, 0, None);
        while next < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    star = Some((at, next));
                    at += 1;
                }
                Some(&c) if c == '?' || c == name[next] => (at, next) = (at + 1, next + 1),
                _ => match &mut star {
                    Some((before, begun)) => {
                        *begun += 1;
                        (at, next) = (*before + 1, *begun);
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|&c| c == '*')
    }
}

/// New names for those of a pattern: `model.*=*` takes `model.` away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    old: Vec<char>,
    new: Vec<char>,
}

impl Rename {
    /// Reads `OLD=NEW`: what the stars of OLD stand for, one after the other, is where the stars of NEW are.
    ///
    /// ```
    /// use tilework_files::container::Rename;
    /// let rename = Rename::new("model.layers.*.self_attn.*=blk.*.attn_*")?;
    /// assert_eq!(rename.apply("model.layers.3.self_attn.q.weight").as_deref(), Some("blk.3.attn_q.weight"));
    /// assert_eq!(rename.apply("model.norm"), None);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// No `=`, and more stars in NEW than in OLD.
    pub fn new(text: &str) -> Result<Rename> {
        let (old, new) = text.split_once('=').ok_or_else(|| {
            Error::new(format!("--rename {text}"))
                .rule("a name is changed from one into another")
                .accepts("OLD=NEW, such as 'model.*=*'")
        })?;
        let stars = |text: &str| text.chars().filter(|&c| c == '*').count();
        if stars(new) > stars(old) {
            return Err(Error::new(format!("{} stars in {new} and {} in {old}", stars(new), stars(old)))
                .rule("each star of NEW is what a star of OLD stands for"));
        }
        Ok(Rename { old: old.chars().collect(), new: new.chars().collect() })
    }

    /// The new name of what has this one, if it is of the pattern. Each star stands for as little as it can.
    pub fn apply(&self, name: &str) -> Option<String> {
        if !Pattern(self.old.clone()).matches(name) {
            return None;
        }
        let name: Vec<char> = name.chars().collect();
        let mut found: Vec<String> = Vec::new();
        let mut rest = &name[..];
        for (at, &c) in self.old.iter().enumerate() {
            if c != '*' {
                rest = &rest[1..];
                continue;
            }
            let behind = Pattern(self.old[at + 1..].to_vec());
            let fits = |taken: &usize| behind.matches(&rest[*taken..].iter().collect::<String>());
            let taken = (0..=rest.len()).find(fits)?;
            found.push(rest[..taken].iter().collect());
            rest = &rest[taken..];
        }
        let mut found = found.into_iter();
        let part = |&c: &char| if c == '*' { found.next().unwrap_or_default() } else { c.to_string() };
        Some(self.new.iter().map(part).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By recursion, as the definition has it.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some('*'), _) => naive(&pattern[1..], name) || !name.is_empty() && naive(pattern, &name[1..]),
            (Some('?'), Some(_)) => naive(&pattern[1..], &name[1..]),
            (Some(a), Some(b)) if a == b => naive(&pattern[1..], &name[1..]),
            _ => false,
        }
    }

    #[test]
    fn every_short_pattern_matches_what_the_definition_says() {
        let words = |letters: &[char], longest: usize| {
            let mut all = vec![String::new()];
            for _ in 0..longest {
                let longer: Vec<String> =
                    all.iter().flat_map(|word| letters.iter().map(move |c| format!("{word}{c}"))).collect();
                all.extend(longer);
            }
            all.sort();
            all.dedup();
            all
        };
        for pattern in words(&['a', 'b', '*', '?'], 4) {
            for name in words(&['a', 'b'], 5) {
                let letters: (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
                let expected = naive(&letters.0, &letters.1);
                assert_eq!(Pattern::new(&pattern).matches(&name), expected, "{pattern} {name}");
            }
        }
    }

    #[test]
    fn what_a_star_stands_for_goes_to_the_new_name() -> Result<()> {
        for (rename, name, new) in [
            ("a.*=*", "a.b.c", Some("b.c")),
            ("*.weight=*", "x.weight.weight", Some("x.weight")),
            ("*.*=*/*", "a.b.c", Some("a/b.c")),
            ("w?=v", "w1", Some("v")),
            ("*=x.*.y", "", Some("x..y")),
            ("*a=*", "bab", None),
            ("a=b=c", "a", Some("b=c")),
            ("*-*=*", "1-2", Some("1")),
        ] {
            assert_eq!(Rename::new(rename)?.apply(name).as_deref(), new, "{rename} {name}");
        }
        assert!(Rename::new("a").is_err() && Rename::new("a=*").is_err());
        Ok(())
    }
}
