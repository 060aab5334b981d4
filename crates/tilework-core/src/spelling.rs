//! Which name somebody meant who wrote something else.

/// The longest word that is taken for a slip of the pen, in bytes: nothing that is spelled here has a longer name.
pub(crate) const LONGEST: usize = 20;

/// The name that this word probably means: the one that takes the fewest letters inserted, removed, replaced, or
/// swapped with their neighbour, if these are few. Names and word are compared as they are, so bring them to one case.
///
/// ```
/// let names = ["tpu", "tpu-v4", "tenstorrent"];
/// assert_eq!(tilework::nearest("tenstorent", names), Some("tenstorrent"));
/// assert_eq!(tilework::nearest("gpu-v100", names), None);
/// ```
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    // A third of the letters may be wrong, and one letter of a short name.
    let most = (word.len() / 3).max(1);
    let names = names.into_iter().filter(|name| name.len().abs_diff(word.len()) <= most);
    let distances = names.map(|name| (distance(word, name), name));
    // Of equally near names the one of the same length: letters are swapped more often than lost.
    let (distance, name) =
        distances.min_by_key(|&(distance, name)| (distance, name.len().abs_diff(word.len())))?;
    (distance <= most && distance < word.len()).then_some(name)
}

/// How many letters to insert, remove, replace, or swap with their neighbour to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut rows = vec![(0..=to.len()).collect::<Vec<_>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}
