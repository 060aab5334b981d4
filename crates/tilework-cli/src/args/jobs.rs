//! The arguments of `reshard`, `rechunk` and `run-tasks`.

use std::path::PathBuf;

pub const RESHARD_EXAMPLES: &str = "\
SRC is a safetensors file, an index of shards, any other file of arrays, a folder of files that have parts of tensors, or a \
checkpoint of JAX (Orbax). DST is a new folder with a file for each device, which has the parts of that device and says where they \
begin as PyTorch's distributed checkpoints do (DCP_SHARDING_INFO): what reads those reads these.

With --orbax, DST is a checkpoint that Orbax restores: each tensor is a Zarr array whose chunks are the parts, and dots in its \
name are between the keys of the tree.

A SPEC is a sharding as JAX or XLA write it: P('x', None, ('y', 'z')) with a mesh, {devices=[2,4]<=[8]}, {replicated}. \
PATTERN=SPEC is for the tensors of these names, and the last that matches counts. A SPEC alone is tried on each tensor; one \
that it does not fit is replicated, and the answer names it. Where the parts do not divide a size, a part is rounded up as \
XLA does it, and the last devices have less, or nothing; JAX refuses such arrays.

A run that is killed leaves .DST.tilework-unfinished, and the same command goes on there: files whose checksums are right \
stay. DST has its name when all of it is there. A SRC that has changed meanwhile is refused.

SRC may be in a bucket, s3://BUCKET/PATH, or on a web server, https://HOST/PATH: tensors of files are fetched into files without names \
beside DST, or in TMPDIR. DST may be in a bucket as well: files are written by way of TMPDIR, and an object .tilework-unfinished goes \
when all of it is there. `tilework rechunk --help` says where credentials come from.

Examples:
  tilework reshard samples/model.safetensors parts/ --mesh x=2,y=4 --spec \"P('x', 'y')\"
  tilework reshard samples/model.safetensors parts/ --mesh x=4 --spec \"P('x')\" --dry-run
  tilework reshard parts/ two/ --spec '{devices=[2,1]<=[2]}'
  tilework reshard parts/ whole/ --spec '{maximal device=0}'
  tilework reshard samples/model.safetensors jax/ --orbax --mesh x=2,y=4 --spec \"P('x', 'y')\"";

pub const RECHUNK_EXAMPLES: &str = "\
SRC is a Zarr array, an npy file, or another file of one array. Of a file, a group or a checkpoint of JAX (Orbax) with several \
the one is read that --only names as `tilework ls` does. DST is a new Zarr array. `tilework convert SRC DST --to 'chunks (…)'` cuts all \
arrays of a group whose number of dimensions fits, and keeps the others, so xarray opens DST as it opened SRC.

The plan is a list of tasks: each writes chunks (or shards) that nobody else writes, from the source chunks that have their \
elements, within the memory. Where source chunks would be read too often, an array in other chunks is written between, and \
read instead. What is better is decided by the time that it takes by the numbers that --dry-run prints.

A run that is killed leaves .DST.tilework-unfinished, and the same command goes on there: chunks whose checksums are right \
stay. DST has its name when all of it is there. A SRC that has changed meanwhile is refused.

SRC and DST may be addresses, s3://BUCKET/PATH, and SRC https://HOST/PATH as well; an array of a file that a server has is fetched \
into a file without a name beside DST, or in TMPDIR. Credentials are taken from AWS_ACCESS_KEY_ID and \
AWS_SECRET_ACCESS_KEY or from a profile (AWS_PROFILE), the server from AWS_ENDPOINT_URL; AWS_SKIP_SIGNATURE=true reads public \
buckets. In a bucket zarr.json comes last, and DST is no store before.

Examples:
  tilework rechunk samples/weights.npy weights.zarr --chunks 16,100
  tilework rechunk weights.zarr columns.zarr --chunks 64,30 --to '{0,1}' --compress zstd:3
  tilework rechunk weights.zarr slabs.zarr --chunks -1,10
  tilework rechunk weights.zarr tiles.zarr --chunks 64,300 --to '{1,0:T(8,100)}'
  tilework rechunk weights.zarr sharded.zarr --chunks 8,10 --shards 64,100 --memory 256MiB --dry-run
  tilework rechunk samples/model.safetensors head.zarr --only head.bias --chunks 100
  tilework rechunk weights.zarr more.zarr --chunks 8,300 --save-plan plan.json
  tilework run-tasks plan.json --part 1/2";

pub const RUN_TASKS_EXAMPLES: &str = "\
A plan has passes, and a pass has tasks. --part 3/64 runs the third of 64 parts of a pass, in any order and on any machine \
that sees the same files; a part that is run twice writes the same. The next pass begins when all parts of the one before are \
done, and --finish gives the result its name when all of it is there. A source that has changed since the plan was made is refused.

Without --part and --finish, all of it is done.

Examples:
  tilework rechunk samples/weights.npy again.zarr --chunks 16,100 --save-plan again.json
  tilework run-tasks again.json --part 1/2
  tilework run-tasks again.json --part 2/2
  tilework run-tasks again.json --finish
  sbatch --array=1-64 --wrap 'tilework run-tasks again.json --part $SLURM_ARRAY_TASK_ID/64'";

