//! Which files of a folder belong to an audit, and in which order they are best read.

use crate::audit::group;

/// Whether a text begins like a file of a dump: then it is read in a folder where it is not named.
pub fn is_known(start: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 7] = [
        b"BufferAssignment:",
        b"HloLiveRange (max",
        b"HloModule ",
        b"Memory Space: ",
        b"module @",
        b"module attributes",
        b"module {",
    ];
    let start = start.trim_ascii_start();
    BEGINNINGS.iter().any(|beginning| start.starts_with(beginning))
}

/// The files of a folder that are read, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Their places in the list that was given.
    pub files: Vec<usize>,
    /// How many are earlier stages of programs that are read.
    pub earlier: usize,
}

impl Selection {
    /// Chooses from the names of the files of a dump.
    ///
    /// A compiler may dump a module before, between and after its optimisations. Only the last stage says what is
    /// allocated. Of one program, the buffer assignment is read first: then it is known which instructions matter.
    ///
    /// ```
    /// use tilework_audit::Selection;
    /// let names = ["module_0000.jit_f.after_optimizations.txt",
    ///     "module_0000.jit_f.after_optimizations-buffer-assignment.txt",
    ///     "module_0000.jit_f.before_optimizations.txt"];
    /// assert_eq!(Selection::of(&names), Selection { files: vec![1, 0], earlier: 1 });
    /// ```
    pub fn of(names: &[impl AsRef<str>]) -> Selection {
        const LAST: &str = "after_optimizations";
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let finished: std::collections::HashSet<&str> =
            names.iter().filter(|name| name.contains(LAST)).filter_map(|name| module(name)).collect();
        let is_earlier =
            |name: &str| !name.contains(LAST) && module(name).is_some_and(|module| finished.contains(module));
        let mut files: Vec<usize> = (0..names.len()).filter(|&place| !is_earlier(names[place])).collect();
        let earlier = names.len() - files.len();
        let rank = |name: &str| match name {
            name if name.contains("-buffer-assignment") => 0,
            name if name.contains("-live-range") => 1,
            name if name.contains("-memory-usage-report") => 2,
            _ => 3,
        };
        files.sort_by_key(|&place| (group(names[place]), rank(names[place]), names[place]));
        Selection { files, earlier }
    }
}

/// `module_0000.jit_f` of any file about it, with its folder.
fn module(name: &str) -> Option<&str> {
    let folder = name.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    let file = &name[folder..];
    let mut parts = file.strip_prefix("module_")?.match_indices('.');
    let end = parts.nth(1)?.0 + "module_".len();
    Some(&name[..folder + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_stages_are_left_out_only_where_there_is_a_last_one() {
        let names = [
            "a/module_0001.jit_g.0003.pass.txt",
            "a/module_0000.jit_f.0003.pass.txt",
            "a/module_0000.jit_f.cl_1.after_optimizations.txt.gz",
            "b/module_0000.jit_f.before_optimizations.txt",
            "notes.txt",
        ];
        assert_eq!(Selection::of(&names), Selection { files: vec![2, 0, 3, 4], earlier: 1 });
        assert_eq!(Selection::of(&[] as &[&str]), Selection::default());
    }

    #[test]
    fn files_of_dumps_are_known_by_their_beginning() {
        assert!(is_known(b"HloModule jit_f, is_scheduled=true"));
        assert!(is_known(b"\n  module @jit_f attributes {"));
        assert!(!is_known(b"digraph G {"));
    }
}
