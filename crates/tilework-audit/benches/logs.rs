//! How fast logs of other compilers are read, and serialised modules: MB/s of one core, the median of five.
//!
//! `cargo bench -p tilework-audit --features proto --bench logs` reads 64 MB of each; `-- 8` reads 8 MB, and `-- 8 Triton` of those
//! alone whose names have this word.

use std::fmt::Write;
use std::time::Instant;

use tilework_audit::Audit;

fn main() {
    let given = std::env::args().skip(1).find_map(|argument| argument.parse::<usize>().ok());
    // `cargo test --benches` only wants to see it run.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let bytes = given.unwrap_or(if measured { 64 } else { 1 }) * 1_000_000;
    let mut all: Vec<(&str, Vec<u8>)> = vec![
        ("oneDNN, an iteration again and again", primitives(bytes, false)),
        ("oneDNN, with a time in each line", primitives(bytes, true)),
        ("oneDNN, sizes that never repeat", different(bytes)),
        ("layers of TensorRT", layers(bytes.min(16_000_000))),
        ("events of PyTorch", events(bytes)),
        ("a kernel of Triton", kernel(bytes.min(8_000_000))),
    ];
    if cfg!(feature = "proto") {
        all.push(("a serialised module", module(bytes)));
    }
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-') && word.parse::<usize>().is_err());
    all.retain(|(name, _)| word.as_ref().is_none_or(|word| name.contains(word.as_str())));
    println!("| what | MB | MB/s | held, MB |");
    println!("|---|--:|--:|--:|");
    for (name, text) in all {
        let mut rates = Vec::new();
        let mut held = 0;
        for _ in 0..if measured { 5 } else { 1 } {
            let started = Instant::now();
            let mut audit = Audit::with_memory(8 << 30);
            audit.read("generated", &text[..]).expect("there is memory for it");
            let found = audit.findings(10);
            rates.push(text.len() as f64 / 1e6 / started.elapsed().as_secs_f64());
            assert!(!found.logs.is_empty() || !found.programs.is_empty(), "{name}");
            held = audit.memory_held();
        }
        rates.sort_by(f64::total_cmp);
        let (size, rate) = (text.len() as f64 / 1e6, rates[rates.len() / 2]);
        println!("| {name} | {size:.0} | {rate:.0} | {:.1} |", held as f64 / 1e6);
    }
}

/// Lines until there are as many bytes.
fn lines(bytes: usize, mut line: impl FnMut(u64, &mut String)) -> String {
    let mut text = String::with_capacity(bytes + 4096);
    for number in 0.. {
        line(number, &mut text);
        if text.len() >= bytes {
            break;
        }
    }
    text
}

fn primitives(bytes: usize, timed: bool) -> Vec<u8> {
    let head =
        |number: u64| if timed { format!("v1,{}.5,", 1_693_533_460_193 + number) } else { "v1,".to_owned() };
    let text = lines(bytes, |number, text| {
        let (channels, time) = (64 << (number / 2 % 4), (number * 7919 % 1000) as f64 / 999.0 + 0.01);
        let head = head(number);
        let _ = match number % 2 {
            0 => writeln!(
                text,
                "onednn_verbose,{head}primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 \
                 dst:f32::blocked:aBcd16b::f0,,,8x{channels}x56x56,{time}"
            ),
            _ => writeln!(
                text,
                "onednn_verbose,{head}primitive,exec,cpu,convolution,jit:avx512_core,forward_inference,\
                 src:f32::blocked:aBcd16b::f0 wei:f32::blocked:ABcd16b16a::f0 bia:f32::blocked:a::f0 \
                 dst:f32::blocked:aBcd16b::f0,,alg:convolution_direct,\
                 mb8_ic{channels}oc64_ih56oh56kh3sh1dh0ph1_iw56ow56kw3sw1dw0pw1,{time}"
            ),
        };
    });
    text.into_bytes()
}

fn different(bytes: usize) -> Vec<u8> {
    let text = lines(bytes.min(16_000_000), |number, text| {
        let _ = writeln!(
            text,
            "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 \
             dst:f32:p:blocked:aBcd16b::f0,,,{}x3x56x56,0.5",
            number + 1
        );
    });
    text.into_bytes()
}

