//! What the dumps of a real compiler say, and what comes of them.

use std::path::PathBuf;

use tilework_audit::{Audit, Basis, Buffer, Findings, Operation};

const MIB: u64 = 1 << 20;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/dumps").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| !path.to_string_lossy().contains("before"))
        .collect();
    files.sort();
    files
}

fn read(folder: &str) -> Findings {
    let mut audit = Audit::new();
    for file in files(folder) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read(&file).expect("the file can be read");
        audit.read(&name, &text[..]).expect("memory is read");
    }
    audit.findings(usize::MAX)
}

#[test]
fn every_size_that_the_layouts_say_is_the_compilers() {
    let mut buffers = 0;
    for folder in ["particles", "conv", "tr"] {
        let found = read(folder);
        let [program] = &found.programs[..] else { panic!("{folder}: {found:?}") };
        assert_eq!(program.contradictions, [], "{folder}");
        assert_eq!(program.basis, Basis::Assignment);
        assert!(found.unread.is_empty(), "{:?}", found.unread);
        buffers += program.buffers.len();
        for buffer in &program.buffers {
            if let Some(array) = buffer.shape.as_array() {
                assert_eq!(array.lower().expect("a layout").bytes(), buffer.allocated, "{}", buffer.shape);
            }
        }
    }
    assert_eq!(buffers, 90);
}

#[test]
fn particles_waste_nine_tenths_of_the_memory_at_the_peak() {
    let found = read("particles");
    let program = &found.programs[0];
    assert_eq!(program.name, "jit_particles");
    assert_eq!((program.total.allocated / MIB, program.total.data / MIB), (424, 141));
    let peak = program.peak.as_ref().expect("live ranges");
    assert_eq!(peak.sum.allocated, 162_607_616);
    let worst = &program.shapes[0];
    assert_eq!(worst.sum.buffers, 1);
    assert!(worst.shape.to_string().ends_with("[300000,8]{1,0:T(8,128)}"), "{}", worst.shape);
    assert_eq!((worst.sum.allocated, worst.sum.data), (153_600_000, 9_600_000));
    assert_eq!((worst.growths[0].from, worst.growths[0].to), (8, 128));
}

#[test]
fn the_convolution_allocates_twice_its_data() {
    let found = read("conv");
    let program = &found.programs[0];
    assert_eq!((program.total.allocated / MIB, program.total.data / MIB), (452, 214));
    // All that the compiler reserves in main memory is there at the peak.
    let peak = program.peak.as_ref().expect("live ranges");
    assert_eq!(peak.sum.allocated, 422_408_192);
    assert_eq!(peak.instruction, "fusion.5");
    let worst = &program.shapes[0];
    assert_eq!(worst.shape.to_string(), "bf16[32,224,224,64]{3,0,2,1:T(8,128)(2,1)}");
    assert_eq!((worst.sum.allocated, worst.sum.data), (411_041_792, 205_520_896));
    assert_eq!((worst.place.file.as_deref(), worst.place.line), (Some("example/corpus.py"), Some(13)));
    let spaces: Vec<_> = program.spaces.iter().map(|space| (space.name.as_deref(), space.reserved)).collect();
    let expected =
        [(Some("default"), Some(422_408_192)), (Some("vmem"), Some(51_675_136)), (Some("smem"), Some(4))];
    assert_eq!(spaces, expected);
    let argument = &program.moves[0];
    assert_eq!((argument.name.as_str(), argument.argument.as_deref()), ("copy", Some("x")));
    // The other one is a fusion of its own within a fusion that computes.
    assert_eq!((argument.bytes, program.moved.changes, program.moved.fused), (9_633_792, 1, 1));
}

#[test]
fn a_transpose_moves_what_its_copies_move() {
    let found = read("tr");
    let program = &found.programs[0];
    let moves: Vec<_> = program.moves.iter().map(|each| (each.operation, each.bytes)).collect();
    assert_eq!(moves, [(Operation::Reshape, 714_240), (Operation::Copy, 238_080)]);
    assert_eq!((program.moved.free, program.moved.changes), (1, 2));
    // The compiler's own peak counts no padding.
    assert_eq!(program.compilers_peak, Some(1_190_400));
    assert_eq!(program.peak.as_ref().map(|peak| peak.sum.allocated), Some(1_228_800));
}

#[test]
fn a_module_alone_says_which_instructions_make_buffers() {
    let file = files("conv").pop().expect("the module is the last file");
    let mut audit = Audit::new();
    audit.read("module.txt", &std::fs::read(file).expect("a file")[..]).expect("memory is read");
    let found = audit.findings(usize::MAX);
    let program = &found.programs[0];
    assert_eq!((program.basis, program.peak.is_none()), (Basis::Instructions, true));
    assert_eq!(program.shapes[0].shape.to_string(), "bf16[32,224,224,64]{3,0,2,1:T(8,128)(2,1)}");
    // Fused instructions have no buffers: the fusion's result is the only one of this shape.
    assert_eq!(program.shapes[0].sum.buffers, 1);
    assert_eq!((program.moved.changes, program.moved.fused), (1, 1));
    assert!(found.unread.is_empty(), "{:?}", found.unread);
}

