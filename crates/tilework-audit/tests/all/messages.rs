//! Out-of-memory messages, old and new, as people paste them.

use std::path::PathBuf;

use tilework_audit::{Audit, Audited, Basis, Class, Limit};

const MIB: u64 = 1 << 20;

fn read(text: &str) -> Audited {
    let mut audit = Audit::new();
    audit.read("message", text.as_bytes()).expect("memory is read");
    let mut found = audit.findings(usize::MAX);
    assert_eq!(found.programs.len(), 1, "{found:?}");
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    found.programs.remove(0)
}

const OLD: &str = "\
Compilation failure: Ran out of memory in memory space hbm. Used 17.60G of 16.00G hbm. Exceeded hbm capacity by 1.60G.

Total hbm usage >= 17.60G:
    reserved        528.00M
    program          17.08G

  Largest program allocations in hbm:

  1. Size: 256.00M
     Operator: op_type=\"OneHot\" op_name=\"one_hot\" source_file=\"model.py\" source_line=40
     Shape: f32[4,128,128,8,18]{4,3,0,2,1:T(8,128)}
     Unpadded size: 36.00M
     Extra memory due to padding: 220.00M (7.1x expansion)
     XLA label: %fusion.1668 = f32[4,128,128,8,18]{4,3,0,2,1:T(8,128)} fusion(s32[4]{0} %copy.130), kind=kLoop
     Allocation type: HLO temp
     ==========================

  2. Size: 64.00M
     Shape: f32[32,128,64,64]{3,0,2,1}
     Unpadded size: 64.00M
     XLA label: fusion.7 = fusion(copy.2), kind=kLoop
     Allocation type: HLO temp
     ==========================
";

#[test]
fn the_old_message_lists_buffers_with_their_padding() {
    let program = read(OLD);
    assert_eq!(program.basis, Basis::Message);
    assert_eq!(
        (program.message.used, program.message.memory.as_deref()),
        (Some(18_897_856_102), Some("hbm"))
    );
    assert_eq!(program.buffers.len(), 2);
    let worst = &program.buffers[0];
    // 4 × 128 × 128 × 8 × 128 elements of 4 bytes: exact, though the message rounds.
    assert_eq!((worst.allocated, worst.data), (256 * MIB, 36 * MIB));
    assert_eq!(worst.name.as_deref(), Some("fusion.1668"));
    assert_eq!((worst.place.file.as_deref(), worst.place.line), (Some("model.py"), Some(40)));
    assert_eq!(program.buffers[1].name.as_deref(), Some("fusion.7"));
    assert_eq!(program.buffers[1].place.file, None);
}

#[test]
fn what_stands_before_each_line_of_a_log_does_not_matter() {
    let logged: String =
        OLD.lines().map(|line| format!("2020-05-04 09:05:40.7 E 1578 xla_util.cc:76] {line}\n")).collect();
    let (plain, logged) = (read(OLD), read(&logged));
    assert_eq!((plain.total, plain.message), (logged.total, logged.message));
}

#[test]
fn todays_message_has_sums_only() {
    let program = read(
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: \
         HLO temporaries (32.88G) exceeds 15.75G of hbm\n",
    );
    assert_eq!(program.basis, Basis::Nothing);
    assert_eq!(
        (program.message.used.map(|used| used >> 30), program.message.capacity.map(|all| all >> 30)),
        (Some(32), Some(15))
    );
}

#[test]
fn a_message_about_one_allocation_has_its_shape() {
    let program = read(
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating on stack for \
         %kernel.18 = bf16[2048,3]{1,0:T(8,128)(2,1)} custom-call(...)",
    );
    assert_eq!(program.message.memory.as_deref(), Some("vmem"));
    assert_eq!((program.shapes[0].sum.allocated, program.shapes[0].sum.data), (512 << 10, 12 << 10));
}

#[test]
fn a_size_that_a_layout_without_its_tiles_cannot_explain_is_told() {
    // Messages of 2018 print no tiles, so the layout as printed needs only the elements.
    let program = read(
        "Largest program allocations in hbm:\n\n  1. Size: 64.00M\n     Shape: f32[32,128,32,64]{3,0,2,1}\n     \
         Unpadded size: 32.00M\n     Extra memory due to padding: 32.00M (2.0x expansion)\n",
    );
    let contradiction = &program.contradictions[0];
    assert_eq!((contradiction.says, contradiction.needs, contradiction.rounded), (64 * MIB, 32 * MIB, true));
    assert_eq!((program.total.allocated, program.total.data), (64 * MIB, 32 * MIB));
    assert!(program.shapes[0].growths.is_empty());
}

