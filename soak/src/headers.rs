//! Files that were made to harm: npy headers, messages of protobuf and modules, mutated, nested, repeated and with numbers
//! that are too large, read by the command within little memory. Whatever they say, they are answered or refused with a
//! message; nothing aborts for want of memory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::attack::{Attack, Log};
use crate::dice::Dice;
use crate::program::{Folder, Limit, Program, limited, run};

/// What a process may have of addresses, in KiB: the command with its libraries and threads, and not much besides.
const ADDRESSES: u64 = 512 << 10;

/// Bytes that the audit may take.
const BUDGET: &str = "64MiB";

/// The largest file.
const LONGEST: usize = 4 << 20;

struct Headers {
    /// Dumps to begin with.
    dumps: Vec<Vec<u8>>,
    program: Program,
    folder: Folder,
}

pub fn new() -> Result<Box<dyn Attack>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["crates/tilework-audit/tests/dumps", "crates/tilework-audit/tests/compiled", "samples"] {
        gather(&root.join(folder), &mut files);
    }
    files.sort();
    let small = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.len() < 400_000);
    let dumps: Vec<Vec<u8>> =
        files.iter().filter(|path| small(path)).filter_map(|path| fs::read(path).ok()).collect();
    if dumps.is_empty() {
        return Err("no dumps to begin with".to_owned());
    }
    Ok(Box::new(Headers { dumps, program: Program::tilework()?, folder: Folder::new("headers")? }))
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
        } else {
            files.push(path);
        }
    }
}

impl Attack for Headers {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        let (word, mut bytes) = match dice.below(5) {
            0 | 1 => ("npy", npy(dice)),
            2 => ("message", message(dice)),
            3 => ("module", module(dice)),
            _ => ("dump", self.dumps[dice.index(self.dumps.len())].clone()),
        };
        let times = if word == "dump" { 1 + dice.below(5) } else { dice.of(&[0, 0, 0, 1, 3]) };
        for _ in 0..times {
            mutate(dice, &mut bytes);
        }
        bytes.truncate(LONGEST);
        log.count(word);
        log.text = Some([word.as_bytes(), b"\n", &bytes].concat());
        self.read(word, &bytes, log)
    }

    fn text(&mut self, text: &[u8], log: &mut Log) -> Result<(), String> {
        let end = text.iter().position(|&byte| byte == b'\n').ok_or("no first line")?;
        let word = String::from_utf8_lossy(&text[..end]).into_owned();
        self.read(&word, &text[end + 1..], log)
    }

    fn short(&self) -> u64 {
        20
    }
}

impl Headers {
    fn read(&self, word: &str, bytes: &[u8], log: &mut Log) -> Result<(), String> {
        self.folder.clear();
        let file = if word == "npy" { "in.npy" } else { "in" };
        self.folder.write(file, bytes)?;
        let runs: &[&[&str]] = match word {
            "npy" => &[
                &["convert", "in.npy", "out.npy", "--to", "{0,1}"],
                &["convert", "in.npy", "out", "--dtype", "bf16"],
            ],
            "message" => &[&["show", "--from-format", "binary", "@in"], &["audit", "in", "--memory", BUDGET]],
            _ => &[&["audit", "in", "--memory", BUDGET], &["find", "@in"]],
        };
        for args in runs {
            let mut command = limited(&self.program, self.folder.path(), Limit::Addresses(ADDRESSES));
            command.args(*args);
            let ran = run(command, b"")?;
            log.note(|| format!("{args:?}: {} {}", ran.status, ran.last_words()));
            match ran.is_orderly() {
                Ok(2) => log.count("refused"),
                Ok(_) => log.count("answered"),
                Err(why) => return Err(format!("{word} of {} bytes, {args:?}: {why}", bytes.len())),
            }
        }
        Ok(())
    }
}

