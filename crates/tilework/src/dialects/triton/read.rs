//! Reading types and the lines before them that name encodings.
//!
//! ```text
//! #blocked = #ttg.blocked<{…}>            definitions, as they stand at the top of a module
//! #smem = #ttg.shared_memory
//! tensor<128x64xf16, #blocked>            types, one or several
//! !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 3x64x64>
//! #ttg.blocked<{…}>                       an encoding alone, with sizes and type known from elsewhere
//! ```

use super::value::{ElementType, Encoding, Memory, Side, Type};
use super::{encoding, fields};
use crate::dialect::Known;
use crate::dialect::mlir::Reader;
use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::spelling::nearest;

/// Triton's dialects in MLIR, old and new.
pub(super) const PREFIXES: [&str; 4] = ["ttg.", "triton_gpu.", "ttng.", "triton_nvidia_gpu."];

/// The most dimensions, bases and other items of a list.
pub(super) const MAX_ITEMS: usize = 64;

/// The most types of one text, and the most encodings that it names: each use is a copy.
const MAX_TYPES: usize = 256;

/// What stands for something else in a text.
pub(super) struct Names<'a>(Vec<(&'a str, Meaning)>);

enum Meaning {
    Encoding(Encoding),
    /// A memory space.
    Space(String),
    /// What is no encoding of Triton.
    Other,
}

/// What a text says, with its name where it has one.
pub(super) type Named = (Option<String>, Type);

impl Type {
    /// Reads one type, with definitions of names before it or without.
    ///
    /// ```
    /// use tilework::triton::Type;
    /// let text = "#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
    ///     !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>";
    /// assert_eq!(Type::parse(text)?.lower()?.offset(&[3, 0])?, 3 * 64 + (3 << 3));
    /// let error = Type::parse("tensor<64xf16, #ttg.blockd<{}>>").unwrap_err();
    /// assert!(error.accepted().is_some_and(|accepted| accepted.contains("did you mean blocked?")));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A text that is no such type, or several.
    pub fn parse(text: &str) -> Result<Type> {
        let mut found = types(text, &Known::default())?;
        match found.len() {
            1 => Ok(found.remove(0).1),
            count => Err(Error::new(format!("{count} types")).at(0..text.len()).accepts("one type")),
        }
    }
}

/// Whether a text is one of Triton.
pub(super) fn recognise(text: &str) -> bool {
    let is_memory = |text: &str| {
        ["!ttg.memdesc", "!triton_gpu.memdesc", "!tt.memdesc"].iter().any(|name| text.starts_with(name))
    };
    let is_encoding = |text: &str| {
        text.strip_prefix('#').is_some_and(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
    };
    let defines = |line: &str| {
        let alias = line.trim_start().strip_prefix('#').and_then(|line| line.split_once('='));
        alias.is_some_and(|(name, value)| is_name(name.trim_end()) && is_encoding(value.trim_start()))
    };
    let has_encoding = || crate::dialect::mlir::tensor_encoding(text).is_some_and(is_encoding);
    is_memory(text)
        || is_encoding(text)
        || has_encoding()
        || (text.starts_with('#') && text.lines().take_while(|line| is_definition(line)).any(defines))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
}

fn is_definition(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with("//")
}

/// Every type of a text. An encoding alone is one where sizes and the type of elements are known.
pub(super) fn types(text: &str, known: &Known) -> Result<Vec<Named>> {
    let mut reader = Reader::new(text);
    let mut names = Names(Vec::new());
    let mut encodings = 0;
    while let Some(name) = definition(&reader) {
        reader.eat("#");
        let at = reader.token();
        reader.word();
        reader.expect("=", "`=` and an attribute")?;
        let meaning = names.meaning(&mut reader)?;
        encodings += usize::from(matches!(meaning, Meaning::Encoding(_)));
        if encodings > MAX_TYPES {
            return Err(Error::new(format!("over {MAX_TYPES} encodings with names"))
                .of_kind(ErrorKind::Limit)
                .at(at));
        }
        names.0.push((name, meaning));
    }
    let mut found = Vec::new();
    while !reader.token().is_empty() {
        let at = reader.token();
        if found.len() == MAX_TYPES {
            return Err(Error::new(format!("over {MAX_TYPES} types")).of_kind(ErrorKind::Limit).at(at));
        }
        found.push((None, one(&mut reader, &names, known)?));
        if !reader.eat(",") {
            reader.eat("->");
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    for (name, meaning) in names.0 {
        if let Meaning::Encoding(encoding) = meaning {
            let sized = sized(encoding, known, text).map_err(|error| error.or_at(0..text.len()))?;
            found.push((Some(name.to_owned()), sized));
        }
    }
    match found.is_empty() {
        true => Err(reader.unexpected("tensor<…>, !ttg.memdesc<…> or an encoding such as #ttg.blocked<…>")),
        false => Ok(found),
    }
}

/// The name that is defined here.
fn definition<'a>(reader: &Reader<'a>) -> Option<&'a str> {
    let mut ahead = reader.clone();
    let name = if ahead.eat("#") { ahead.word() } else { "" };
    (is_name(name) && ahead.eat("=")).then_some(name)
}

impl Names<'_> {
    /// What a definition gives its name to.
    fn meaning(&self, reader: &mut Reader) -> Result<Meaning> {
        let at = reader.token();
        let name = reader.slice(at).strip_prefix('#').unwrap_or_default();
        if !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            reader.line();
            return Ok(Meaning::Other);
        }
        if is_space(name) {
            return Ok(Meaning::Space(self.space(reader)?));
        }
        encoding::read(reader, self).map(Meaning::Encoding)
    }

    /// An encoding by its name.
    pub(super) fn encoding(&self, reader: &mut Reader) -> Result<Encoding> {
        let at = reader.token();
        let name = reader.slice(at.clone()).strip_prefix('#').unwrap_or_default();
        reader.eat("#");
        reader.word();
        let known = self.0.iter().rev().find(|known| known.0 == name);
        match known {
            Some((_, Meaning::Encoding(encoding))) => Ok(encoding.clone()),
            Some(_) => Err(Error::new(format!("{} is no encoding of Triton", quoted(&format!("#{name}"))))
                .at(at)
                .accepts("the name of an encoding")),
            None => {
                let near = nearest(name, self.0.iter().map(|known| known.0));
                let near = near.map_or(String::new(), |near| format!("; did you mean #{near}?"));
                Err(Error::new(format!("{} is not defined above", quoted(&format!("#{name}"))))
                    .at(at)
                    .rule("a name stands for an attribute that a line before the type defines")
                    .accepts(format!("a line `#{name} = #ttg.…` before the type{near}")))
            }
        }
    }

    /// A memory space, or the name of one.
    fn space(&self, reader: &mut Reader) -> Result<String> {
        let at = reader.token();
        let name = reader.slice(at.clone()).strip_prefix('#').unwrap_or_default();
        let known = self.0.iter().rev().find(|known| known.0 == name);
        let space = match known {
            Some((_, Meaning::Space(space))) => space.clone(),
            _ if is_space(name) => format!("#{name}"),
            _ => return Err(reader.unexpected("a memory space such as #ttg.shared_memory")),
        };
        reader.eat("#");
        reader.word();
        Ok(space)
    }
}

