//! How fast a dump is read, and in how much memory: a generated HLO module of 1 GB.
//!
//! `cargo bench -p tilework-audit` prints MB/s of one core and the most memory the process took. `-- 64` reads 64 MB, and
//! `-- text` reads the same without its first line, as a text with shapes in it. The module is that of a deep network as the TPU compiler prints it: layers of fused computations and of instructions of
//! the entry computation, with their metadata and backend configurations.

use std::fmt::Write;
use std::io::{self, BufRead, Read};
use std::time::Instant;

use tilework_audit::Audit;

fn main() {
    let given = std::env::args().skip(1).find_map(|argument| argument.parse::<u64>().ok());
    // `cargo test --benches` only wants to see it run.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let megabytes = given.unwrap_or(if measured { 1000 } else { 1 });
    let is_text = std::env::args().any(|argument| argument == "text");
    let layers = layers(64);
    let mut rates: Vec<f64> = Vec::new();
    for _ in 0..if megabytes < 200 { 5 } else { 3 } {
        let mut input = Repeated::new(&layers, megabytes * 1_000_000);
        if is_text {
            input.header = b"";
        }
        let started = Instant::now();
        let mut audit = Audit::new();
        audit.read("generated", input).expect("memory is read");
        let read = started.elapsed();
        let findings = audit.findings(10);
        let all = started.elapsed();
        let program = &findings.programs[0];
        assert!(findings.unread.is_empty(), "{:?}", findings.unread);
        let rate = audit.bytes_read() as f64 / 1e6 / all.as_secs_f64();
        rates.push(rate);
        println!(
            "{:.0} MB in {:.2} s, {:.0} ms of it for the findings: {rate:.0} MB/s; {} instructions, {} shapes, {} moves",
            audit.bytes_read() as f64 / 1e6,
            all.as_secs_f64(),
            (all - read).as_secs_f64() * 1e3,
            program.instructions,
            audit.shapes(),
            program.moved.changes,
        );
    }
    rates.sort_by(f64::total_cmp);
    println!("median {:.0} MB/s", rates[rates.len() / 2]);
    if let Some(most) = most_memory() {
        println!(
            "most memory of the process {most}, {:.1} MB of it the text that is repeated",
            layers.len() as f64 / 1e6
        );
    }
}

/// What Linux says of the largest size of this process.
fn most_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix("VmHWM:")?.trim().to_owned()))
}

/// The text of some layers.
fn layers(count: usize) -> String {
    let mut text = String::new();
    let config =
        r#"backend_config={"flag_configs":[],"scoped_memory_configs":[],"used_scoped_memory_configs":[]}"#;
    for layer in 0..count {
        let (heads, width) = (8 + layer % 24, 128 * (4 + layer % 13));
        let narrow = format!("bf16[{heads},2048,{width}]{{2,1,0:T(8,128)(2,1)}}");
        let other = format!("bf16[{heads},2048,{width}]{{1,2,0:T(8,128)(2,1)}}");
        let wide = format!("f32[{heads},2048,{width}]{{2,1,0:T(8,128)S(1)}}");
        for fusion in 0..40 {
            let _ = writeln!(
                text,
                "%fused_computation.{layer}.{fusion} (param_0.{fusion}: bf16[{heads},2048,{width}]) -> f32[] {{"
            );
            let _ = writeln!(text, "  %param_0.{fusion} = {narrow} parameter(0)");
            for step in 0..8 {
                let _ = writeln!(
                    text,
                    "  %multiply.{layer}.{fusion}.{step} = {wide} multiply(%param_0.{fusion}, %param_0.{fusion}), \
                     metadata={{op_name=\"jit(step)/layer_{layer}/mlp/mul\" stack_frame_id={step}}}"
                );
            }
            let _ = writeln!(text, "  ROOT %copy.{layer}.{fusion} = {other} copy(%param_0.{fusion})\n}}\n");
        }
        let _ = writeln!(
            text,
            "%body.{layer} (arg.{layer}: bf16[{heads},2048,{width}]) -> bf16[{heads},2048,{width}] {{"
        );
        let _ = writeln!(text, "  %x.{layer}.0 = {narrow} parameter(0), sharding={{replicated}}");
        for step in 1..400 {
            let before = step - 1;
            let (shape, operation) = match step % 4 {
                0 => (&narrow, "copy"),
                1 => (&wide, "fusion"),
                2 => (&other, "copy"),
                _ => (&narrow, "add"),
            };
            let calls = if operation == "fusion" {
                format!(", kind=kLoop, calls=%fused_computation.{layer}.{}", step % 40)
            } else {
                String::new()
            };
            let _ = writeln!(
                text,
                "  %x.{layer}.{step} = {shape} {operation}(%x.{layer}.{before}){calls}, \
                 metadata={{op_name=\"jit(step)/layer_{layer}/attention/op_{}\" stack_frame_id={}}}, {config}",
                step % 20,
                step % 7
            );
        }
        text.push_str("}\n\n");
    }
    text
}

/// A module of these layers again and again, until it has as many bytes.
struct Repeated<'a> {
    layers: &'a [u8],
    at: usize,
    left: u64,
    header: &'a [u8],
}

impl<'a> Repeated<'a> {
    fn new(layers: &'a str, bytes: u64) -> Repeated<'a> {
        Repeated {
            layers: layers.as_bytes(),
            at: 0,
            left: bytes,
            header: b"HloModule generated, is_scheduled=true\n\n",
        }
    }
}

impl Read for Repeated<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let count = from.len().min(out.len());
        out[..count].copy_from_slice(&from[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Repeated<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.header.is_empty() {
            return Ok(self.header);
        }
        if self.at == self.layers.len() {
            if self.left == 0 {
                return Ok(&[]);
            }
            self.at = 0;
        }
        // As much as a file's buffer holds, so that lines cross its border as often.
        let end = self.layers.len().min(self.at + (1 << 18));
        Ok(&self.layers[self.at..end])
    }

    fn consume(&mut self, count: usize) {
        if !self.header.is_empty() {
            self.header = &self.header[count..];
            return;
        }
        self.at += count;
        if self.at == self.layers.len() {
            // Whole layers only: the module ends where a computation does.
            self.left = self.left.saturating_sub(self.layers.len() as u64);
        }
    }
}
