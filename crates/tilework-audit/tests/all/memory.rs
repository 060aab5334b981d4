//! Dumps that are made to take memory: whatever they say, no more is taken than the budget and a stated rest, and what would
//! take more is refused.

use std::io::{self, BufReader, Read, Write};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use tilework_audit::Audit;

/// What each of these dumps may take.
const BUDGET: u64 = 48 << 20;

/// What a process may take at most, by the documentation of `Audit::with_memory`.
const MOST: u64 = BUDGET + BUDGET / 4 + (16 << 20);

/// Names the dump that this process reads; the tests start themselves again, as each wants a peak of its own.
const CASE: &str = "TILEWORK_MEMORY_CASE";

/// Text that is made while it is read.
struct Lines<F> {
    line: F,
    number: u64,
    count: u64,
    open: Vec<u8>,
    used: usize,
}

impl<F: FnMut(u64, &mut Vec<u8>)> Read for Lines<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.open.len() {
            if self.number == self.count {
                return Ok(0);
            }
            self.open.clear();
            self.used = 0;
            (self.line)(self.number, &mut self.open);
            self.number += 1;
        }
        let count = buffer.len().min(self.open.len() - self.used);
        buffer[..count].copy_from_slice(&self.open[self.used..][..count]);
        self.used += count;
        Ok(count)
    }
}

/// A first part, and as many lines as there may ever be.
fn lines(start: &str, line: impl FnMut(u64, &mut Vec<u8>) + 'static) -> Box<dyn Read> {
    pieces(start.as_bytes(), line)
}

/// The same of bytes.
fn pieces(start: &[u8], line: impl FnMut(u64, &mut Vec<u8>) + 'static) -> Box<dyn Read> {
    let lines = Lines { line, number: 0, count: 1 << 40, open: Vec::new(), used: 0 };
    Box::new(io::Cursor::new(start.to_vec()).chain(lines))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).expect("memory is written");
    packed.finish().expect("memory is written")
}

/// A field with a length.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    [&bytes, content].concat()
}

/// A module with these fields of a computation and of its own, and an `HloProto` of it with these buffers.
fn hlo(computation: &[u8], module: &[u8], buffers: &[u8]) -> Box<dyn Read> {
    let module = [
        &field(1, b"m")[..],
        &field(2, b"main"),
        &field(3, &[&field(1, b"main"), computation].concat()),
        module,
    ];
    let hlo = [field(1, &module.concat()), field(3, buffers)].concat();
    Box::new(io::Cursor::new(hlo))
}

/// An instruction with an identifier and a name of its own.
fn instruction(id: u32) -> Vec<u8> {
    let number = [0x98, 0x02, (id & 0x7f) as u8 | 0x80, (id >> 7 & 0x7f) as u8 | 0x80, (id >> 14) as u8];
    let shape = field(3, &[0x10, 11, 0x1a, 1, 2, 0x2a, 3, 0x0a, 1, 0]);
    field(2, &[&field(1, format!("add.{id}").as_bytes())[..], &field(2, b"add"), &shape, &number].concat())
}

/// Dumps of hundreds of megabytes and more in memory, were they all held.
const CASES: [&str; 31] = [
    "instructions",
    "names",
    "shapes",
    "loose shapes",
    "wrong shapes",
    "types",
    "computations",
    "calls",
    "sources",
    "origins",
    "buffers",
    "lives",
    "sequence",
    "tables",
    "programs",
    "tuples",
    "moves",
    "listed",
    "bomb",
    "serialised bomb",
    "messages",
    "sequences",
    "operands",
    "serialised instructions",
    "primitives",
    "layers",
    "events",
    "records",
    "kernels",
    "nodes",
    "changes of layout",
];

