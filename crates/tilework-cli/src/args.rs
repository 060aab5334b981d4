//! The arguments, and the help that stands beside them.

mod audit;
mod bench;
mod block;
mod bytes;
mod convert;
mod diff;
mod jobs;
mod link;
mod ls;
mod message;
mod picture;
mod shell;
mod suggest;
mod target;
mod translate;

pub use audit::AuditArgs;
pub use bench::BenchArgs;
pub use block::BlockArgs;
pub use convert::{ConvertArgs, FileFormat};
pub use diff::DiffArgs;
#[cfg(feature = "stores")]
pub use jobs::{HowArgs, PlanOnlyArgs};
pub use jobs::{RechunkArgs, ReshardArgs, RunTasksArgs};
pub use link::LinkArgs;
pub use ls::LsArgs;
pub use message::{MessageArgs, ProtoFormat, ShapeFormat, ShapeMessage};
pub use picture::PictureArgs;
pub use shell::Shell;
pub use suggest::SuggestArgs;
pub use translate::TranslateArgs;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use tilework::dialect::{self, Axes, Dialect, Known, Reading};
use tilework::directml::FeatureLevel;
use tilework::xla;

/// Explains how tensors lie in memory.
///
/// A SHAPE is a text in any of the notations that are listed at --as; the default is to see which one it is. As XLA
/// writes it, it is for example 'f32[3,5]{1,0:T(2,2)}'. The older written forms are read as well, and Tilework's own
/// words for what XLA cannot say: pad(..), strides(..), base(..), size(..).
///
/// A DirectML descriptor is for example 'FLOAT32 [1,3,224,224] strides [153228,51076,226,1]',
/// 'FLOAT16 NHWC [1,64,56,56]', or @FILE.json (one descriptor of several: @FILE.json#NAME). @FILE.npy stands for the array in
/// it. Only an argument names a file, of up to 64 MiB of text; a line of standard input never does.
#[derive(Parser)]
#[command(
    name = "tilework",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_long_help = "\
Examples:
  tilework show 'f32[3,5]{1,0:T(2,2)}'             # words, sizes and pictures
  tilework index 'f32[3,5]{1,0:T(2,2)}' 2,3        # 17
  tilework locate 'f32[3,5]{1,0:T(2,2)}' 17        # 2,3
  tilework compare 'f32[16,128]{1,0:T(8,128)}' 'f32[2048]' --sense reshape
  tilework translate 'f32[3,5]{0,1}' --to torch    # torch.float32 [3, 5] strides [1, 3]
  tilework plan 'f32[3,5]{1,0:T(2,2)}' 'f32[3,5]'  # what has to move
  tilework show 'FLOAT16 NHWC [1,64,56,56]'        # a DirectML descriptor
  tilework show 'float32 (3, 5) strides (4, 12)'   # an array of NumPy
  tilework audit samples/dump                      # what a program's layouts cost
  tilework check samples/model.json                # every broken rule; exit code 1
  tilework view 'FLOAT32 [2,3,4]' --reshape 6,4    # view, or copy needed
  tilework suggest 's32[8388608,8,4]{2,1,0:T(8,128)}' --target tpu
  tilework block 'f32[1024,100]' 8,100              # may a Pallas kernel have these blocks?
  tilework convert samples/weights.npy out.bin --to '{1,0:T(8,128)}'
  tilework bench 'f32[4096,4096]' '{0,1}'          # how fast, against a copy
  grep -o 's32\\[[^ ]*' samples/out_of_memory.txt | tilework show --json

Without a command, a shape is shown, and standard input is read for what it is: shapes, a descriptor,
a dump, or any text in which layouts stand.

Exit codes: 0 yes or done, 1 a check said no, 2 bad input."
)]
pub struct Args {
    #[command(flatten)]
    pub look: LookArgs,

    /// Read shapes in this notation, where a text could be in several
    #[arg(long = "as", global = true, value_name = "NOTATION", value_parser = notations(), help_heading = HEADING)]
    pub notation: Option<&'static Dialect>,

    /// Read XLA's shapes only, and refuse Tilework's own words and the older written forms
    #[arg(long, global = true, help_heading = HEADING)]
    pub strict_xla: bool,

    #[command(subcommand)]
    pub command: Command,
}

/// Names of dimensions.
fn axes(text: &str) -> Result<Axes, String> {
    Axes::parse(text).map_err(|error| {
        let parts = [Some(error.found()), error.broken_rule(), error.accepted()];
        parts.into_iter().flatten().collect::<Vec<&str>>().join("; ")
    })
}

