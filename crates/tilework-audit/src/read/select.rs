//! Which files of a folder belong to an audit, and in which order they are best read.

use std::collections::{HashMap, HashSet};
use tilework::InOrder;

use crate::log::{kinds, onednn, onnx};
use crate::read::recognise;

/// Whether bytes begin like a file of a dump, text or serialised: then it is read in a folder where it is not named.
pub(crate) fn is_known(start: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 7] = [
        b"BufferAssignment:",
        b"HloLiveRange (max",
        b"HloModule ",
        b"Memory Space: ",
        b"module @",
        b"module attributes",
        b"module {",
    ];
    if recognise::serialised(start).is_some()
        || onednn::begins(start)
        || onnx::begins(start)
        || kinds::json(start).is_some()
    {
        return true;
    }
    // MLIR may name locations, maps and types first.
    let names_something = |line: &[u8]| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//");
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let mut lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines
        .find(|line| !names_something(line))
        .is_some_and(|line| BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)))
}

/// The files of a folder that are read, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Their places in the list that was given.
    pub files: Vec<usize>,
    /// How many are not needed: other stages of programs that are read, and the same serialised.
    pub earlier: usize,
}

impl Selection {
    /// Chooses from the names of the files of a dump.
    ///
    /// A compiler may dump a module many times before, between and after its optimisations. Only the last stage says what
    /// is allocated, and what is written once more of it would be counted once more. Of one program, the buffer
    /// assignment is read first: then it is known which instructions matter. What is there as text is not read once more
    /// serialised. Of what is written after the code was made, only the estimates of time are read, and of what the
    /// compiler was given, the sizes of arguments that were then divided among devices.
    ///
    /// ```
    /// use tilework_audit::Selection;
    /// let names = ["module_0000.jit_f.after_optimizations.txt",
    ///     "module_0000.jit_f.after_optimizations-buffer-assignment.txt",
    ///     "module_0000.jit_f.before_optimizations.txt",
    ///     "module_0000.jit_f.after_codegen.txt"];
    /// assert_eq!(Selection::of(&names), Selection { files: vec![1, 0, 3, 2], earlier: 0 });
    /// ```
    pub fn of(names: &[impl AsRef<str>]) -> Selection {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let mut last: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            let Some(module) = module(name) else { continue };
            let stage = stage(name);
            last.entry(module).and_modify(|last| *last = stage.min(*last)).or_insert(stage);
        }
        let is_last = |name: &str| {
            module(name).and_then(|module| last.get(module)).is_none_or(|&last| stage(name) == last)
        };
        let mut files: Vec<usize> = (0..names.len()).filter(|&place| is_last(names[place])).collect();
        // What the compiler estimates of the time stands in a later stage of the same program, and what was divided among
        // devices in the first.
        let is_beside = |name: &str| {
            let of = module(name).and_then(|module| last.get(module));
            of == Some(&0) && beside(name).is_some()
        };
        let others: Vec<usize> = (0..names.len()).filter(|&place| is_beside(names[place])).collect();
        let is_module = |name: &str| rank(name) == MODULE && !is_serialised(name);
        let in_text: HashSet<&str> =
            files.iter().map(|&place| names[place]).filter(|name| is_module(name)).map(group).collect();
        files.retain(|&place| !is_serialised(names[place]) || !in_text.contains(group(names[place])));
        // Without the text of the module there is nothing that they are about.
        let in_text: HashSet<String> = in_text.into_iter().map(str::to_owned).collect();
        let is_about = |place: &usize| beside(names[*place]).is_some_and(|(of, _)| in_text.contains(&of));
        files.extend(others.into_iter().filter(is_about));
        let earlier = names.len() - files.len();
        files.order_by_key(|&place| {
            let of = beside(names[place]).filter(|(of, _)| in_text.contains(of));
            let later = of.is_some();
            (
                of.map(|(of, _)| of).unwrap_or_else(|| group(names[place]).to_owned()),
                later,
                rank(names[place]),
                names[place],
            )
        });
        Selection { files, earlier }
    }
}