fn is_space(name: &str) -> bool {
    name.ends_with(".shared_memory") || name.ends_with(".tensor_memory")
}

/// A type, or an encoding alone.
fn one(reader: &mut Reader, names: &Names, known: &Known) -> Result<Type> {
    let at = reader.token();
    if reader.peek() == b'#' {
        let encoding = encoding::read(reader, names)?;
        let text = reader.slice(reader.since(at.start));
        return sized(encoding, known, text).map_err(|error| error.or_at(reader.since(at.start)));
    }
    let accepts = "tensor<…>, !ttg.memdesc<…> or an encoding such as #ttg.blocked<…>";
    let is_memory = reader.peek() == b'!';
    let word = if is_memory {
        reader.eat("!");
        reader.word()
    } else {
        reader.word()
    };
    match word {
        "tensor" if !is_memory => {}
        "ttg.memdesc" | "triton_gpu.memdesc" | "tt.memdesc" if is_memory => {}
        _ => return Err(reader.back_to(at.start).unexpected(accepts)),
    }
    reader.expect("<", "`<` and the sizes, as in <128x64xf16, …>")?;
    let dims = sizes(reader)?;
    let element = element(reader)?;
    reader.expect(",", "`,` and the encoding")?;
    let encoding_at = reader.here();
    let encoding = encoding::read(reader, names)?;
    let mut found = Type { dims, element, encoding, memory: None };
    if is_memory {
        found.memory = Some(memory(reader, names)?);
    }
    found.check().map_err(|error| error.or_at(reader.since(encoding_at)))?;
    reader.expect(">", if is_memory { "`,` and a word more, or `>`" } else { "`>`" })?;
    Ok(found)
}

/// What follows the encoding of a `memdesc`.
fn memory(reader: &mut Reader, names: &Names) -> Result<Memory> {
    let mut memory = Memory { space: None, mutable: false, allocated: None };
    while reader.eat(",") {
        match reader.peek() {
            b'#' if memory.space.is_none() && !memory.mutable => memory.space = Some(names.space(reader)?),
            b'0'..=b'9' if memory.allocated.is_none() => {
                let mut sizes = vec![reader.number("a size")?];
                while reader.eat("x") {
                    sizes.push(reader.number("a size")?);
                    if sizes.len() > MAX_ITEMS {
                        return Err(reader.unexpected(format!("up to {MAX_ITEMS} sizes")));
                    }
                }
                memory.allocated = Some(sizes);
            }
            _ if !memory.mutable && memory.allocated.is_none() && reader.eat_word("mutable") => {
                memory.mutable = true;
            }
            _ => {
                return Err(
                    reader.unexpected("a memory space, then mutable, then the sizes that are allocated")
                );
            }
        }
    }
    Ok(memory)
}

