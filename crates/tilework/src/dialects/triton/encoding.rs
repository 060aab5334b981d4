//! Reading encodings: `#ttg.blocked<{sizePerThread = [1, 8], …}>`, or the name of one.

use super::fields::{Fields, Value, not_power, number, same_rank};
use super::linear::Bases;
use super::read::{MAX_ITEMS, Names, PREFIXES};
use super::value::{Encoding, Places, Side, Swizzled};
use crate::dialect::mlir::Reader;
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::spelling::nearest;

/// Encodings that are read.
const OURS: [&str; 13] = [
    "blocked",
    "linear",
    "generic_linear",
    "slice",
    "dot_op",
    "nvidia_mma",
    "amd_mfma",
    "swizzled_shared",
    "amd_rotating_shared",
    "padded_shared",
    "nvmma_shared",
    "shared_linear",
    "shared",
];

/// Encodings that are known by name, and why they have no layout here.
#[rustfmt::skip]
const FOREIGN: [(&str, &str); 6] = [
    ("amd_wmma", "which lane holds what of AMD's WMMA instructions differs from version to version, and is not read here"),
    ("partitioned_shared", "the pieces of a partitioned encoding are in several memories, each with offsets of its own"),
    ("tensor_memory_encoding", "tensor memory has 128 rows of columns and no offsets: an element is at a row and a column"),
    ("tensor_memory_scales_encoding", "tensor memory has 128 rows of columns and no offsets, and holds scales four times"),
    ("mma", "this older spelling is not read; Triton writes nvidia_mma now"),
    ("mfma", "this older spelling is not read; Triton writes amd_mfma now"),
];

/// How deep encodings nest: each slice or operand has a parent.
const MAX_PARENTS: usize = 16;

/// An encoding, or its name.
pub(super) fn read(reader: &mut Reader, names: &Names) -> Result<Encoding> {
    let at = reader.token();
    let Some(name) = reader.slice(at.clone()).strip_prefix('#') else {
        return Err(reader.unexpected("an encoding such as #ttg.blocked<…>, or the name of one"));
    };
    if !name.contains('.') {
        return names.encoding(reader);
    }
    let Some(own) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) else {
        return Err(reader.unexpected("an encoding of Triton, which begins with #ttg."));
    };
    if let Some(&(name, why)) = FOREIGN.iter().find(|foreign| foreign.0 == own) {
        let text = reader.any("an encoding")?.to_owned();
        return Ok(Encoding::Foreign { name, why, text });
    }
    let Some(&of) = OURS.iter().find(|ours| **ours == own) else {
        let near = nearest(own, OURS.iter().chain(FOREIGN.iter().map(|foreign| &foreign.0)).copied());
        let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
        return Err(Error::new(format!("{} is no encoding of Triton that is known here", quoted(own)))
            .at(at)
            .accepts(format!("{}{near}", OURS.join(", "))));
    };
    reader.eat("#");
    reader.word();
    reader.expect("<", "`<` and what the encoding says")?;
    let mut pads = Vec::new();
    if of == "padded_shared" {
        pads = read_pads(reader)?;
    }
    let mut fields = Fields::read(reader, names, of)?;
    let encoding = match of {
        "blocked" => blocked(&mut fields)?,
        "linear" | "generic_linear" => linear(&mut fields)?,
        "slice" => slice(&mut fields)?,
        "dot_op" => dot_operand(&mut fields)?,
        "nvidia_mma" => nvidia_mma(&mut fields)?,
        "amd_mfma" => amd_mfma(&mut fields)?,
        "nvmma_shared" => nvmma(&mut fields)?,
        "padded_shared" => Encoding::Padded { pads, places: places(&mut fields)? },
        "shared_linear" => shared_linear(reader, &mut fields)?,
        _ => swizzled(&mut fields)?,
    };
    fields.end()?;
    reader.expect(">", "`>` at the end of the encoding")?;
    if parents(&encoding) > MAX_PARENTS {
        return Err(Error::new(format!("over {MAX_PARENTS} encodings within one another"))
            .of_kind(ErrorKind::Limit)
            .at(at));
    }
    Ok(encoding)
}

fn parents(encoding: &Encoding) -> usize {
    match encoding {
        Encoding::Slice { parent, .. } | Encoding::DotOperand { parent, .. } => 1 + parents(parent),
        _ => 0,
    }
}

/// `[32:+4, 64:+8]`
fn read_pads(reader: &mut Reader) -> Result<Vec<(u64, u64)>> {
    let start = reader.here();
    let mut pads: Vec<(u64, u64)> = Vec::new();
    reader.expect("[", "`[` and intervals with padding, as in [32:+4]")?;
    reader.items("]", |reader| {
        let at = reader.token();
        let interval = number(reader)?;
        reader.expect(":", "`:+` and the padding")?;
        reader.expect("+", "`+` and the padding")?;
        let pad = number(reader)?;
        if !interval.is_power_of_two() || !pad.is_power_of_two() {
            return Err(Error::new(format!("{interval}:+{pad}"))
                .at(reader.since(at.start))
                .rule("interval values and padding values must all be power of two")
                .accepts("powers of two"));
        }
        if pads.iter().any(|own| own.0 == interval) || pads.len() == MAX_ITEMS {
            return Err(Error::new(format!("interval {interval} twice"))
                .at(at)
                .rule("interval values cannot have duplicates")
                .accepts("one padding for each interval"));
        }
        pads.push((interval, pad));
        Ok(())
    })?;
    match pads.is_empty() {
        true => Err(Error::new("no intervals").at(reader.since(start)).accepts("such as [32:+4]")),
        false => Ok(pads),
    }
}

