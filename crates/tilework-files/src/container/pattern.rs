//! Choosing arrays by their names: `layers.*.weight`.

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
}