/// In which order the files of one program are read.
fn rank(name: &str) -> usize {
    match name {
        name if name.contains("-buffer-assignment") => 0,
        name if name.contains("-live-range") => 1,
        name if name.contains("-memory-usage-report") => 2,
        _ => MODULE,
    }
}

/// The rank of the module itself.
const MODULE: usize = 3;

/// Whether a name is that of a serialised file.
fn is_serialised(name: &str) -> bool {
    name.strip_suffix(".gz").unwrap_or(name).ends_with(".pb")
}

/// A kernel is dumped after each of its passes: `123-0004-mosaic-dump-kernel-post-infer-memref-layout.txt`. The name of
/// the compilation, and the number of the pass.
fn kernel(file: &str) -> Option<(&str, usize)> {
    let (compilation, pass) = file[..file.find("-mosaic-dump-")?].rsplit_once('-')?;
    Some((compilation, pass.parse().ok()?))
}

/// How late a stage is: 0 is the one whose buffers are assigned.
fn stage(name: &str) -> usize {
    if let Some((_, pass)) = kernel(&name[start_of_file(name)..]) {
        return usize::MAX - pass;
    }
    // Of `cpu_after_optimizations` and `sm_90_gpu_after_optimizations`, the end counts.
    const STAGES: [&str; 4] = [
        "after_optimizations",
        "after_optimizations_after_buffer_assignment",
        "after_codegen",
        "after_optimizations_before_buffer_assignment",
    ];
    let group = group(name);
    STAGES.iter().position(|stage| group.ends_with(stage)).unwrap_or(STAGES.len())
}

/// `module_0000.jit_f` of any file about it, with its folder: of files that are called so, and of those in a folder that
/// is, such as the text that was given to the compiler.
fn module(name: &str) -> Option<&str> {
    let file = start_of_file(name);
    if let Some((compilation, _)) = kernel(&name[file..]) {
        return Some(&name[..file + compilation.len()]);
    }
    let folder = &name[..file.saturating_sub(1)];
    let parent = start_of_file(folder);
    let end = |start: usize, end: usize| {
        let mut parts = name[start..end].strip_prefix("module_")?.match_indices('.');
        let numbered = parts.next()?.0;
        let named = parts.next().map(|(dot, _)| dot);
        Some(start + "module_".len() + named.unwrap_or(end - start - "module_".len()))
            .filter(|_| numbered > 0)
    };
    let end = end(file, name.len()).or_else(|| end(parent, folder.len()))?;
    Some(&name[..end])
}

fn start_of_file(path: &str) -> usize {
    path.rfind(['/', '\\']).map_or(0, |slash| slash + 1)
}

/// Whether two files are, by their names, about the same program of the same dump.
pub fn is_same_program(a: &str, b: &str) -> bool {
    group(a) == group(b)
}

/// What is read of another stage of a program beside the one whose buffers are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// How long the compiler thinks that instructions take: from the text after code was made.
    Estimates,
    /// The arguments before they were divided among devices: from the text before all optimisations.
    Whole,
}

/// What is read of such a text, and what it has in common with the stage whose buffers are assigned.
pub(super) fn beside(name: &str) -> Option<(String, Beside)> {
    let stages = [(".after_codegen", Beside::Estimates), (".before_optimizations", Beside::Whole)];
    let found = stages.iter().find_map(|&(stage, what)| Some((group(name).strip_suffix(stage)?, what)));
    let (before, what) = found.filter(|_| rank(name) == MODULE && !is_serialised(name))?;
    Some((format!("{before}.after_optimizations"), what))
}

