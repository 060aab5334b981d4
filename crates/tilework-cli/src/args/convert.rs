//! The arguments of `convert`.

use std::ffi::OsString;

use tilework::Element;

use super::named;

pub const CONVERT_EXAMPLES: &str = "\
A LAYOUT is a shape, a descriptor, or what of a shape says its layout alone, where the dimensions and the type are those of \
the input: '{0,1}' or '{1,0:T(8,128)}', tiles such as 'T(8,128)(2,1)', row-major or column-major.

A file is an npy file if it begins like one, and will be one if its name ends in .npy; all others are raw. An npy file \
holds the same array, in C or Fortran order, where that says --to; if --to is row-major in another order of the \
dimensions, it holds an array with the dimensions in that order; and if --to has tiles or padding, it holds the flat \
buffer, with all its places in one dimension.

OUT has its name when it is complete, and until then the old file keeps it: a run that is stopped leaves no half of a \
file. On file systems that make no files without a name, a run that is killed leaves .tilework-... in the folder, and the \
next run there removes it.

An existing file is replaced, and may be IN itself. The new one gets its owner, group, mode and POSIX access control list. \
Where you may not set these, the new file opens to nobody who could not open the old one. Set-user-id, set-group-id and \
extended attributes are not kept. If OUT is a link, the file it points to is replaced; a link to nothing is an error.

IN is mapped, so leave it alone until the end. If another program cuts it short, the run fails and OUT keeps its old \
content (outside Linux, the run ends with a bus error); if another program rewrites it, OUT gets some of both.

Padding is 0 in a new file, unless --fill or the layout's pad(..)=value says otherwise. Elements are moved as they are, \
unless --convert makes another type of them, rounded to the nearest value; what is too large becomes infinity where the \
type has one. Bytes are stored as they are, the least significant first.

Files that hold many arrays by name are converted whole, or as far as --only chooses: safetensors, an index of shards, GGUF, \
npz, a Zarr store, a checkpoint of JAX (Orbax), or a folder. What OUT is written in is said by its name (.safetensors, .npz, .gguf, .npy, .zarr), or it is a folder: OUT/, with \
shards of safetensors and their index, or npy files with --format npy. --to is tried on each array; one that it does not fit \
stays as it is, and the answer names it. For quantised blocks of GGUF --to may be the name of mixed rows, q4_0_8x8, or of the \
type alone to take them apart.

A format that has no word for a layout gets the places of the array as a list, padding among them, and the layout as text in \
its metadata, under tilework.layout.NAME (npz: in the comment of the member; a folder of npy files: in tilework.json). Tilework \
reads it back as the array. With --transposed an array that only has its dimensions in another order is stored with its sizes \
in that order, which every reader takes for the transposed array.

A Zarr store is a folder of arrays in chunks. Its layouts are 'chunks (64, 64)', 'shards (256, 256) chunks (64, 64)' and an order \
of dimensions; any other is stored as a list, with a note in the attributes of the array. Without --to an array is cut along its most \
major dimensions into chunks of up to 16 MiB; arrays of a store keep their chunks in a new store, and become row-major elsewhere.

IN may be in a bucket, s3://BUCKET/PATH, or on a web server, https://HOST/PATH: of a file the arrays that are converted are fetched, into \
a file without a name beside OUT. OUT may be in a bucket as well: a Zarr store, a file, or a folder of them, s3://BUCKET/OUT/; files \
are written by way of TMPDIR, one at a time. `tilework rechunk --help` says where credentials come from.

A folder is complete or absent, too. If a run is killed, .OUT.tilework-unfinished is left beside it, and the same command goes on \
there: it keeps the files whose checksums are right. A folder that exists is not replaced, unless it is empty. In a bucket the index \
of shards or zarr.json comes last, and an object .tilework-unfinished goes then.

Examples:
  tilework convert samples/model.safetensors tiled.safetensors --to 'T(8,128)(2,1)' --convert bf16 --check
  tilework convert tiled.safetensors plain.npz --to row-major --rename 'layers.*=blk.*'
  tilework convert samples/model.safetensors shards/ --shard-size 8kB --only '*.weight'
  tilework convert shards/ model.gguf
  tilework convert samples/weights.npy w.zarr --to 'chunks (16, 64)'
  tilework convert w.zarr w.safetensors
  tilework convert samples/model.safetensors bias.npy --only head.bias
  tilework convert samples/weights.npy w.bin --to '{1,0:T(8,128)(2,1)}' --convert bf16
  tilework convert w.bin w.npy --from 'bf16[64,300]{1,0:T(8,128)(2,1)}'
  tilework convert w.npy again.bin --dtype bf16 --to '{1,0:T(8,128)(2,1)}'
  tilework convert samples/weights.npy columns.npy --to '{0,1}' --check
  tilework convert samples/weights.npy w.raw --to '{1,0:T(8,128)}' --fill nan
  tilework convert w.raw rows.raw --from 'f32[64,300]{1,0:T(8,128)}' --to 'f32[64,300]'
  cat samples/weights.npy | tilework convert - - --skip 128 --from 'f32[64,300]' > out.raw";