/// How a job is run.
#[derive(Clone, clap::Args)]
pub struct HowArgs {
    /// Hold about as much in memory at a time, such as 1GiB [default: half of what is available]
    #[arg(long, value_name = "BYTES", value_parser = super::bytes::bytes)]
    pub memory: Option<u64>,

    /// How many threads work [default: one for each processor]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Give the tasks to the workers of this Dask scheduler, such as tcp://host:8786, each with --memory [default: half of what a
    /// thread of a worker may have]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "threads")]
    pub scheduler: Option<String>,
}

/// What is done with a plan.
#[derive(clap::Args)]
pub struct PlanOnlyArgs {
    /// Say what would be done and what it costs, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Write the plan to this file for `tilework run-tasks`, and do nothing else
    #[arg(long, value_name = "FILE")]
    pub save_plan: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct ReshardArgs {
    /// The checkpoint to read
    #[arg(value_name = "SRC")]
    pub from: PathBuf,

    /// The folder to write
    #[arg(value_name = "DST")]
    pub to: PathBuf,

    /// The axes of the mesh that specs of JAX name, such as x=2,y=4
    #[arg(long, value_name = "AXES")]
    pub mesh: Option<String>,

    /// How tensors are cut: SPEC, or PATTERN=SPEC for those of these names; may be given several times
    #[arg(long = "spec", value_name = "SPEC")]
    pub specs: Vec<String>,

    /// Write tensors of these names only: * is any number of characters, ? one; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,

    /// Write a part that several devices have only into the file of the first of them
    #[arg(long)]
    pub once: bool,

    /// Write a checkpoint for JAX, which Orbax restores: a Zarr array for each tensor, whose chunks are the parts
    #[arg(long)]
    pub orbax: bool,

    /// What compresses the chunks of --orbax: none, zstd:3, gzip:6 [default: none; Orbax itself writes zstd]
    #[arg(long, value_name = "CODEC")]
    pub compress: Option<String>,

    #[command(flatten)]
    pub how: HowArgs,

    #[command(flatten)]
    pub plan: PlanOnlyArgs,
}

#[derive(clap::Args)]
pub struct RechunkArgs {
    /// The array to read
    #[arg(value_name = "SRC")]
    pub from: PathBuf,

    /// The Zarr array to write
    #[arg(value_name = "DST")]
    pub to: PathBuf,

    /// The array of SRC to read, where it has several: its name, or a pattern of it alone
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,

    /// The sizes of a chunk; -1 is all of the dimension
    #[arg(long, value_name = "SIZES", value_delimiter = ',', required = true, allow_hyphen_values = true, value_parser = size)]
    pub chunks: Vec<u64>,

    /// The sizes of a shard of whole chunks; -1 is all of the dimension
    #[arg(long, value_name = "SIZES", value_delimiter = ',', allow_hyphen_values = true, value_parser = size)]
    pub shards: Option<Vec<u64>>,

    /// How a chunk lies: an order of dimensions such as '{0,1}', or tiles such as '{1,0:T(8,128)}', which become the chunks of a shard
    /// of --chunks [default: the order of SRC]
    #[arg(long = "to", value_name = "LAYOUT")]
    pub order: Option<String>,

    /// What compresses a chunk: none, zstd:3, gzip:6 [default: as in SRC]
    #[arg(long, value_name = "CODEC")]
    pub compress: Option<String>,

    /// Say what it costs where as many tasks run at a time, on all machines together [default: --threads]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub workers: Option<u64>,

    #[command(flatten)]
    pub how: HowArgs,

    #[command(flatten)]
    pub plan: PlanOnlyArgs,
}

#[derive(clap::Args)]
pub struct RunTasksArgs {
    /// The plan, as --save-plan wrote it
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,

    /// Run one part of as many, such as 3/64
    #[arg(long, value_name = "PART", value_parser = part, conflicts_with = "scheduler")]
    pub part: Option<(u64, u64)>,

    /// The pass whose part is run, counted from 1 [default: 1]
    #[arg(long, value_name = "NUMBER", requires = "part", value_parser = clap::value_parser!(u64).range(1..))]
    pub pass: Option<u64>,

    /// Check that all is there, and give the result its name
    #[arg(long, conflicts_with_all = ["part", "scheduler"])]
    pub finish: bool,

    #[command(flatten)]
    pub how: HowArgs,
}

/// Reads a size of a chunk.
fn size(text: &str) -> Result<u64, String> {
    match text {
        "-1" => Ok(u64::MAX), // `Rechunk::WHOLE`, which a build without stores lacks
        _ => text
            .parse()
            .map_err(|_| "a size, or -1 for all of the dimension, as in --chunks -1,10,10".to_owned()),
    }
}

/// Reads `3/64`.
fn part(text: &str) -> Result<(u64, u64), String> {
    let numbers =
        text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    numbers
        .filter(|(part, parts)| (1..=*parts).contains(part))
        .ok_or_else(|| "a part such as 3/64, from 1/64 to 64/64".to_owned())
}