/// What a name has in common with those of all files about the same program.
pub(super) fn group(file: &str) -> &str {
    let mut group = file.strip_suffix(".gz").unwrap_or(file);
    for suffix in [".txt", ".pb", ".hlo", "-buffer-assignment", "-live-range", "-memory-usage-report"] {
        group = group.strip_suffix(suffix).unwrap_or(group);
    }
    group
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
    fn of_what_todays_compilers_dump_each_program_is_read_once() {
        let tpu = "d/module_0000.jit_f.cl_1.";
        let stages = [
            "after_codegen.txt",
            "after_optimizations-buffer-assignment.txt",
            "after_optimizations-live-range.txt",
            "after_optimizations.txt",
            "after_optimizations_after_buffer_assignment.txt",
            "after_optimizations_before_buffer_assignment.txt",
            "before_optimizations.txt",
            "oom_intermediate_module.txt",
        ];
        let mut names: Vec<String> = stages.iter().map(|stage| format!("{tpu}{stage}")).collect();
        assert_eq!(Selection::of(&names), Selection { files: vec![1, 2, 3, 0, 6], earlier: 3 });
        names.extend([
            "d/module_0000.jit_f.cl_1/module.mlir".to_owned(),
            "d/module_0007.jit_g/module.mlir".to_owned(),
        ]);
        assert_eq!(Selection::of(&names), Selection { files: vec![1, 2, 3, 0, 6, 9], earlier: 4 });
        names.truncate(stages.len());
        // Without an assignment there is nothing to say which is the last, but for the names.
        names.drain(1..=4);
        assert_eq!(Selection::of(&names), Selection { files: vec![0], earlier: 3 });
        let of_processors = [
            "d/module_0001.jit_g.cpu_after_optimizations-buffer-assignment.txt",
            "d/module_0001.jit_g.cpu_after_optimizations.txt",
            "d/module_0001.jit_g.before_optimizations.txt",
            "d/module_0002.h.sm_9.0_gpu_after_optimizations.txt.gz",
            "d/module_0002.h.before_optimizations.txt",
        ];
        assert_eq!(Selection::of(&of_processors), Selection { files: vec![0, 1, 3], earlier: 2 });
    }

    #[test]
    fn a_program_is_read_serialised_only_where_there_is_no_text_of_it() {
        let module = |file: &str| format!("module_0000.jit_f.{file}");
        let serialised = [module("after_optimizations.hlo.pb"), module("before_optimizations.hlo.pb")];
        assert_eq!(Selection::of(&serialised), Selection { files: vec![0], earlier: 1 });
        let assignment = module("after_optimizations-buffer-assignment.txt");
        let both = [&serialised[0], &assignment, &module("after_optimizations.txt.gz")];
        assert_eq!(Selection::of(&both), Selection { files: vec![1, 2], earlier: 1 });
        // What the text lacks is in the serialised file.
        assert_eq!(Selection::of(&both[..2]), Selection { files: vec![1, 0], earlier: 0 });
    }

    #[test]
    fn of_a_kernel_the_last_pass_is_read() {
        let names = [
            "d/17-0000-mosaic-dump-anonymous-post-deserialization.txt",
            "d/18-0001-mosaic-dump-f-original.txt",
            "d/18-0021-mosaic-dump-f-post-eliminate-llo-extensions.txt",
            "d/18-0022-mosaic-dump-f-post-finalize-llo.txt",
            "d/x-mosaic-dump-f.txt",
        ];
        assert_eq!(Selection::of(&names), Selection { files: vec![0, 3, 4], earlier: 2 });
    }

    #[test]
    fn files_of_dumps_are_known_by_their_beginning() {
        assert!(is_known(b"HloModule jit_f, is_scheduled=true"));
        assert!(is_known(b"\n  module @jit_f attributes {"));
        assert!(is_known(
            b"#loc = loc(unknown)\n#map = affine_map<(d0) -> (d0)>\n\nmodule @jit_f attributes {"
        ));
        assert!(!is_known(b"digraph G {"));
        assert!(is_known(b"\x0a\x83\x02\x0a\x05jit_f\x12\x06main.1\x1a\x80\x01"));
        assert!(!is_known(b"# notes\nof no module @jit_f"));
    }
}