fn dump(case: &str) -> Box<dyn Read> {
    let module = "HloModule m\n\nENTRY %main (x: f32[2]) -> f32[2] {\n";
    match case {
        "instructions" => lines(module, |n, out| {
            let _ = writeln!(
                out,
                "  %i.{n} = f32[2]{{0}} add(%a, %b), metadata={{op_name=\"o{n}\" source_file=\"f\" source_line={n}}}"
            );
        }),
        "names" => lines(module, |n, out| {
            let _ = write!(out, "  %{n}");
            out.resize(out.len() + (1 << 20), b'x');
            let _ = writeln!(out, " = f32[{n}]{{0}} add(%a, %b)");
        }),
        "shapes" => lines(module, |n, out| {
            let _ = writeln!(out, "  %i = f32[{n},3]{{1,0:T(8,128)}} add(%a, %b)");
        }),
        "loose shapes" => lines("", |n, out| {
            let _ = writeln!(out, "f32[{n},3] f32[3,{n}]");
        }),
        "wrong shapes" => lines(module, |n, out| {
            let _ = writeln!(out, "  %i = f32[{n},q]{{1,0}} add(%a, %b)");
        }),
        "types" => lines("", |n, out| {
            let _ = writeln!(out, "%0 = stablehlo.add : tensor<{n}x3xbf16>, memref<{n}x5xf32>");
        }),
        "computations" => lines("HloModule m\n\n", |n, out| {
            let _ = writeln!(out, "%fused_computation.{n} (x: f32[2]) -> f32[2] {{\n}}\n");
        }),
        "calls" => lines(module, |n, out| {
            let _ = writeln!(out, "  %f.{n} = f32[2]{{0}} fusion(%x, %y), kind=kLoop, calls=%fused.{n}");
        }),
        "sources" => lines(module, |n, out| {
            let _ = writeln!(
                out,
                "  %f = f32[2]{{0}} add(%x), metadata={{source_file=\"f\" source_line={}}}",
                n % (1 << 31)
            );
        }),
        "origins" => {
            let buffers = "BufferAssignment:\nallocation 0: size 8, preallocated-temp:\n";
            lines(buffers, |n, out| match n {
                0..150_000 => {
                    let _ = writeln!(out, " value: <1 i.{n} @0> (size=8,offset=0): f32[2]{{0}}");
                }
                150_000 => {
                    let _ = writeln!(out, "HloModule m\n\nENTRY %main (x: f32[2]) -> f32[2] {{");
                }
                _ => {
                    let _ = writeln!(
                        out,
                        "  %i.{} = f32[2]{{0}} add(%x), metadata={{source_line={n}}}",
                        n % 150_000
                    );
                }
            })
        }
        "buffers" => lines("BufferAssignment:\n", |n, out| {
            let _ = writeln!(
                out,
                "allocation {n}: size 8, color 0, preallocated-temp:\n value: <1 i.{n} @0> (size=8,offset={n}): f32[2]{{0}}"
            );
        }),
        "lives" => lines("HloLiveRange (max 3):\n  BufferLiveRange:\n", |n, out| {
            let _ = writeln!(out, "    i.{n}{{}}:{n}-{n}");
        }),
        "sequence" => lines("HloLiveRange (max 3):\n  InstructionSequence:\n", |n, out| {
            let _ = writeln!(out, "    {n}:i.{n}");
        }),
        "tables" => lines("HloModule m\n\nFileNames\n", |n, out| {
            let _ = writeln!(out, "{n} \"{n}\"");
        }),
        "programs" => lines("", |n, out| {
            if n >= 200_000 {
                return; // far beyond the number that is believed, and kept, they would not fit
            }
            let _ = writeln!(
                out,
                "HloModule m.{n}\n\nENTRY %main (x: f32[2]) -> f32[2] {{\n  %x.{n} = f32[2]{{0}} parameter(0)\n}}\n"
            );
        }),
        "tuples" => lines(module, |n, out| {
            let _ = write!(out, "  %i.{n} = (f32[{n}]{{0}}");
            (0..9000).for_each(|_| out.extend_from_slice(b", f32[2]{0}"));
            let _ = writeln!(out, ") tuple(%x)");
        }),
        "moves" => lines(module, |n, out| {
            let _ = writeln!(
                out,
                "  %x.{n} = f32[{n},3]{{1,0}} parameter(0)\n  %c.{n} = f32[{n},3]{{0,1}} copy(%x.{n})"
            );
        }),
        // A long shape of many buffers, all of which are listed.
        "listed" => lines("BufferAssignment:\nallocation 0: size 8, preallocated-temp:\n", |n, out| {
            if n >= 30_000 {
                return; // the end
            }
            let _ = write!(out, " value: <1 i.{n} @0> (size=8,offset=0): (f32[3]{{0}}");
            (0..300).for_each(|_| out.extend_from_slice(b", f32[2]{0}"));
            out.extend_from_slice(b")\n");
        }),
        // Each is a megabyte or less: gigabytes of one line, and of a serialised module.
        "bomb" | "serialised bomb" => {
            let start: &[u8] = if case == "bomb" {
                b"f32[2]"
            } else {
                b"\x0a\xff\xff\xff\xff\x07\x0a\x01m\x12\x04main\x1a\x04\x0a\x02xy"
            };
            let (start, more) = (gzip(start), gzip(&vec![0x22; 16 << 20]));
            let repeated = Lines {
                line: move |_: u64, out: &mut Vec<u8>| out.extend_from_slice(&more),
                number: 0,
                count: if case == "bomb" { 32 } else { 512 }, // of 16 MiB each
                open: Vec::new(),
                used: 0,
            };
            Box::new(io::Cursor::new(start).chain(repeated))
        }
        "messages" => hlo(&[0x12, 0].repeat(4 << 20), b"", &[0x0a, 0, 0x1a, 0].repeat(2 << 20)),
        "sequences" => {
            let sequence = field(2, &[&[0x08, 1][..], &field(2, &field(1, &vec![1; 4 << 20]))].concat());
            hlo(b"", &field(7, &[&field(1, &sequence)[..], &field(1, b"").repeat(1 << 20)].concat()), b"")
        }
        "operands" => {
            let operands = [&[0xa2, 0x02, 0x80, 0x80, 0x80, 0x04][..], &vec![1; 8 << 20]].concat();
            hlo(&field(2, &[&field(1, b"a")[..], &operands].concat()), b"", b"")
        }
        "serialised instructions" => {
            let instructions: Vec<u8> = (0..600_000).flat_map(instruction).collect();
            hlo(&instructions, b"", b"")
        }
        "primitives" => lines("", |n, out| {
            let _ = writeln!(
                out,
                "onednn_verbose,v1,primitive,exec,cpu,reorder,jit,undef,src:f32::blocked:ab::f0 dst:f32::blocked:AB8b24a::f0,,,{n}x9,1"
            );
        }),
        "layers" => lines("{\"Layers\": [\n", |n, out| {
            let tensor = |n| {
                format!(
                    "{{\"Name\": \"{n}\", \"Dimensions\": [{n}], \"Format/Datatype\": \"Row major linear FP32\"}}"
                )
            };
            let (input, output) = (tensor(n), tensor(n + 1));
            let _ = writeln!(
                out,
                "{{\"Name\": \"l{n}\", \"LayerType\": \"Reformat\", \"Inputs\": [{input}], \"Outputs\": [{output}]}},"
            );
        }),
        "events" => lines("{\"traceEvents\": [\n", |n, out| {
            let _ = writeln!(
                out,
                "{{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::copy_\", \"pid\": 1, \"tid\": {}, \"ts\": {n}, \"dur\": 9, \
                 \"args\": {{\"External id\": {n}, \"Input Dims\": [[{n}],[{n}]]}}}},",
                n % 7
            );
        }),
        "kernels" => lines(
            "#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n",
            |n, out| {
                let _ = writeln!(
                    out,
                    "%{n} = ttg.convert_layout %x{n} : tensor<128xf32, #b> -> tensor<128xf32, #b> loc(#loc{n})"
                );
                let _ = writeln!(out, "#loc{n} = loc(\"f{n}.py\":1:2)");
            },
        ),
        // A graph of 2^40 bytes, each Transpose of what the one before made.
        "nodes" => pieces(b"\x08\x08\x3a\x80\x80\x80\x80\x80\x20", |n, out| {
            let perm = field(5, &[field(1, b"perm"), vec![0x40, 1, 0x40, 2, 0x40, 0]].concat());
            let name = |n: u64| n.to_string().into_bytes();
            out.extend(field(
                1,
                &[field(1, &name(n)), field(2, &name(n + 1)), field(4, b"Transpose"), perm].concat(),
            ));
        }),
        "changes of layout" => lines("#d = #ttnn.buffer_type<dram>\n", |n, out| {
            let layout = format!(
                "#ttnn.ttnn_layout<(d0) -> (d0), <1x1>, memref<{n}x4x!ttcore.tile<32x32, bf16>, #d>, <interleaved>>"
            );
            let _ = writeln!(
                out,
                "%{n} = \"ttnn.to_layout\"(%x{n}) : (tensor<{n}x9xbf16, {layout}>) -> tensor<{n}x9xbf16, {layout}>"
            );
        }),
        // A record without an end, of lists in lists.
        "records" => lines("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"x\": [", |_, out| {
            out.extend_from_slice(&b"[0,".repeat(1000));
        }),
        other => panic!("no case {other}"),
    }
}