/// The notations by their names.
fn notations() -> impl TypedValueParser<Value = &'static Dialect> {
    let name = |dialect: &&Dialect| PossibleValue::new(dialect.name).help(dialect.title);
    PossibleValuesParser::new(dialect::all().iter().map(name)).try_map(|name| Dialect::named(&name))
}

impl Args {
    /// How texts are to be read, with what is known besides them.
    pub fn reading<'a>(&self, known: Known<'a>) -> Reading<'a> {
        let dialect = if self.strict_xla { Some(&xla::DIALECT) } else { self.notation };
        Reading { dialect, known: Known { strict: self.strict_xla, ..known } }
    }
}

/// What stands above the options that every command has.
const HEADING: &str = "Options of every command";

/// How answers are written.
#[derive(clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct LookArgs {
    /// One JSON object a line, as described in docs/json.md
    #[arg(long, global = true)]
    pub json: bool,

    /// When to use colours; NO_COLOR and CLICOLOR_FORCE are respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub color: When,

    /// Nothing but ASCII characters
    #[arg(long, global = true)]
    pub ascii: bool,

    /// Columns of the output [default: COLUMNS, the terminal's, or 80]; of a picture, pixels [default: 800]
    #[arg(long, global = true, value_name = "COLUMNS")]
    pub width: Option<usize>,
}

#[derive(clap::Args)]
pub struct PlanArgs {
    /// Where it is read from
    pub a: OsString,

    /// Where it is written to; braces alone take the dimensions and the type of A; `-`: one a line on standard input
    pub b: OsString,

    /// Fill B's padding: zero, one, lowest, highest, a number, nan, or bits such as 0x7fc0 [default: what B's text
    /// says, as in pad(3,5)=zero, or nothing]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub fill: Option<String>,

    /// Let the element types differ, as `tilework convert --convert` does
    #[arg(long)]
    pub convert: bool,

    /// Names of the dimensions, such as N,C,H,W; given twice, B's dimensions stand in the order of the second, and are
    /// taken by name
    #[arg(long, value_name = "NAMES", value_parser = axes)]
    pub axes: Vec<Axes>,

    #[command(flatten)]
    pub picture: PictureArgs,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Subcommand)]
pub enum Command {
    /// Say what the layouts of a compiled program cost
    ///
    /// Reads what a compiler dumps and says where the memory goes: which buffers are mostly padding, the dimension that
    /// causes it, the copies that only change a layout, and what is there when memory is fullest.
    #[command(after_long_help = audit::AUDIT_EXAMPLES)]
    Audit(AuditArgs),

    /// Explain a shape: words, sizes, formula, pictures
    ///
    /// Says what each part of the text means, how much memory the array takes and which dimension wastes it, where
    /// element (i, j, …) is, and draws the array and its memory. Dots are padding, lines are borders of tiles.
    #[command(after_long_help = "\
Examples:
  tilework show 'f32[3,5]{1,0:T(2,2)}'
  tilework show 'bf16[64,300]{1,0:T(8,128)(2,1)}' 's32[8388608,8,4]{2,1,0:T(8,128)}'
  tilework show --json 'f32[2,3]{strides(5,1)}'
  tilework show 'bf16[4,8]{1,0:T(2,4)(2,1)}' --svg tiles.svg --png tiles.png --width 600
  tilework show 'FLOAT16 NHWC [1,64,56,56]' @samples/input.json
  tilework show < samples/shapes.txt                    # one shape a line, # begins a comment
  tilework parse --format binary 'f32[3]' > shape.pb
  tilework show --from-format binary @shape.pb          # a ShapeProto")]
    Show {
        /// Shapes or descriptors; none or `-`: one a line on standard input
        #[arg(value_name = "SHAPE")]
        shapes: Vec<OsString>,
        /// Names of the dimensions, such as N,C,H,W or tokens,heads,d
        #[arg(long, value_name = "NAMES", value_parser = axes)]
        axes: Option<Axes>,
        #[command(flatten)]
        message: MessageArgs,
        #[command(flatten)]
        picture: PictureArgs,
    },

    /// Print the offset of an element
    ///
    /// The offset is in elements, from the start of the buffer.
    #[command(after_long_help = "\
Examples:
  tilework index 'f32[3,5]{1,0:T(2,2)}' 2,3       # 17
  tilework index 'f32[3,5]{1,0:T(2,2)}' 0,0 0,1   # 0 and 1, one a line
  tilework index 'f32[]{:T(128)}' '()'            # the one element of a scalar
  seq 0 4 | sed 's/^/2,/' | tilework index 'f32[3,5]'")]
    Index {
        /// The shape
        shape: OsString,
        /// Indices, such as 2,3; none or `-`: one a line on standard input
        #[arg(value_name = "INDEX", allow_hyphen_values = true)]
        indices: Vec<OsString>,
    },