#[test]
fn a_tuple_in_a_message_is_all_that_is_in_it() {
    let program = read(
        "Largest program allocations in hbm:\n\n  1. Size: 8.0K\n     \
         Shape: (f32[8,3]{1,0:T(8,128)}, f32[8,3]{1,0:T(8,128)})\n",
    );
    assert_eq!((program.total.allocated, program.total.data), (8192, 192));
    assert_eq!(program.contradiction_count, 0);
}

const OTHERS: &str = "\
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 18912512 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    6.38MiB
              constant allocation:         0B
        maybe_live_out allocation:    6.00MiB
     preallocated temp allocation:   18.04MiB
                 total allocation:   30.41MiB
              total fragmentation:         0B (0.00%)
Peak buffers:
\tBuffer 1:
\t\tSize: 6.00MiB
\t\tOperator: op_name=\"jit(main)/concatenate[dimension=0]\" source_file=\"models.py\" source_line=689
\t\tXLA Label: concatenate
\t\tShape: f32[4096,128,3]{2,1,0}
\t\t==========================

\tBuffer 2:
\t\tSize: 384.0KiB
\t\tEntry Parameter Subshape: f32[256,128,3]
\t\t==========================

";

#[test]
fn the_list_of_a_gpu_or_cpu_is_read_too() {
    let program = read(OTHERS);
    assert_eq!((program.basis, program.message.used), (Basis::Message, Some(18_912_512)));
    assert_eq!(program.buffers.len(), 2);
    assert_eq!(program.total.allocated, 4 * 3 * 128 * (4096 + 256));
    let find = |shape: &str| {
        program.buffers.iter().find(|buffer| buffer.shape.to_string() == shape).expect("a buffer")
    };
    let worst = find("f32[4096,128,3]{2,1,0}");
    assert_eq!(worst.name.as_deref(), Some("concatenate"));
    assert_eq!((worst.place.file.as_deref(), worst.place.line), (Some("models.py"), Some(689)));
    // What was said of one buffer is not said of the next.
    let argument = find("f32[256,128,3]{2,1,0}");
    assert_eq!((argument.name.as_deref(), argument.place.file.as_deref()), (None, None));
    let parts: Vec<_> = program.message.parts.iter().map(|part| part.need.name()).collect();
    assert_eq!(parts, ["arguments", "constants", "output", "temporaries", "program", "fragmentation"]);
}