/// What Linux says of this process, in bytes.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux says it");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the line is there");
    line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") << 10
}

/// The part of a test that has a process of its own: reads a dump and says what it took.
#[test]
fn reads_one_dump() {
    let Ok(case) = std::env::var(CASE) else { return };
    let before = status("VmHWM");
    let mut audit = Audit::with_memory(BUDGET);
    let outcome = audit.read(&case, BufReader::with_capacity(1 << 18, io::stdin().lock()));
    let is_refused = audit.lacks_memory();
    assert_eq!(outcome.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::OutOfMemory), is_refused);
    assert!(outcome.is_ok() || is_refused, "{outcome:?}");
    let held = audit.memory_held();
    let cut = audit.findings(usize::MAX).cut;
    println!("TOOK {} {is_refused} {cut} {held}", status("VmHWM") - before);
}

/// What a dump took, whether it was refused, and whether lists of what was found were cut.
fn took(case: &str) -> (u64, bool, bool) {
    let own = std::env::current_exe().expect("this program");
    let mut reading = Command::new(own);
    reading.args(["--exact", "memory::reads_one_dump", "--nocapture"]).env(CASE, case);
    let reading = reading.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut reading = reading.expect("it runs");
    let mut input = reading.stdin.take().expect("a pipe");
    let name = case.to_owned();
    // It ends without reading everything.
    let writer = std::thread::spawn(move || drop(io::copy(&mut dump(&name).take(1 << 27), &mut input)));
    let ran = reading.wait_with_output().expect("it ends");
    writer.join().expect("the dump is made");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{case}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    let numbers = said.split("TOOK ").nth(1).expect("it says what it took");
    println!("{case}: {}", numbers.lines().next().unwrap_or(""));
    let mut numbers = numbers.split_whitespace();
    let mut next = || numbers.next().expect("a word").to_owned();
    (next().parse().expect("a number"), next() == "true", next() == "true")
}

