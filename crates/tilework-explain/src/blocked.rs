//! Blocks of an array in a Pallas kernel, in words and as an object.

use serde::Serialize;
use tilework::{Element, Result};
use tilework_audit::{Block, BlockDim, BlockRule};
use tilework_picture::{Line, Look};

use crate::page::{Page, Row};
use crate::size::{bytes, cause, times};
use crate::suggested::Cost;

/// Where the rules are from.
const SOURCE: &str = "as JAX 0.10.2 checks it for blocks in VMEM";

/// What the pipeline of Pallas has unless a `pipeline_mode` says otherwise.
const BUFFERS: u128 = 2;

/// Whether an array can have these blocks, as `tilework block --json` prints it.
#[derive(Serialize)]
pub struct Blocked {
    /// The canonical text of the array.
    pub shape: String,
    /// The block shape; null for squeezed dimensions.
    pub block: Vec<Option<u64>>,
    /// Whether Pallas takes the block shape.
    pub legal: bool,
    /// The rule for blocks with this number of dimensions, in Pallas' words.
    pub rule: String,
    /// Each dimension.
    pub dimensions: Vec<BlockSize>,
    /// How many blocks cover the array in each dimension.
    pub grid: Vec<u64>,
    /// The product of the grid.
    pub blocks: u128,
    /// Elements of all blocks that lie outside the array.
    pub outside_elements: u128,
    /// A block in VMEM, padded to tiles.
    pub vmem: Cost,
    /// What the pipeline takes for the blocks of this array: two of them, unless there is only one.
    pub pipeline_bytes: u128,
    /// The nearest legal blocks, the cheapest first.
    pub nearest: Vec<Near>,
}

/// A dimension of a block.
#[derive(Serialize)]
pub struct BlockSize {
    /// The size of the array.
    pub array: u64,
    /// The size of the block; null for a squeezed dimension.
    pub block: Option<u64>,
    /// Whether the rule allows it.
    pub legal: bool,
    /// Why, or why not.
    pub reason: String,
    /// Elements of the last block that lie outside the array, along this dimension.
    pub outside: u64,
}

/// A legal block near one that is not.
#[derive(Serialize)]
pub struct Near {
    /// The block shape; null for squeezed dimensions.
    pub block: Vec<Option<u64>>,
    /// How many blocks cover the array.
    pub blocks: u128,
    /// A block in VMEM, padded to tiles.
    pub vmem: Cost,
}

impl Blocked {
    /// What there is to say of a block of the array that `shape` says.
    ///
    /// ```
    /// use tilework::Element;
    /// use tilework_audit::Block;
    /// use tilework_explain::Blocked;
    /// let block = Block::new(&[512, 512], Element::Bf16, &[Some(100), Some(512)])?;
    /// let blocked = Blocked::new("bf16[512,512]", &block, Element::Bf16)?;
    /// assert_eq!(blocked.dimensions[0].reason, "100 is neither divisible by 8 nor equal to the array's 512");
    /// assert_eq!(blocked.nearest[0].block, [Some(96), Some(512)]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// None that [`Block::new`] did not have.
    pub fn new(shape: &str, block: &Block, element: Element) -> Result<Blocked> {
        let dimension = |dim: &BlockDim| BlockSize {
            array: dim.array,
            block: (!dim.is_squeezed).then_some(dim.size),
            legal: dim.is_legal(),
            reason: reason(dim),
            outside: dim.outside(),
        };
        let near = |near: &Block| {
            Ok(Near { block: near.sizes(), blocks: near.blocks(), vmem: Cost::new(&near.footprint)? })
        };
        Ok(Blocked {
            shape: shape.to_owned(),
            block: block.sizes(),
            legal: block.is_legal(),
            rule: rule(block, element),
            dimensions: block.dims.iter().map(dimension).collect(),
            grid: block.dims.iter().map(BlockDim::blocks).collect(),
            blocks: block.blocks(),
            outside_elements: block.outside(),
            vmem: Cost::new(&block.footprint)?,
            pipeline_bytes: pipeline(block),
            nearest: block.nearest().iter().map(near).collect::<Result<_>>()?,
        })
    }
}

/// The same in words, on lines of this width.
///
/// # Errors
/// None that [`Block::new`] did not have.
pub fn explain_block(
    shape: &str,
    block: &Block,
    element: Element,
    width: usize,
    look: Look,
) -> Result<Vec<Line>> {
    let mut page = Page::new(width, look);
    page.title(&format!("{shape} in blocks of {}", text(block)));
    page.paragraph(match block.is_legal() {
        true => "A Pallas kernel on a TPU may have blocks of this size.",
        false => "The Pallas TPU lowering refuses blocks of this size.",
    });
    let mut rows: Vec<Row> = Vec::new();
    for (number, dim) in block.dims.iter().enumerate() {
        let answer = if dim.is_legal() { "yes" } else { "no" };
        rows.push((format!("dimension {number}"), format!("{answer}: {}", reason(dim))));
    }
    rows.push(("rule".to_owned(), format!("{}, {SOURCE}", rule(block, element))));
    if block.dims.iter().any(|dim| dim.is_squeezed && !dim.is_legal()) {
        let way =
            "None may stand for dimensions before the last two: move the dimension there, or write its size";
        rows.push(("instead".to_owned(), way.to_owned()));
    }
    page.rows(&rows);
    page.rows(&costs(block)?);
    let nearest = block.nearest();
    if !nearest.is_empty() {
        page.heading("the nearest legal blocks, by what each takes in VMEM");
        page.text(&table(&nearest));
    }
    Ok(page.into_lines())
}