fn blocked(fields: &mut Fields) -> Result<Encoding> {
    let order = fields.order("order")?;
    let rank = order.len();
    Ok(Encoding::Blocked {
        size_per_thread: fields.powers("sizePerThread", rank)?,
        threads_per_warp: fields.powers("threadsPerWarp", rank)?,
        warps_per_cta: fields.powers("warpsPerCTA", rank)?,
        blocks: fields.blocks(rank)?,
        order,
    })
}

fn linear(fields: &mut Fields) -> Result<Encoding> {
    let mut rank = None;
    let mut bases = [const { Bases::new() }; 4];
    for (own, name) in bases.iter_mut().zip(["register", "lane", "warp", "block"]) {
        let at = fields.place(name);
        let found = fields.bases(name)?;
        *own = fields.need(name, found)?;
        if let Some(first) = own.first() {
            same_rank(own, *rank.get_or_insert(first.len()), at)?;
        }
    }
    Ok(Encoding::Linear { name: fields.of, bases })
}

fn slice(fields: &mut Fields) -> Result<Encoding> {
    let at = fields.place("dim");
    let dim = fields.number("dim")?;
    let dim = fields.need("dim", dim)?;
    let parent = fields.parent()?;
    check_parent(&parent, fields)?;
    match parent.rank().filter(|&rank| dim as usize >= rank || rank < 2) {
        Some(rank) => {
            Err(Error::new(format!("dimension {dim} of a parent of {}", counted(rank as u64, "dimension")))
                .at(at)
                .rule("a slice leaves out one of its parent's dimensions, and at least one is left")
                .accepts(format!("0 to {}, of a parent of 2 or more", rank.saturating_sub(1))))
        }
        None => Ok(Encoding::Slice { dim: dim as usize, parent }),
    }
}

/// A parent says which registers hold an element.
fn check_parent(parent: &Encoding, fields: &Fields) -> Result<()> {
    match parent.side() {
        Some(Side::Memory) => Err(Error::new(format!("{} with the parent {}", fields.of, parent.name()))
            .at(fields.at.clone())
            .rule("a parent says which registers hold an element")
            .accepts("a parent such as #ttg.blocked<…>")),
        _ => Ok(()),
    }
}

fn dot_operand(fields: &mut Fields) -> Result<Encoding> {
    let at = fields.place("opIdx");
    let operand = fields.number("opIdx")?;
    let operand = fields.need("opIdx", operand)?;
    if operand > 1 {
        return Err(Error::new(format!("opIdx {operand}"))
            .at(at)
            .rule("a is operand 0, and b is operand 1")
            .accepts("0 or 1"));
    }
    let k_width = fields.number("kWidth")?;
    let parent = fields.parent()?;
    check_parent(&parent, fields)?;
    match parent.rank().filter(|&rank| rank < 2) {
        Some(_) => Err(Error::new("an operand with a parent of 1 dimension")
            .at(fields.at.clone())
            .rule("the operands of a product are matrices")
            .accepts("a parent of 2 dimensions or more")),
        None => Ok(Encoding::DotOperand { operand, parent, k_width }),
    }
}

fn nvidia_mma(fields: &mut Fields) -> Result<Encoding> {
    let (major, minor) = (fields.number("versionMajor")?, fields.number("versionMinor")?);
    let rank = rank_of(fields, "warpsPerCTA")?;
    Ok(Encoding::NvidiaMma {
        major: fields.need("versionMajor", major)?,
        minor: minor.unwrap_or(0),
        warps_per_cta: fields.powers("warpsPerCTA", rank)?,
        blocks: fields.blocks(rank)?,
        instruction: fields.list("instrShape")?,
    })
}

fn amd_mfma(fields: &mut Fields) -> Result<Encoding> {
    let rank = rank_of(fields, "warpsPerCTA")?;
    let (version, major) = (fields.number("version")?, fields.number("versionMajor")?);
    let minor = fields.number("versionMinor")?;
    let transposed = fields.flag("isTransposed")?;
    let has_tiles = fields.items.iter().any(|item| item.0 == "tilesPerWarp");
    Ok(Encoding::AmdMfma {
        version: fields.need("version", version.or(major))?,
        minor: minor.or(major.filter(|_| version.is_none()).map(|_| 0)),
        warps_per_cta: fields.powers("warpsPerCTA", rank)?,
        instruction: fields.list("instrShape")?,
        transposed: fields.need("isTransposed", transposed)?,
        blocks: fields.blocks(rank)?,
        tiles_per_warp: if has_tiles { Some(fields.powers("tilesPerWarp", rank)?) } else { None },
        element_bits: fields.number("elementBitWidth")?,
    })
}