#[test]
fn all_files_in_one_stream_in_any_order_say_the_same() {
    let apart = read("conv");
    for reversed in [false, true] {
        let mut names = files("conv");
        if reversed {
            names.reverse();
        }
        let text: Vec<u8> = names.iter().flat_map(|file| std::fs::read(file).expect("a file")).collect();
        let mut audit = Audit::new();
        audit.read("-", &text[..]).expect("memory is read");
        let together = audit.findings(usize::MAX);
        let [a, b] = [&apart, &together].map(|found| &found.programs[0]);
        assert_eq!((a.total, &a.peak, a.moved), (b.total, &b.peak, b.moved));
        assert_eq!(a.sources, b.sources);
        assert_eq!(a.computations, b.computations);
    }
}

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    use std::io::Write;
    let text = std::fs::read(&files("tr")[0]).expect("a file");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&text).expect("memory is written");
    let packed = encoder.finish().expect("memory is written");
    let mut audit = Audit::new();
    audit.read("a.txt.gz", &packed[..]).expect("memory is read");
    assert_eq!(audit.findings(9).programs[0].total.buffers, 4);
    // Cut off, it says so and keeps what it has.
    let mut audit = Audit::new();
    audit.read("a.txt.gz", &packed[..packed.len() / 2]).expect("an early end is no error");
    assert_eq!(audit.unread()[0].reason, "the file ends in the middle");
}