    /// Print which element stands at an offset, or why there is none
    ///
    /// A place without an element gives a line that starts with `padding` and names what allocated it: a tile, the
    /// padded dimensions, strides, or the end of the buffer.
    #[command(after_long_help = "\
Examples:
  tilework locate 'f32[3,5]{1,0:T(2,2)}' 17       # 2,3
  tilework locate 'f32[3,5]{1,0:T(2,2)}' 9        # padding: tile 1, dimension 1
  seq 0 23 | tilework locate 'f32[3,5]{1,0:T(2,2)}'")]
    Locate {
        /// The shape
        shape: OsString,
        /// Offsets in elements; none or `-`: one a line on standard input
        #[arg(value_name = "OFFSET", allow_hyphen_values = true)]
        offsets: Vec<OsString>,
    },

    /// Print the canonical text of a shape
    ///
    /// The text is what XLA prints today, with the layout. With --format it is a protobuf message of the shape, and with
    /// --from-format it is read from one.
    #[command(after_long_help = "\
Examples:
  tilework parse 'F32[3,5]{1,0:(2,2)}'                # f32[3,5]{1,0:T(2,2)}
  tilework parse 'f32[3, 5]'                          # f32[3,5]{1,0}
  tilework parse --strict-xla 'f32[2]{strides(2)}'    # refused; exit code 2
  tilework parse --format text 's32[2,3]{0,1}'        # a ShapeProto in text format
  tilework parse --format binary 'f32[3]' > shape.pb
  tilework parse --from-format binary @shape.pb       # f32[3]{0}
  tilework parse --format json --message shape-2017 's32[2,3]{0,1:pad(3,5)=zero}'")]
    Parse {
        /// Texts; none or `-`: one a line on standard input
        #[arg(value_name = "SHAPE")]
        shapes: Vec<OsString>,
        /// How the shape is written: as XLA prints it, or as a protobuf message
        #[arg(long, value_name = "FORMAT", default_value = "xla", conflicts_with = "json")]
        format: ShapeFormat,
        #[command(flatten)]
        message: MessageArgs,
    },

    /// Say a layout in other notations
    ///
    /// Prints the layout in every notation that can say it, each text on a line of its own, ready to be pasted; for the
    /// others, why they cannot. Every text is read back and compared before it is printed. With one notation at --to, the
    /// text is printed alone: exit code 0, or 1 and the reason on standard error.
    #[command(after_long_help = translate::TRANSLATE_EXAMPLES)]
    Translate(TranslateArgs),

    /// Find the layouts in any text, say what each is, and explain the first
    ///
    /// Whatever stands around them: lines of a log, HLO, MLIR with the names that it defines, what Python printed. Dumps of
    /// compilers have more to say to `tilework audit`. Standard input of any text is read so without a command.
    #[command(after_long_help = "\
Examples:
  tilework find samples/shapes.txt
  echo 'moved f32[3,5]{0,1} to tensor<4xi8>' | tilework find
  echo 'memref<3x5xf32, strided<[8, 1]>> was refused' | tilework")]
    Find {
        /// Files; none or `-`: standard input
        #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath, value_parser = named())]
        files: Vec<OsString>,
    },

    /// Say in which senses two layouts are the same, and what would move
    ///
    /// Four senses, each answered yes, no or not decided: the same function (each index has the same offset in both),
    /// the same buffer (the same function and size), a reshape-bitcast (the buffer of one, read as the other, holds the
    /// same elements in row-major order) and a transpose-bitcast (the same after some permutation of the dimensions).
    /// The exit code answers --sense: 0 yes, 1 no or not decided.
    #[command(after_long_help = "\
Examples:
  tilework compare 'f32[16,128]{1,0:T(8,128)}' 'f32[16,128]'   # the same function
  tilework compare 'f32[16,128]{1,0:T(8,128)}' 'f32[2048]' --sense reshape && echo free
  tilework compare 'f32[8,8]{1,0:T(4,4)}' 'f32[8,8]'           # not the same; exit code 1
  tilework compare 'f16[99,8,64]' 'f16[8,99,64]' --axes NHD --axes HND   # by name; exit code 1")]
    Compare {
        /// The one
        a: OsString,
        /// The other; `-`: one a line on standard input
        b: OsString,
        /// The sense that decides the exit code
        #[arg(long, value_name = "SENSE", default_value = "buffer")]
        sense: Sense,
        /// Names of the dimensions, such as N,C,H,W; given twice, B's dimensions stand in the order of the second, and are
        /// taken by name
        #[arg(long, value_name = "NAMES", value_parser = axes)]
        axes: Vec<Axes>,
        #[command(flatten)]
        picture: PictureArgs,
    },