/// How many numbers a list has.
fn rank_of(fields: &Fields, name: &str) -> Result<usize> {
    match fields.items.iter().find(|item| item.0 == name) {
        Some((_, Value::List(list), _)) if list.len() >= 2 => Ok(list.len()),
        Some((.., at)) => Err(Fields::wrong(name, at.clone(), "a list of 2 numbers or more")),
        None => fields.need(name, None),
    }
}

fn swizzled(fields: &mut Fields) -> Result<Encoding> {
    let order = fields.order("order")?;
    let form = match fields.of {
        "shared" => Swizzled::Older { leading: fields.flag("hasLeadingOffset")? },
        "amd_rotating_shared" => Swizzled::Rotating,
        _ => Swizzled::Plain,
    };
    let at = fields.place("vec");
    let vec = fields.number("vec")?;
    let vec = fields.need("vec", vec)?;
    if vec == 0 || vec > 1 << 31 {
        return Err(Fields::wrong("vec", at, "a number from 1 to 2^31"));
    }
    Ok(Encoding::Swizzled {
        form,
        vec,
        per_phase: fields.power("perPhase")?,
        max_phase: fields.power("maxPhase")?,
        blocks: fields.blocks(order.len())?,
        order,
    })
}

fn places(fields: &mut Fields) -> Result<Places> {
    let block_at = fields.place("block");
    if let Some(offset) = fields.bases("offset")? {
        let block = fields.bases("block")?.unwrap_or_default();
        let all = offset.iter().chain(&block);
        let is_one_step = |base: &&Vec<u64>| {
            let mut steps = base.iter().filter(|step| **step > 0);
            steps.next().is_some_and(|step| step.is_power_of_two()) && steps.next().is_none()
        };
        if let Some(base) = all.clone().find(|base| !is_one_step(base)) {
            return Err(Error::new(format!("basis {base:?}"))
                .at(fields.at.clone())
                .rule("each offset basis must move in one dimension, by a power of two")
                .accepts("such as [0, 4]"));
        }
        if let Some(base) = offset.first() {
            same_rank(&block, base.len(), block_at)?;
        }
        return Ok(Places::Bases { offset, block });
    }
    let order = fields.order("order")?;
    Ok(Places::Order { shape: fields.powers("shape", order.len())?, order })
}

fn nvmma(fields: &mut Fields) -> Result<Encoding> {
    let at = fields.place("swizzlingByteWidth");
    let width = fields.number("swizzlingByteWidth")?;
    let width = fields.need("swizzlingByteWidth", width)?;
    if !matches!(width, 0 | 32 | 64 | 128) {
        return Err(Fields::wrong("swizzlingByteWidth", at, "0, 32, 64 or 128"));
    }
    let at = fields.place("elementBitWidth");
    let element_bits = fields.power("elementBitWidth")?;
    if !(4..=64).contains(&element_bits) {
        return Err(Fields::wrong("elementBitWidth", at, "4 to 64"));
    }
    let (transposed, fp4_padded) = (fields.flag("transposed")?, fields.flag("fp4Padded")?);
    let at = fields.place("rank");
    let rank = fields.number("rank")?;
    let of_blocks = fields.items.iter().find_map(|item| match (&item.0, &item.1) {
        (&"CGALayout", Value::Bases(bases)) => bases.first().map(Vec::len),
        (&"CTAsPerCGA", Value::List(list)) => Some(list.len()),
        _ => None,
    });
    let rank = rank.map_or(of_blocks.unwrap_or(2), |rank| rank as usize);
    if rank == 0 || rank > MAX_ITEMS {
        return Err(Fields::wrong("rank", at, &format!("a number from 1 to {MAX_ITEMS}")));
    }
    Ok(Encoding::Nvmma {
        width,
        transposed: transposed.unwrap_or(false),
        element_bits,
        fp4_padded: fp4_padded.unwrap_or(false),
        rank,
        blocks: fields.blocks(rank)?,
    })
}

/// The alignment stands behind the braces.
fn shared_linear(reader: &mut Reader, fields: &mut Fields) -> Result<Encoding> {
    let block_at = fields.place("block");
    let offset = fields.bases("offset")?;
    let offset = fields.need("offset", offset)?;
    let block = fields.bases("block")?;
    if let (Some(base), Some(block)) = (offset.first(), &block) {
        same_rank(block, base.len(), block_at)?;
    }
    let mut alignment = 16;
    if reader.eat(",") {
        let at = reader.token();
        if !reader.eat_word("alignment") || !reader.eat("=") {
            return Err(reader.back_to(at.start).unexpected("alignment = and a number of bytes"));
        }
        let at = reader.token();
        alignment = reader.number("a number of bytes")?;
        if !alignment.is_power_of_two() {
            return Err(not_power("alignment", alignment, at));
        }
    }
    Ok(Encoding::SharedLinear { offset, block, alignment })
}