#[test]
fn a_size_that_the_layout_does_not_need_is_a_finding() {
    let text = "BufferAssignment:\nallocation 0: size 24, page 0, preallocated-temp:\n \
                value: <2 add.5 @0> (size=24,offset=0): f32[2,3]{1,0:T(2,4)}\n";
    let mut audit = Audit::new();
    audit.read("-", text.as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    let contradiction = &found.programs[0].contradictions[0];
    assert_eq!((contradiction.says, contradiction.needs, contradiction.line), (24, 32, 3));
    assert_eq!(contradiction.name.as_deref(), Some("add.5"));
}

/// The peak of buffers of a KiB each: name, offset, first and last instruction.
fn peak_of(buffers: &[(&str, u64, u32, u32)]) -> (u32, u64) {
    let mut text = "BufferAssignment:\nallocation 0: size 8192, page 0, preallocated-temp:\n".to_owned();
    for (number, (name, offset, ..)) in buffers.iter().enumerate() {
        text.push_str(&format!(" value: <{number} {name} @0> (size=1024,offset={offset}): f32[256]{{0}}\n"));
    }
    text.push_str("HloLiveRange (max 9):\n  BufferLiveRange:\n");
    for (name, _, start, end) in buffers {
        text.push_str(&format!("    {name}{{}}:{start}-{end}\n"));
    }
    let mut audit = Audit::new();
    audit.read("-", text.as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    let peak = found.programs[0].peak.as_ref().expect("live ranges");
    (peak.time, peak.sum.allocated)
}

#[test]
fn a_buffer_is_there_while_its_last_reader_runs() {
    assert_eq!(peak_of(&[("a", 0, 0, 2), ("b", 1024, 2, 3)]), (2, 2048));
    assert_eq!(peak_of(&[("a", 0, 0, 2), ("b", 1024, 3, 4)]), (0, 1024));
    assert_eq!(peak_of(&[("a", 0, 0, 9), ("b", 1024, 3, 4), ("c", 2048, 4, 5)]), (4, 3072));
    // At the same place at the same time, two names are one buffer.
    assert_eq!(peak_of(&[("a", 0, 0, 2), ("b", 0, 2, 5), ("c", 1024, 5, 6)]), (5, 2048));
}

#[test]
fn parts_of_a_larger_buffer_are_not_counted_beside_it() {
    let peak = |temporary: &str, lives: [(u32, u32); 4]| {
        let mut text = format!("BufferAssignment:\nallocation 0: size 8192, {temporary}:\n");
        // A buffer of two parts, which are put together where they are, and one more.
        for (name, size, offset) in
            [("a", 1024, 0), ("b", 1024, 1024), ("whole", 2048, 0), ("other", 512, 2048)]
        {
            text.push_str(&format!(
                " value: <1 {name} @0> (size={size},offset={offset}): f32[{}]{{0}}\n",
                size / 4
            ));
        }
        text.push_str("HloLiveRange (max 9):\n  BufferLiveRange:\n");
        for (name, (start, end)) in ["a", "b", "whole", "other"].iter().zip(lives) {
            text.push_str(&format!("    {name}{{}}:{start}-{end}\n"));
        }
        let mut audit = Audit::new();
        audit.read("-", text.as_bytes()).expect("memory is read");
        let found = audit.findings(9);
        let peak = found.programs[0].peak.as_ref().expect("live ranges");
        let counted = |buffer: &&Buffer| buffer.at_peak == Some(true) && buffer.in_place_of.is_none();
        let there = found.programs[0].buffers.iter().filter(counted);
        assert_eq!(there.map(|buffer| buffer.allocated).sum::<u64>(), peak.sum.allocated);
        (peak.time, peak.sum.allocated)
    };
    let temporary = "page 0, preallocated-temp";
    // When the whole begins, its parts end: the most is while the other one lives.
    assert_eq!(peak(temporary, [(0, 3), (1, 3), (3, 6), (5, 7)]), (5, 2560));
    assert_eq!(peak(temporary, [(0, 3), (1, 3), (3, 6), (0, 1)]), (1, 2560));
    assert_eq!(peak(temporary, [(4, 5), (5, 6), (1, 4), (7, 8)]), (1, 2048));
    // Of an allocation that is there throughout, everything in it is.
    assert_eq!(
        peak("output shape is |f32[512]|, maybe-live-out", [(0, 1), (1, 2), (3, 6), (5, 7)]),
        (0, 2560)
    );
}

#[test]
fn what_is_there_at_the_peak_adds_up_to_it() {
    for folder in ["conv", "particles", "tr"] {
        let found = read(folder);
        let program = &found.programs[0];
        let peak = program.peak.as_ref().expect("live ranges");
        for buffer in program.buffers.iter().filter(|buffer| buffer.space == peak.space) {
            let (start, end) = buffer.live.expect("live ranges");
            assert_eq!(buffer.at_peak, Some((start..=end).contains(&peak.time)), "{folder}: {buffer:?}");
        }
        let counted = |b: &&Buffer| b.at_peak == Some(true) && b.in_place_of.is_none();
        let there = program.buffers.iter().filter(|b| b.space == peak.space).filter(counted);
        assert_eq!(
            there.map(|b| (b.allocated, b.data)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)),
            (peak.sum.allocated, peak.sum.data)
        );
        let own = program.shapes.iter().filter(|shape| shape.space == peak.space);
        let by_shape = own.filter_map(|shape| shape.at_peak);
        assert_eq!(by_shape.map(|sum| sum.waste()).sum::<u64>(), peak.sum.waste(), "{folder}");
    }
}

#[test]
fn of_names_for_one_place_only_the_first_counts() {
    // An array in tiles, and the same bytes as an array without: as many bytes, and four times the elements.
    let text = "BufferAssignment:\nallocation 0: size 8192, page 0, preallocated-temp:\n \
                value: <1 a @0> (size=4096,offset=0): f32[8,32]{1,0:T(8,128)}\n \
                value: <2 b @0> (size=4096,offset=0): f32[1024]{0}\n \
                value: <3 c @0> (size=512,offset=4096): f32[128]{0}\nHloLiveRange (max 9):\n  BufferLiveRange:\n    \
                a{}:0-4\n    b{}:3-8\n    c{}:4-4\n";
    let mut audit = Audit::new();
    audit.read("-", text.as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    let program = &found.programs[0];
    let sum = program.peak.as_ref().expect("live ranges").sum;
    assert_eq!((sum.buffers, sum.allocated, sum.data), (2, 4608, 1024 + 512));
    let at_peak =
        |name: &str| program.buffers.iter().find(|b| b.name.as_deref() == Some(name)).and_then(|b| b.at_peak);
    assert_eq!((at_peak("a"), at_peak("b"), at_peak("c")), (Some(true), Some(true), Some(true)));
    let instead: Vec<_> = program.buffers.iter().filter_map(|b| b.in_place_of.as_deref()).collect();
    assert_eq!(instead, ["a"]);
}

#[cfg(not(feature = "proto"))]
#[test]
fn without_the_feature_a_serialised_module_is_told_and_not_read_as_text() {
    let bytes = std::fs::read(
        files("../twins/tr")
            .into_iter()
            .find(|file| file.to_string_lossy().ends_with(".pb"))
            .expect("a module"),
    )
    .expect("a file");
    let mut audit = Audit::new();
    audit.read("tr.hlo.pb", &bytes[..]).expect("memory is read");
    let found = audit.findings(9);
    assert!(found.programs.is_empty());
    let reason = found.unread[0].reason;
    assert!(reason.starts_with("a serialised HloProto") && reason.contains("feature `proto`"), "{reason}");
}

#[test]
fn small_arrays_without_tiles_count_in_whole_registers() {
    let count = |shape: &str, size: u64| {
        let text = format!(
            "BufferAssignment:\nallocation 0: size {size}, page 0, preallocated-temp:\n \
             value: <2 lhs @0> (size={size},offset=0): {shape}\n"
        );
        let mut audit = Audit::new();
        audit.read("-", text.as_bytes()).expect("memory is read");
        audit.findings(9).programs[0].contradiction_count
    };
    let agreeing =
        [("f32[]", 4096), ("bf16[]", 2048), ("pred[]{:S(6)}", 1024), ("s32[2]{0:S(4)}", 4096), ("f32[]", 4)];
    assert!(agreeing.iter().all(|(shape, size)| count(shape, *size) == 0));
    let others = [("f32[]", 8192), ("f32[]{:T(128)}", 4096), ("f32[2,3]{1,0}", 4096), ("bf16[]", 4096)];
    assert!(others.iter().all(|(shape, size)| count(shape, *size) == 1));
}

#[test]
fn compilations_of_the_same_name_are_told_apart() {
    let text = |size: u32| {
        format!(
            "HloModule jit_step\n\nENTRY %main (x: f32[{size}]) -> f32[{size}] {{\n  ROOT %x = f32[{size}]{{0}} parameter(0)\n}}\n"
        )
    };
    let names = |files: &[&str]| -> Vec<String> {
        let mut audit = Audit::new();
        for (file, size) in files.iter().zip([30, 20, 10]) {
            audit.read(file, text(size).as_bytes()).expect("memory is read");
        }
        audit.findings(9).programs.into_iter().map(|program| program.name).collect()
    };
    assert_eq!(
        names(&[
            "d/module_0001.jit_step.after_optimizations.txt",
            "d/module_0007.jit_step.after_optimizations.txt"
        ]),
        ["jit_step (module_0001)", "jit_step (module_0007)"]
    );
    assert_eq!(
        names(&["a/module_0001.jit_step.txt", "b/module_0001.jit_step.txt"]),
        ["jit_step (a)", "jit_step (b)"]
    );
    assert_eq!(names(&["d/module_0001.jit_step.txt"]), ["jit_step"]);
    let mut audit = Audit::new();
    audit.read("-", format!("{}{}", text(3), text(2)).as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    let names: Vec<&str> = found.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!(names, ["jit_step (1)", "jit_step (2)"]);
}

#[test]
fn copies_are_sorted_by_the_cycles_of_a_later_stage() {
    let module = |config: fn(&str) -> String| {
        format!(
            "HloModule m, is_scheduled=true\n\nENTRY %main (p: f32[256,128]) -> f32[256,128] {{\n  \
             %p = f32[256,128]{{1,0:T(8,128)}} parameter(0)\n  %copy.1 = f32[256,128]{{0,1:T(8,128)}} copy(%p){}\n  \
             ROOT %copy.3 = f32[256,128]{{1,0:T(8,128)}} copy(%copy.1){}\n}}\n",
            config("1000"),
            config("7000")
        )
    };
    let plain = module(|_| String::new());
    let timed = module(|cycles| {
        format!(", backend_config={{\"window_config\":{{\"estimated_cycles\":\"{cycles}\",\"x\":\"1\"}}}}")
    });
    let names = ["d/module_0000.m.after_codegen.txt", "d/module_0000.m.after_optimizations.txt"];
    let chosen = tilework_audit::Selection::of(&names);
    assert_eq!(chosen.files, [1, 0]);
    let mut audit = Audit::new();
    for place in chosen.files {
        let text = [&timed, &plain][place];
        audit.read(names[place], text.as_bytes()).expect("memory is read");
    }
    let found = audit.findings(10);
    assert_eq!(found.programs.len(), 1);
    let program = &found.programs[0];
    let moves: Vec<(&str, Option<u64>)> =
        program.moves.iter().map(|change| (change.name.as_str(), change.cycles)).collect();
    assert_eq!(moves, [("copy.3", Some(7000)), ("copy.1", Some(1000))]);
    assert_eq!((program.moved.timed, program.moved.cycles, program.instructions), (2, 8000, 3));
    // Alone, the later stage says all of it.
    let mut audit = Audit::new();
    audit.read(names[0], timed.as_bytes()).expect("memory is read");
    assert_eq!(audit.findings(10).programs[0].moves[0].cycles, Some(7000));
    // Without estimates, bytes with padding decide.
    let mut audit = Audit::new();
    audit.read(names[1], plain.as_bytes()).expect("memory is read");
    let found = audit.findings(10);
    assert!(found.programs[0].moves.is_sorted_by_key(|change| std::cmp::Reverse(change.touched)));
    assert_eq!(found.programs[0].moves[0].touched, 2 * 256 * 128 * 4);
}