    /// Print the loops that move an array from one layout to another
    ///
    /// Says how much moves in how many nests of loops, in runs of how many bytes, and writes the loops: at each turn, by
    /// how many elements they move in A, from where the array is read, and in B, to where it is written. Both have the
    /// same dimensions and, without --convert, element bits; no two elements of B may share a place.
    #[command(after_long_help = "\
Examples:
  tilework plan 'f32[3,5]{1,0:T(2,2)}' 'f32[3,5]'
  tilework plan 'bf16[64,300]' 'bf16[64,300]{1,0:T(8,128)(2,1)}' --fill zero
  tilework plan 'f32[8,6]{1,0:T(2,3)}' 'f32[8,6]{1,0:T(2,2)}' --json
  tilework plan 'f32[64,300]' 'bf16[64,300]{1,0:T(8,128)(2,1)}' --convert
  tilework plan 'FLOAT32 NHWC [1,3,8,8]' 'FLOAT32 NCHW [1,3,8,8]'")]
    Plan(PlanArgs),

    /// Check DirectML descriptors in JSON files against every rule
    ///
    /// Reads descriptors in DxDispatch's form: one, an array of them, or those of a model file. For each rule that is
    /// broken it prints the field, the value found, the limit and a legal value; with a binding, each term of the sum.
    /// Exit code 1 if a rule is broken, 2 if something cannot be read.
    #[command(after_long_help = "\
Examples:
  tilework check samples/model.json                 # exit code 1
  tilework check samples/input.json --offset 200704 --buffer-bytes 811800
  tilework check samples/*.json --feature-level 3_0 --json   # exit code 1
  echo '{\"DataType\":\"FLOAT16\",\"Sizes\":[5,55],\"Strides\":[9]}' | tilework check -   # exit code 1")]
    Check(CheckArgs),

    /// Say whether a DirectML descriptor can be seen otherwise without moving data
    ///
    /// Prints both descriptors and `view`, or `copy needed` and the two dimensions that forbid the view. Exit code 0 for a
    /// view, 1 for a copy.
    #[command(
        override_usage = "tilework view [OPTIONS] <DESCRIPTOR> <STEP>\n\n\
STEP: --permute, --reshape, --broadcast, --flatten or --nhwc, with its value",
        after_long_help = "\
Examples:
  tilework view 'FLOAT32 NHWC [1,3,8,8]' --reshape 1,3,64    # view
  tilework view 'FLOAT32 NHWC [1,3,8,8]' --reshape 1,192     # copy needed; exit code 1
  tilework view 'FLOAT32 [2,4,5,3]' --permute 0,3,1,2
  tilework view 'FLOAT32 [3]' --broadcast 2,3
  tilework view @samples/input.json --flatten 3          # copy needed; exit code 1
  tilework view 'FLOAT32 [2,4,5,3]' --nhwc                   # stored as NHWC, seen as NCHW"
    )]
    View {
        /// The descriptor: in words, or @FILE
        descriptor: OsString,
        #[command(flatten)]
        step: StepArgs,
    },

    /// Say which order of the dimensions would take less memory
    ///
    /// Tries every order of the dimensions with the tiles that a machine usually gives it, and ranks them by the bytes
    /// they allocate; says too which other array of the same elements would take less.
    #[command(after_long_help = suggest::SUGGEST_EXAMPLES)]
    Suggest(SuggestArgs),

    /// Say whether a Pallas kernel on a TPU may have blocks of this size
    ///
    /// Says for each dimension of the block why, or why not; what a block takes in VMEM, padded to tiles; how many blocks
    /// cover the array, and how much of them lies outside; and the nearest blocks that are legal. Exit code 0 for legal
    /// blocks, 1 for refused ones.
    #[command(after_long_help = block::BLOCK_EXAMPLES)]
    Block(BlockArgs),

    /// List the arrays in files, with layouts, sizes and padding
    ///
    /// Of safetensors, GGUF, npz and npy: the name of each array, its type, sizes and bytes, how it lies where that is not
    /// row-major, and how much of it is padding.
    #[command(after_long_help = ls::LS_EXAMPLES)]
    Ls(LsArgs),

    /// Compare the arrays in two files, by name and element by element
    ///
    /// Across formats, layouts and types: which are equal, which differ, where and by how much, and which are in one file only.
    #[command(after_long_help = diff::DIFF_EXAMPLES)]
    Diff(DiffArgs),

    /// Move arrays of files into other layouts, into other files
    ///
    /// Reads and writes safetensors, GGUF, npz, npy and raw files, larger than memory too: files are mapped, not read.
    #[command(after_long_help = convert::CONVERT_EXAMPLES)]
    Convert(ConvertArgs),

    /// Write a checkpoint for other devices
    ///
    /// From the parts that some devices have to the parts that others have, on one machine and in bounded memory.
    #[command(after_long_help = jobs::RESHARD_EXAMPLES)]
    Reshard(ReshardArgs),

    /// Write an array in other chunks
    ///
    /// Plans which chunks are read for which, in bounded memory and in one pass or two, says what that costs, and does it.
    #[command(after_long_help = jobs::RECHUNK_EXAMPLES)]
    Rechunk(RechunkArgs),

    /// Run a part of a plan that `reshard` or `rechunk` saved
    ///
    /// So that several processes or machines do it together, under whatever starts them.
    #[command(after_long_help = jobs::RUN_TASKS_EXAMPLES)]
    RunTasks(RunTasksArgs),

    /// Measure how fast this machine moves an array from one layout to another
    ///
    /// The yardstick is a copy of as many bytes: a ratio of 1 is as fast as memory is copied.
    #[command(after_long_help = bench::BENCH_EXAMPLES)]
    Bench(BenchArgs),

    /// Print a link to the page in the browser that shows a layout, or two
    ///
    /// The page draws it, explains it, and lets everybody point at it. What it shows is in the link behind the #, which no
    /// browser sends anywhere.
    #[command(after_long_help = link::LINK_EXAMPLES)]
    Link(LinkArgs),

    /// Print a completion script for a shell
    #[command(after_long_help = "\
Examples:
  tilework completions bash > tilework        # for ~/.local/share/bash-completion/completions/
  tilework completions zsh > _tilework        # for a folder in $fpath
  tilework completions fish > tilework.fish   # for ~/.config/fish/completions/
  tilework completions nushell > tilework.nu  # for `use tilework.nu *` in config.nu")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Reads the name of a file, which is not empty: a script's variable that is not set would be one.
fn named() -> impl TypedValueParser<Value = OsString> {
    PathBufValueParser::new().map(PathBuf::into_os_string)
}

#[derive(clap::Args)]
pub struct CheckArgs {
    /// Files of JSON, C or C++, or a descriptor itself; `-`: standard input
    #[arg(value_name = "FILE", required = true, value_parser = named())]
    pub files: Vec<OsString>,

    /// Bytes from the start of the buffer to the tensor
    #[arg(long, value_name = "BYTES")]
    pub offset: Option<u64>,

    /// Bytes of the buffer
    #[arg(long, value_name = "BYTES")]
    pub buffer_bytes: Option<u64>,

    /// Bytes of the bound range, SizeInBytes
    #[arg(long, value_name = "BYTES")]
    pub range_bytes: Option<u64>,

    /// The feature level, such as 5_2
    #[arg(long, value_name = "LEVEL", default_value = FeatureLevel::LATEST.name(), value_parser = feature_level)]
    pub feature_level: FeatureLevel,
}

fn feature_level(name: &str) -> Result<FeatureLevel, String> {
    FeatureLevel::from_name(name).ok_or_else(|| {
        let all: Vec<&str> = FeatureLevel::all().map(FeatureLevel::name).collect();
        format!("one of {}", all.join(", "))
    })
}

/// How a descriptor is to be seen: one of these.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct StepArgs {
    /// Dimensions in another order: dimension k is to be the k-th of these
    #[arg(long, value_name = "DIMENSIONS", value_delimiter = ',')]
    pub permute: Option<Vec<usize>>,

    /// Other sizes for as many elements, in row-major order of the index
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub reshape: Option<Vec<u32>>,

    /// Repeated to larger sizes
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub broadcast: Option<Vec<u32>>,

    /// Two dimensions: those before this one, and those from it on
    #[arg(long, value_name = "DIMENSION")]
    pub flatten: Option<usize>,

    /// Dimensions that are N, H, W, C (or N, D, H, W, C) as N, C, H, W
    #[arg(long)]
    pub nhwc: bool,
}

/// A sense in which two layouts can be the same.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sense {
    /// Each index has the same offset in both
    Function,
    /// The same function, allocated size and element bits
    Buffer,
    /// The same buffer after a reshape
    Reshape,
    /// The same buffer after a permutation and a reshape
    Transpose,
}