#[test]
fn a_message_that_a_log_repeats_is_counted_once() {
    // The summary, the message, and the message of another worker.
    let workers: String =
        OLD.lines().map(|line| format!("(EngineCore pid=9) ERROR 06-03 [core.py:1184] {line}\n")).collect();
    let first = OLD.lines().next().expect("a line");
    for repeated in
        [OLD.repeat(3), format!("{first}\n{OLD}"), format!("{OLD}{first}\n"), format!("{OLD}{workers}")]
    {
        let program = read(&repeated);
        assert_eq!((program.total, program.message), (read(OLD).total, read(OLD).message));
    }
    let other = OLD.replace("Used 17.60G", "Used 27.60G");
    let mut audit = Audit::new();
    audit.read("log", format!("{OLD}{other}{OTHERS}{OLD}").as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    let mut used: Vec<_> =
        found.programs.iter().map(|program| program.message.used.map(|used| used >> 20)).collect();
    used.sort();
    assert_eq!(used, [Some(18), Some(18_022), Some(28_262)]);
    assert!(found.programs.iter().all(|program| program.buffers.len() == 2));
}

#[test]
fn an_error_on_one_line_says_the_same() {
    for text in [OLD, OTHERS] {
        let shown = format!("RuntimeError('{}')\n", text.replace('\n', "\\n").replace('\t', " "));
        let (plain, shown) = (read(text), read(&shown));
        assert_eq!((plain.total, plain.message), (shown.total, shown.message));
        assert_eq!(plain.buffers[0].name, shown.buffers[0].name);
    }
    // The name of an operation of 2021 goes over several lines.
    let several = r#"op_name="scan[ sizes=( )\n shape=(1, 2) ]""#;
    let program = read(&OLD.replace("op_name=\"one_hot\"", several));
    assert_eq!((program.buffers[0].place.file.as_deref(), program.buffers.len()), (Some("model.py"), 2));
}

#[test]
fn a_dump_behind_a_message_is_a_program_of_its_own() {
    let dump = "BufferAssignment:\nallocation 0: size 32, page 0, preallocated-temp:\n \
                value: <2 add.5 @0> (size=32,offset=0): f32[2,3]{1,0:T(2,4)}\n";
    let mut audit = Audit::new();
    audit.read("log", format!("{OLD}{dump}").as_bytes()).expect("memory is read");
    let found = audit.findings(9);
    let bases: Vec<_> = found.programs.iter().map(|program| (program.basis, program.total.buffers)).collect();
    assert_eq!(bases, [(Basis::Message, 2), (Basis::Assignment, 1)]);
    assert!(found.programs.iter().all(|program| program.contradictions.is_empty()));
}

#[test]
fn a_message_of_today_names_the_program_and_its_memory() {
    let program = read(
        "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO \
         temporaries (32.00G) exceeds available HBM (15.75G). HLO module: jit_f.\n\
         See https://openxla.org/xla/errors/error_1000 for more details.\n",
    );
    assert_eq!((program.name.as_str(), program.message.memory.as_deref()), ("jit_f", Some("hbm")));
    assert_eq!((program.message.used, program.message.capacity), (Some(32 << 30), Some(63 << 28)));
    let kernel = read(
        "RESOURCE_EXHAUSTED: Allocation (size=268435456) would exceed memory (size=134217728) :: #allocation3 [shape = \
         'u8[268435456]{0}', space=vmem, size = 0x10000000, scoped, tag = 'input window allocation for operator input \
         0. The window shape is f32[8192,8192], while the full shape is f32[8192,8192]. The u8 shape/size shown above \
         represents the raw byte size of this window in VMEM. This allocation is single buffered.'] :: f.1\n",
    );
    assert_eq!((kernel.message.used, kernel.message.capacity), (Some(256 * MIB), Some(128 * MIB)));
    assert_eq!(kernel.message.memory.as_deref(), Some("vmem"));
    assert!(kernel.shapes.is_empty());
}

#[test]
fn what_a_text_is_does_not_depend_on_how_many_bytes_come_at_a_time() {
    let text = "it has s32[300000,8]{1,0:T(8,128)}";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [[&[0xff, 0xfe][..], &wide].concat(), [&[0xef, 0xbb, 0xbf][..], text.as_bytes()].concat()] {
        for capacity in 1..6 {
            let mut audit = Audit::new();
            audit
                .read("text", std::io::BufReader::with_capacity(capacity, &bytes[..]))
                .expect("memory is read");
            assert_eq!(audit.findings(9).programs[0].total.allocated, 153_600_000, "{capacity}");
        }
    }
}

/// A message as somebody posted it.
fn posted(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/messages").join(name);
    std::fs::read_to_string(path).expect("the file is there")
}

#[test]
fn what_has_no_shape_is_counted_and_called_what_it_is() {
    let program = read(&posted("torchxla_7942_vmem.txt"));
    let spills = program.buffers.iter().find(|buffer| buffer.class == Some(Class::Spilled)).expect("spills");
    assert_eq!((spills.allocated >> 10, spills.allocated), (30_371, spills.data));
    assert_eq!(spills.name.as_deref(), Some("register allocator spill slots call depth 2"));
    assert_eq!((program.message.used, program.message.capacity), (Some(31_404_851), Some(16 << 20)));
    // The shape is a second buffer, of which the message is cut off.
    assert_eq!((program.buffers.len(), program.spaces[0].number), (2, 1));
}

#[test]
fn a_list_that_begins_in_the_middle_is_a_list() {
    let program = read(&posted("trax_pred_E32.txt"));
    assert_eq!(program.basis, Basis::Message);
    let padded: Vec<_> = program
        .buffers
        .iter()
        .map(|buffer| (buffer.name.as_deref().unwrap_or(""), buffer.allocated / MIB, buffer.data / MIB))
        .collect();
    // Of the first entry only the label is there, and it has the shape.
    let expected = [
        ("reshape.4751", 256, 64),
        ("reshape.4755", 256, 64),
        ("convolution-base-dilated.117.remat5", 512, 512),
    ];
    assert_eq!(padded, expected);
    assert_eq!(program.shapes[0].widened, Some((8, 32)));
}

#[test]
fn lines_that_were_cut_are_put_together() {
    let program = read(&posted("jax38988_wrapped.txt"));
    let message = &program.message;
    assert_eq!((message.memory.as_deref(), message.capacity), (Some("vmem"), Some(64 << 20)));
    assert_eq!(message.used, Some((65.05 * MIB as f64) as u64));
    let [plain, wrapped, coloured] =
        [OLD.to_owned(), posted("wrapped80.txt"), posted("ansi_suffix.txt")].map(|text| read(&text));
    assert_eq!((wrapped.total, &wrapped.message), (coloured.total, &coloured.message));
    assert_eq!(wrapped.buffers[0].shape.to_string(), "s32[8388608,8,4]{2,1,0:T(8,128)}");
    assert_eq!((wrapped.message.capacity, plain.message.capacity), (Some(16 << 30), Some(16 << 30)));
    assert_eq!(wrapped.buffers[0].place.operation.as_deref(), Some("slicewise_79/cic_update/FloorMod"));
}

/// The text cut at a number of columns, anywhere or at spaces.
fn wrapped(text: &str, width: usize, at_spaces: bool) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > width {
            let space = rest[..=width].rfind(' ').filter(|&at| at_spaces && !rest[..at].trim().is_empty());
            let (piece, behind) = match space {
                Some(at) => (&rest[..at], &rest[at + 1..]),
                None if at_spaces => break,
                None => rest.split_at(width),
            };
            out += &format!("{piece}\n");
            rest = behind;
        }
        out += &format!("{rest}\n");
    }
    out
}