/// A file of NumPy with a header that may be anything.
fn npy(dice: &mut Dice) -> Vec<u8> {
    let descr = dice.of(&[
        "<f4",
        "<f8",
        "|u1",
        ">i2",
        "<V2",
        "|V0",
        "|V9223372036854775807",
        "<U99999999999",
        "|b1",
        "x",
        "|O",
    ]);
    let number = |dice: &mut Dice| if dice.once_in(2) { dice.below(5) } else { dice.number() };
    let rank = dice.of(&[0, 1, 2, 2, 3, 32, 64, 65, 300, 5000]);
    let shape: Vec<String> = (0..rank).map(|_| number(dice).to_string()).collect();
    let mut shape = format!("({},)", shape.join(", "));
    if dice.once_in(6) {
        let depth = dice.of(&[2, 100, 10_000, 60_000]);
        shape = format!("{}{shape}{}", "(".repeat(depth), ")".repeat(depth));
    }
    let order = dice.of(&["False", "True", "None", "1"]);
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    match dice.below(12) {
        0 => text = text.replace("'descr'", "'shape'"),
        1 => text.push_str(&" ".repeat(dice.of(&[100, 70_000, 2 << 20]))),
        2 => text.insert_str(1, &"'descr': '<f4', ".repeat(dice.of(&[1, 3000]))),
        3 => text = text.replace('\'', "\""),
        _ => {}
    }
    let version = dice.of(&[1, 1, 2, 3, 1, 2, 3, 4]);
    let length = if dice.once_in(4) { dice.number() as u32 } else { text.len() as u32 + 1 };
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((length as u16).to_le_bytes()),
        _ => bytes.extend(length.to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.push(b'\n');
    let data = dice.of(&[0, 1, 64, 4096]);
    bytes.resize(bytes.len() + data, 7);
    bytes
}

/// A number of protobuf.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field with a length, which may be a lie.
fn field(dice: &mut Dice, number: u64, content: &[u8]) -> Vec<u8> {
    let length = if dice.once_in(60) { dice.number() } else { content.len() as u64 };
    [varint(number << 3 | 2), varint(length), content.to_vec()].concat()
}

fn plain(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

/// A shape of XLA, its tuples nested, its fields repeated, its numbers any.
fn message(dice: &mut Dice) -> Vec<u8> {
    let number = |dice: &mut Dice| if dice.once_in(2) { dice.below(300) } else { dice.number() };
    let numbers = |dice: &mut Dice, most: usize| -> Vec<u8> {
        (0..dice.index(most)).flat_map(|_| varint(number(dice))).collect()
    };
    let many = dice.of(&[3, 8, 300, 20_000]);
    let mut layout = Vec::new();
    let order = numbers(dice, many);
    layout.extend(field(dice, 1, &order));
    for _ in 0..dice.of(&[0, 1, 2, 80, 3000]) {
        let sizes = numbers(dice, 6);
        let tile = field(dice, 1, &sizes);
        layout.extend(field(dice, 6, &tile));
    }
    let any = number(dice);
    layout.extend(plain(dice.clone().below(20) + 1, any));
    let dims = numbers(dice, many);
    let kind = dice.below(40);
    let mut shape = [plain(2, kind), field(dice, 3, &dims), field(dice, 5, &layout)].concat();
    if dice.once_in(2) {
        let parts = dice.of(&[1, 2, 500]);
        shape = [plain(2, 13), field(dice, 4, &shape).repeat(parts)].concat();
        for _ in 0..dice.of(&[0, 3, 90, 101, 3000]) {
            shape = [plain(2, 13), field(dice, 4, &shape)].concat();
            if shape.len() > LONGEST {
                break;
            }
        }
    }
    match dice.below(4) {
        // The same as part of a module.
        0 => {
            let instruction = [field(dice, 1, b"a"), field(dice, 2, b"add"), field(dice, 3, &shape)].concat();
            let many = dice.of(&[1, 100, 5000]).min(LONGEST / (instruction.len() + 8)).max(1);
            let body = [field(dice, 1, b"main"), field(dice, 2, &instruction).repeat(many)].concat();
            let module = [field(dice, 1, b"m"), field(dice, 2, b"main"), field(dice, 3, &body)].concat();
            field(dice, 1, &module)
        }
        _ => shape,
    }
}

/// The text of a module, with shapes that take everything.
fn module(dice: &mut Dice) -> Vec<u8> {
    let number = |dice: &mut Dice| if dice.once_in(2) { dice.below(300) } else { dice.number() };
    let shape = |dice: &mut Dice| -> String {
        let dims: Vec<String> = (0..dice.of(&[0, 1, 2, 3, 400])).map(|_| number(dice).to_string()).collect();
        let order: Vec<String> = (0..dims.len()).rev().map(|dim| dim.to_string()).collect();
        let tiles = "(8,128)".repeat(dice.of(&[0, 1, 2, 70, 3000]));
        let colon = if tiles.is_empty() { "" } else { ":T" };
        format!("f32[{}]{{{}{colon}{tiles}}}", dims.join(","), order.join(","))
    };
    let mut text = "HloModule m, is_scheduled=true\n\nENTRY %main (x: f32[2]) -> f32[2] {\n".to_owned();
    for line in 0..dice.of(&[1, 10, 500, 20_000]) {
        let mut shape = shape(dice);
        if dice.once_in(6) {
            let depth = dice.of(&[1, 30, 5000]);
            shape = format!("{}{shape}{}", "(".repeat(depth), ")".repeat(depth));
        }
        let from = dice.below(line + 2);
        text.push_str(&format!(
            "  %a.{line} = {shape} add(%a.{from}, %a.{from}), metadata={{op_name=\"n{line}\"}}\n"
        ));
        if text.len() > LONGEST {
            break;
        }
    }
    text.push_str("}\n");
    text.into_bytes()
}

/// A few bytes are others, more, fewer, or where others were.
fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>) {
    let (a, b) = (dice.index(bytes.len() + 1), dice.index(bytes.len() + 1));
    let (a, b) = (a.min(b), a.max(b));
    match dice.below(6) {
        0 => bytes.truncate(b),
        1 => drop(bytes.drain(a..b)),
        2 => {
            let times = dice.of(&[1, 2, 40]).min(LONGEST / (b - a).max(1));
            let piece = bytes[a..b].repeat(times);
            bytes.splice(b..b, piece);
        }
        3 => {
            let number = dice.number().to_string();
            let start = (a..bytes.len()).find(|&at| bytes[at].is_ascii_digit()).unwrap_or(a);
            let end = (start..bytes.len()).find(|&at| !bytes[at].is_ascii_digit()).unwrap_or(bytes.len());
            bytes.splice(start..end, number.into_bytes());
        }
        _ => {
            for _ in 0..1 + dice.below(8) {
                let at = dice.index(bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = dice.next() as u8;
                }
            }
        }
    }
}