/// What stands above the options for files of many arrays.
const MANY: &str = "Options for files that hold many arrays";

/// A format of many arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FileFormat {
    /// One file, or shards with an index in a folder
    Safetensors,
    /// A zip file of npy files, not compressed
    Npz,
    /// A file for ggml and llama.cpp
    Gguf,
    /// One array, or a folder with a file for each
    Npy,
    /// A folder of arrays in chunks
    Zarr,
}

#[derive(clap::Args)]
pub struct ConvertArgs {
    /// The file to read; `-`: standard input
    #[arg(value_name = "IN", value_parser = named())]
    pub input: OsString,

    /// The file to write; `-`: standard output
    #[arg(value_name = "OUT", value_parser = named())]
    pub output: OsString,

    /// How IN lies [default: what an npy file says of itself]
    #[arg(long, value_name = "LAYOUT")]
    pub from: Option<OsString>,

    /// How OUT is to lie [default: row-major]
    #[arg(long, value_name = "LAYOUT")]
    pub to: Option<OsString>,

    /// What the bytes of an npy file are, if it does not know it, such as bf16 for <V2
    #[arg(long, value_name = "TYPE", value_parser = element_type)]
    pub dtype: Option<Element>,

    /// What padding holds: zero, one, lowest, highest, a number, nan, or bits such as 0x7fc0 [default:
    /// what the text of --to says, as in pad(3,5)=one, or 0]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub fill: Option<String>,

    /// Convert elements to TYPE, such as bf16, or to the type that --to says; without it none are
    #[arg(long, value_name = "TYPE", num_args = 0..=1, value_parser = element_type)]
    pub convert: Option<Option<Element>>,

    /// Bytes before the array in IN, which then is a raw file
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub skip: Option<u64>,

    /// Let bytes stand behind the array in IN
    #[arg(long)]
    pub trailing: bool,

    /// Convert arrays of these names only: * is any number of characters, ? one, '!*.bias' all others; may be given several times
    #[arg(long, value_name = "PATTERN", help_heading = MANY)]
    pub only: Vec<String>,

    /// Change names: OLD=NEW, with * in both for what stays; the first that matches counts
    #[arg(long, value_name = "OLD=NEW", help_heading = MANY)]
    pub rename: Vec<String>,

    /// Make arrays larger: PATTERN=SIZES, such as 'embed.*=32064,*', where * is the size as it is; new elements hold what
    /// padding holds
    #[arg(long, value_name = "PATTERN=SIZES", help_heading = MANY)]
    pub pad: Vec<String>,

    /// Store an array whose layout is only an order of its dimensions with its sizes in that order, and not as a list
    #[arg(long, help_heading = MANY)]
    pub transposed: bool,

    /// What OUT is written in [default: what its name says; of a folder safetensors]
    #[arg(long, value_name = "FORMAT", help_heading = MANY)]
    pub format: Option<FileFormat>,

    /// Write a folder of files of up to as many bytes each, such as 5GB or 4GiB [default: 5GB]
    #[arg(long, value_name = "BYTES", value_parser = super::bytes::file_bytes, help_heading = MANY)]
    pub shard_size: Option<u64>,

    /// What compresses the chunks of a Zarr store: zstd, gzip, with a level as in zstd:3, or none [default: none]
    #[arg(long, value_name = "CODEC", help_heading = MANY)]
    pub compress: Option<String>,

    /// Hold about as much of the files in memory at a time, such as 1GiB [default: as much as the system likes]
    #[arg(long, value_name = "BYTES", value_parser = super::bytes::bytes, help_heading = MANY)]
    pub memory: Option<u64>,

    /// How many threads work [default: one for each processor]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Read OUT again and compare every element and all padding, before it gets its name
    #[arg(long)]
    pub check: bool,
}

/// Reads the name of an element type, which may be any system's.
pub fn element_type(name: &str) -> Result<Element, String> {
    Element::from_any_name(name).ok_or_else(|| match Element::nearest(name) {
        Some(meant) => format!("an element type; did you mean {meant}?"),
        None => "an element type such as f32, bf16, f8e4m3fn, s8 or u4".to_owned(),
    })
}