#[test]
fn a_message_says_the_same_however_wide_it_is_shown() {
    let whole = read(OLD);
    for at_spaces in [false, true] {
        for width in 32..140 {
            let program = read(&wrapped(OLD, width, at_spaces));
            assert_eq!(program.message, whole.message, "{width} {at_spaces}");
            assert_eq!(program.total, whole.total, "{width} {at_spaces}");
            let names =
                |program: &Audited| program.buffers.iter().map(|b| b.name.clone()).collect::<Vec<_>>();
            if !at_spaces && width >= 60 {
                assert_eq!(names(&program), names(&whole), "{width} {at_spaces}");
            }
        }
    }
}

const TODAY: &str = "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1001: CompileTimeScopedVmemOom: Ran out of memory in \
    memory space vmem while allocating on stack for %my-kernel = bf16[2048,4096]{1,0:T(8,128)(2,1)} custom-call(%a, %b), \
    custom_call_target=\"tpu_custom_call\". Scoped allocation with size 37.22M and limit 32.00M exceeded scoped vmem limit \
    by 5.22M. It should not be possible to run out of scoped vmem - please file a bug against XLA.\n";

#[test]
fn a_message_about_a_kernel_says_the_same_however_wide_it_is_shown() {
    let whole = read(TODAY).message;
    assert_eq!((whole.kernel.as_deref(), whole.limit), (Some("my-kernel"), Limit::Kernel));
    for width in 40..200 {
        for at_spaces in [false, true] {
            let found = read(&wrapped(TODAY, width, at_spaces)).message;
            assert_eq!(found, whole, "{width} {at_spaces}");
        }
    }
}

#[test]
fn a_message_says_the_same_with_anything_before_its_lines_and_behind_them() {
    let whole = read(OLD);
    for (before, behind) in [
        ("> ", ""),
        ("> > ", "\r"),
        ("\x1b[1;31m", "\x1b[0m"),
        ("2024-05-01T10:00:00.123Z stderr F ", ""),
        ("[rank3]: ", ""),
        ("(TPUWorker pid=17, ip=10.0.0.1) ", ""),
        ("E0501 10:00:00.123456   12345 pjrt.cc:17] ", "^[[0m"),
    ] {
        let text: String = OLD.lines().map(|line| format!("{before}{line}{behind}\n")).collect();
        let program = read(&text);
        assert_eq!((&program.message, program.total), (&whole.message, whole.total), "{before:?}");
        assert_eq!(program.buffers[0].place.line, Some(40), "{before:?}");
    }
}