/// Whether a size does, in Pallas' words.
fn reason(dim: &BlockDim) -> String {
    let size = if dim.is_squeezed { "None counts as 1, which".to_owned() } else { dim.size.to_string() };
    let equal = format!("equal to the array's {}", dim.array);
    if let BlockRule::Any = dim.rule {
        return "any size does before the last two dimensions".to_owned();
    }
    if dim.is_whole() {
        return format!("{size} is {equal}");
    }
    match dim.rule {
        BlockRule::Multiple(of) if dim.is_legal() => format!("{size} is divisible by {of}"),
        BlockRule::MultipleOrPower { multiple, .. } if dim.size.is_multiple_of(multiple) => {
            format!("{size} is a multiple of {multiple}")
        }
        BlockRule::MultipleOrPower { least, .. } if dim.is_legal() => {
            format!("{size} is a power of 2 and at least {least}")
        }
        BlockRule::MultipleOrPower { multiple, least } => {
            format!(
                "{size} is not {equal}, no multiple of {multiple}, and no power of 2 that is at least {least}"
            )
        }
        BlockRule::Multiple(of) => format!("{size} is neither divisible by {of} nor {equal}"),
        BlockRule::Any => String::new(),
    }
}

/// The rule for blocks with this number of dimensions.
fn rule(block: &Block, element: Element) -> String {
    match block.dims.first().map(|dim| dim.rule) {
        None => {
            "blocks have rank 1 or more; a scalar is a block of shape (1,), or is kept in SMEM".to_owned()
        }
        Some(BlockRule::MultipleOrPower { multiple, least }) => {
            let bits = 32 * 128 / least.max(1);
            format!(
                "the only dimension of a block of rank 1 is equal to the array's, or a multiple of {multiple}, or a power of 2 \
                 that is at least {least} = 128 × (32 / {bits}) for {element}"
            )
        }
        Some(_) => {
            "the last two dimensions of a block are divisible by 8 and 128 respectively, or equal to the \
                    respective dimensions of the array"
                .to_owned()
        }
    }
}

/// What blocks take, and how they cover the array.
fn costs(block: &Block) -> Result<Vec<Row>> {
    let vmem = &block.footprint;
    let factor = times(vmem.element_bytes, vmem.bytes.into());
    let own = vmem.shape.to_string();
    let mut rows = vec![(
        "VMEM".to_owned(),
        format!("{} a block, {factor} × the elements, as {own}", bytes(vmem.bytes.into())),
    )];
    let growths = vmem.shape.lower()?.growths();
    rows.extend(growths.iter().map(|growth| (String::new(), cause(growth))));
    let blocks = block.blocks();
    if blocks > 1 {
        let buffers = format!("{} for {BUFFERS} buffers, which the pipeline has", bytes(pipeline(block)));
        rows.push((String::new(), format!("{buffers} unless pipeline_mode says otherwise")));
    }
    let grid: Vec<String> = block.dims.iter().map(|dim| dim.blocks().to_string()).collect();
    let noun = if blocks == 1 { "block" } else { "blocks" };
    rows.push((
        "grid".to_owned(),
        match grid.len() {
            0 | 1 => format!("{blocks} {noun}"),
            _ => format!("{} = {blocks} {noun}", grid.join(" × ")),
        },
    ));
    let mut outside = Vec::new();
    for (number, dim) in block.dims.iter().enumerate().filter(|(_, dim)| dim.outside() > 0) {
        outside.push(format!("{} of the last {} in dimension {number}", dim.outside(), dim.size));
    }
    if blocks > 0 {
        rows.push((
            "outside".to_owned(),
            match outside.is_empty() {
                true => "nothing: the blocks fill the array".to_owned(),
                false => format!("{}: {} elements of all blocks", outside.join(", "), block.outside()),
            },
        ));
    }
    Ok(rows)
}

fn pipeline(block: &Block) -> u128 {
    u128::from(block.footprint.bytes) * if block.blocks() > 1 { BUFFERS } else { 1 }
}

/// `(8, 128)`, `(None, 128)`, `(1024,)`: as Python prints it.
fn text(block: &Block) -> String {
    let sizes = block.sizes();
    let sizes: Vec<String> =
        sizes.iter().map(|size| size.map_or_else(|| "None".to_owned(), |size| size.to_string())).collect();
    match &sizes[..] {
        [only] => format!("({only},)"),
        sizes => format!("({})", sizes.join(", ")),
    }
}

/// One line a block: itself, what it takes, how many there are.
fn table(blocks: &[Block]) -> String {
    let rows: Vec<[String; 3]> = blocks
        .iter()
        .map(|block| {
            let vmem = &block.footprint;
            let factor = format!("{}\u{a0}×", times(vmem.element_bytes, vmem.bytes.into()));
            [text(block).replace(' ', "\u{a0}"), format!("{}\u{a0}({factor})", bytes(vmem.bytes.into())), {
                let blocks = block.blocks();
                format!("{blocks}\u{a0}{}", if blocks == 1 { "block" } else { "blocks" })
            }]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [shapes, sizes] = [width(0), width(1)];
    let line = |[shape, size, blocks]: &[String; 3]| format!("{shape:shapes$}  {size:sizes$}  {blocks}");
    rows.iter().map(line).collect::<Vec<String>>().join("\n")
}