fn layers(bytes: usize) -> Vec<u8> {
    let tensor = |number: u64, format: &str| {
        format!(
            "{{\"Name\": \"t{number}\", \"Location\": \"Device\", \"Dimensions\": [8,{},56,56], \"Format/Datatype\": \"{format}\"}}",
            number % 64 + 1
        )
    };
    let text = lines(bytes, |number, text| {
        let kind = if number % 2 == 0 { "Reformat" } else { "CaskConvolution" };
        let from = tensor(number, "Row major linear FP32");
        let to = tensor(number + 1, "Channel major FP16 format where channel % 8 == 0");
        let _ = writeln!(
            text,
            "{{\"Name\": \"layer {number}\", \"LayerType\": \"{kind}\", \"Inputs\": [{from}], \"Outputs\": [{to}], \
             \"TacticValue\": \"0x00000000000003e8\"}},"
        );
    });
    format!("{{\"Layers\": [\n{text}\n{{}}]}}").into_bytes()
}

fn events(bytes: usize) -> Vec<u8> {
    let text = lines(bytes, |number, text| {
        let name = ["aten::linear", "aten::copy_", "aten::add", "aten::mm"][number as usize % 4];
        let _ = writeln!(
            text,
            "{{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{name}\", \"pid\": 7, \"tid\": 7, \"ts\": {number}.250, \"dur\": 0.900, \
             \"args\": {{\"External id\": {number}, \"Record function id\": 0, \"Input Dims\": [[8,64,56,56],[8,64,56,56],[]], \
             \"Input Strides\": [[200704,3136,56,1],[200704,1,3584,64],[]], \"Input type\": [\"float\",\"float\",\"Scalar\"]}}}},"
        );
    });
    format!("{{\"traceEvents\": [\n{text}\n{{}}]}}").into_bytes()
}

fn kernel(bytes: usize) -> Vec<u8> {
    let head = "#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>\n\
                #b = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>\n";
    let text = lines(bytes, |number, text| {
        let next = number + 1;
        let _ = match number % 16 {
            0 => writeln!(
                text,
                "  %{next} = ttg.convert_layout %{number} : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b> loc(#loc{number})"
            ),
            _ => writeln!(
                text,
                "  %{next} = arith.addf %{number}, %{number} : tensor<64x64xf16, #b> loc(#loc{number})"
            ),
        };
    });
    (head.to_owned() + &text).into_bytes()
}

/// As long as that of a TPU's compiler.
const CONFIG: &[u8] = br#"{"aliasing_operands":{"lists":[]},"flag_configs":[],"retry_config":{"retry_count":"0"},"scoped_memory_configs":[],"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"16039936"}],"window_config":{"buffering_level":"2"}}"#;

/// A module of copies and additions, each with a name and the line it comes from.
fn module(bytes: usize) -> Vec<u8> {
    let shape = |order: [u8; 2]| [&[0x10, 11, 0x1a, 2, 8, 64][..], &[0x2a, 4, 0x0a, 2], &order].concat();
    let mut computation = field(1, b"main");
    for number in 0..=u32::MAX {
        let (operation, order) = if number % 4 == 0 { ("copy", [0, 1]) } else { ("add", [1, 0]) };
        let metadata =
            [field(2, b"jit(step)/layer/mul"), field(3, b"model.py"), vec![0x20, (number % 100) as u8]];
        let before = varint(number.max(1));
        let instruction = [
            field(1, format!("{operation}.{number}").as_bytes()),
            field(2, operation.as_bytes()),
            field(3, &shape(order)),
            field(7, &metadata.concat()),
            [&[0x98, 0x02][..], &varint(number + 1)].concat(),
            [&[0xa2, 0x02, before.len() as u8][..], &before].concat(),
            // What a compiler writes besides: the configuration, in a text.
            [&[0xda, 0x02][..], &varint(CONFIG.len() as u32), CONFIG].concat(),
        ];
        computation.extend(field(2, &instruction.concat()));
        if computation.len() >= bytes {
            break;
        }
    }
    computation.extend([0x28, 7]);
    [field(1, b"generated"), field(2, b"main"), field(3, &computation), vec![0x30, 7]].concat()
}

fn varint(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2][..], &varint(content.len() as u32), content].concat()
}