#[test]
fn short_messages_of_today_name_the_kernel_and_its_limit() {
    let program = read(&posted("vllm_E1001.txt"));
    let message = &program.message;
    assert_eq!((message.kernel.as_deref(), message.limit), (Some("flash_attention.1"), Limit::Kernel));
    assert_eq!((message.used, message.capacity), (Some((37.22 * MIB as f64) as u64), Some(32 << 20)));
    assert_eq!(message.memory.as_deref(), Some("vmem"));
    let program = read(&posted("vllm_v7x_enginecore.txt"));
    let kernel = "RPAm-p_256-bq_512_256-bkv_2048_512.72";
    assert_eq!(program.message.kernel.as_deref(), Some(kernel));
    assert_eq!((program.buffers.len(), program.total.allocated), (1, 4 << 20));
}

#[test]
fn other_systems_say_it_in_their_own_words() {
    let near =
        |found: Option<u64>, expected: f64| found.is_some_and(|found| found.abs_diff(expected as u64) < 9);
    const GIB: f64 = (1_u64 << 30) as f64;
    for (line, used, capacity, limit) in [
        (
            "ResourceExhaustedError: OOM when allocating tensor with shape[32,224,224,64] and type float on \
             /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
            (32 * 224 * 224 * 64 * 4) as f64,
            None,
            Limit::Free,
        ),
        (
            "RESOURCE_EXHAUSTED: Attempting to reserve 12.50G at the bottom of memory. That was not possible. There are \
             4.25G free, 0B reserved, and 4.25G reservable.",
            12.5 * GIB,
            Some(4.25 * GIB),
            Limit::Free,
        ),
        (
            // What is free lies in pieces.
            "RESOURCE_EXHAUSTED: Attempting to allocate 31.50M. That was not possible. There are 58.50M free. Due to \
             fragmentation, the largest contiguous region of free memory is 30.50M.; (0x0x0_HBM0)",
            31.5 * GIB / 1024.0,
            Some(30.5 * GIB / 1024.0),
            Limit::Free,
        ),
        (
            "2022-04-04 00:27:49.642380: E tensorflow/xla_util.cc:88]   (1) RESOURCE_EXHAUSTED: Attempting to reserve 6.50G \
             at the bottom of memory. That was not possible. There are 6.75G free, 0B reserved, and 3.25G reservable.",
            6.5 * GIB,
            Some(3.25 * GIB),
            Limit::Free,
        ),
        (
            "Attempting to reserve 3.95G at the bottom of memory. That was not possible. There are 1.92G free, 0B reserved, \
             and 1.92G reservable.; \nHBM capacity 8.00G:\n       Top-of-Memory reserved:  529.00M (     554,696,704 \
             bytes)\n          Currently allocated:    6.08G (   6,532,939,776 bytes)\n\nTotal hbm usage >= 10.50G:\n    \
             reserved(Infeed/Outfeed/Continuations) 529.00M \n    heap allocations (without fragmentation)   6.08G \n",
            10.5 * GIB,
            Some(8.0 * GIB),
            Limit::Memory,
        ),
        (
            "W0501 10:00:00.1 7 hlo_rematerialization.cc:2218] Can't reduce memory use below 14.25GiB (15300820992 bytes) \
             by rematerialization; only reduced to 16.50GiB (17716740096 bytes), down from 16.75GiB (17985175552 bytes) \
             originally",
            16.5 * GIB,
            Some(14.25 * GIB),
            Limit::Rematerialisation,
        ),
        (
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.25GiB (rounded to 1342177280)requested by op x",
            1.25 * GIB,
            None,
            Limit::Free,
        ),
        (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.75 GiB total capacity; \
             14.10 GiB already allocated; 1.25 GiB free; 14.50 GiB reserved in total by PyTorch)",
            2.0 * GIB,
            Some(1.25 * GIB),
            Limit::Free,
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.75 GiB \
             of which 0.25 GiB is free. Process 1 has 22 GiB memory in use.",
            2.5 * GIB,
            Some(0.25 * GIB),
            Limit::Free,
        ),
    ] {
        let message = read(line).message;
        assert!(near(message.used, used), "{line}: {message:?}");
        assert_eq!(message.capacity.is_some(), capacity.is_some(), "{line}: {message:?}");
        assert!(capacity.is_none_or(|capacity| near(message.capacity, capacity)), "{line}: {message:?}");
        assert_eq!(message.limit, limit, "{line}");
    }
}