/// `128x64x`, up to the element type.
fn sizes(reader: &mut Reader) -> Result<Vec<u64>> {
    let mut dims = Vec::new();
    loop {
        let at = reader.token();
        match reader.peek() {
            b'0'..=b'9' => dims.push(reader.number("a size")?),
            b'?' | b'*' => {
                return Err(Error::new("a size that is known at run time only")
                    .of_kind(ErrorKind::Unsupported)
                    .at(at)
                    .rule("the sizes of Triton's tensors are numbers")
                    .accepts("a number"));
            }
            _ => return Ok(dims),
        }
        if dims.len() > MAX_ITEMS {
            return Err(Error::new(format!("over {MAX_ITEMS} dimensions")).of_kind(ErrorKind::Limit).at(at));
        }
        reader.expect("x", "`x` behind a size, and the next size or the element type")?;
    }
}

fn element(reader: &mut Reader) -> Result<ElementType> {
    let at = reader.token();
    if reader.peek() == b'!' {
        let text = reader.any("an element type")?;
        let pointee = text.strip_prefix("!tt.ptr<").filter(|pointee| !pointee.contains("tensor"));
        return match pointee {
            Some(_) => Ok(ElementType { text: text.to_owned(), stored: Element::U64 }),
            None => Err(Error::new(format!("the size of {} is not known here", quoted(text)))
                .at(at)
                .accepts("an element type such as f16, or a pointer such as !tt.ptr<f16>")),
        };
    }
    let word = reader.word();
    let mut text = word.to_owned();
    if word == "complex" && reader.eat("<") {
        text = format!("complex<{}>", reader.word());
        reader.expect(">", "`>`")?;
    }
    if let Some(stored) = Element::from_name_in(System::Mlir, &text) {
        return Ok(ElementType { text, stored });
    }
    let symbol = word.rsplit_once('x').filter(|(_, element)| {
        let element = element.trim_start_matches(|c: char| c.is_ascii_digit());
        Element::from_name_in(System::Mlir, element).is_some()
    });
    if symbol.is_some() {
        return Err(fields::symbol(word).at(at));
    }
    let names = Element::all().filter_map(|element| element.name_in(System::Mlir));
    let near = nearest(word, names).map_or(String::new(), |near| format!("; did you mean {near}?"));
    Err(reader.back_to(at.start).unexpected(format!("an element type such as f16{near}")))
}

/// An encoding for an array that is known.
fn sized(encoding: Encoding, known: &Known, text: &str) -> Result<Type> {
    let (Some(dims), Some(stored)) = (known.dims, known.element) else {
        return Err(Error::new("an encoding without a tensor")
            .rule("an encoding says how a tensor of known sizes lies; alone it is not the layout of anything")
            .accepts(format!("the type and the sizes before it, such as f16[64,64] {}", first_line(text))));
    };
    let name = stored
        .name_in(System::Mlir)
        .ok_or_else(|| Error::new(format!("MLIR has no element type {stored}")).field("element type"))?;
    let element = ElementType { text: name.to_owned(), stored };
    let found = Type { dims: dims.to_vec(), element, encoding, memory: None };
    found.check()?;
    Ok(found)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

impl Type {
    /// The encoding is for tensors of as many dimensions; a buffer may have one more, in front.
    fn check(&self) -> Result<()> {
        let Some(rank) = self.encoding.rank() else { return Ok(()) };
        let own = self.dims.len();
        if let Some(memory) = &self.memory {
            if self.side() == Some(Side::Registers) {
                return Err(Error::new(format!("{} of a memdesc", self.encoding_name()))
                    .rule("a memdesc is in memory, and the encoding says which registers hold an element")
                    .accepts("an encoding of memory such as #ttg.swizzled_shared<…>"));
            }
            if memory.allocated.as_ref().is_some_and(|sizes| sizes.len() < own) {
                return Err(Error::new("fewer allocated sizes than dimensions")
                    .rule("alloc shape must have at least as many dimensions as shape")
                    .accepts(counted(own as u64, "size")));
            }
        }
        let is_one_more = self.memory.is_some() && own == rank + 1;
        if own == rank || is_one_more {
            return Ok(());
        }
        Err(Error::new(format!(
            "an encoding of {} for a {} of {}",
            counted(rank as u64, "dimension"),
            self.word(),
            counted(own as u64, "dimension")
        ))
        .of_kind(ErrorKind::Mismatch)
        .rule("an encoding has as many dimensions as its tensor; a memdesc may have one more in front, for several buffers")
        .accepts(format!("an encoding of {}", counted(own as u64, "dimension"))))
    }
}