#[test]
fn no_dump_takes_more_than_the_budget_and_a_quarter() {
    for case in CASES {
        let (took, is_refused, is_cut) = took(case);
        assert!(took <= MOST, "{case} took {} MiB", took >> 20);
        // A line is cut where it is too long, programs beyond a number are not believed, and so are long tables.
        let is_bounded_otherwise =
            matches!(case, "bomb" | "programs" | "tables" | "listed" | "types" | "records");
        assert!(is_refused || is_cut || is_bounded_otherwise, "{case} was read");
    }
}

#[test]
fn what_is_refused_says_so_and_nothing_else_is_read() {
    let mut audit = Audit::with_memory(1 << 20);
    let text: String = (0..100_000).map(|size| format!("f32[{size},3]\n")).collect();
    let error = audit.read("pasted", text.as_bytes()).expect_err("it takes more");
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
    assert!(audit.read("next", &b"f32[2]"[..]).is_err());
    assert!(audit.unread().is_empty(), "{:?}", audit.unread());
    assert!(audit.memory_held() <= audit.memory());
    let mut audit = Audit::with_memory(256 << 20);
    audit.read("pasted", text.as_bytes()).expect("there is memory for it");
    assert_eq!(audit.shapes(), 100_000);
}

#[test]
fn what_a_module_takes_while_it_is_read_is_given_back() {
    let mut bytes = Vec::new();
    let instructions: Vec<u8> = (0..2000).flat_map(instruction).collect();
    hlo(&instructions, b"", b"").read_to_end(&mut bytes).expect("memory is read");
    let mut audit = Audit::with_memory(64 << 20);
    audit.read("a.0", &bytes[..]).expect("there is memory for it");
    let first = audit.memory_held();
    for number in 1..200 {
        audit.read(&format!("a.{number}"), &bytes[..]).expect("there is memory for it");
    }
    // Only what is kept of each adds up, and names and shapes are kept once.
    assert!(audit.memory_held() < first + 200 * (256 << 10), "{first} {}", audit.memory_held());
}
