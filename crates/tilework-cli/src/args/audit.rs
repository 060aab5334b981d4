//! The arguments of `audit`.

use std::ffi::OsString;

use tilework_audit::Instead;

use super::bytes::bytes;
use super::named;
use super::target::{TargetArgs, told};

pub const AUDIT_EXAMPLES: &str = "\
A PATH is a folder, a file or `-`. In a folder, audit reads the files of a dump, and the last stage of each module. A file is \
recognised by its content: a buffer assignment, live ranges, a memory usage report, an HLO module as text or serialised \
(HloProto or HloModuleProto: *.hlo.pb), an out-of-memory message, a verbose log of oneDNN, the layers of a TensorRT engine, their profile or its build log, a trace of PyTorch's profiler, a kernel of Triton as TTGIR, a model of ONNX, a program of TTNN, MLIR, or any text with shapes in it. Files may be \
compressed by gzip.

To get a dump from JAX (XLA writes it before the program runs, so it exists even when the program runs out of memory):
  XLA_FLAGS='--xla_dump_to=dumps --xla_dump_hlo_as_text' python train.py
--xla_dump_hlo_as_proto makes a smaller one, without the names of memories. If both are there, the text is read.

Two folders, or two files of different programs, are compared: before a change and after it. More are read together.

--target gives arrays without tiles those of a machine: for a program that is not compiled yet, such as StableHLO, or a dump \
for another machine. --what-if compares the program with one in which an array has another layout. It knows sizes only: \
the compiler may need the order, and copy to get it.

--memory limits how much memory audit takes itself. A dump that needs more is refused.

Padding is counted at the peak if live ranges are known, else over all buffers. Sizes are the compiler's; audit computes \
what the layouts need as well, and reports differences.

Examples:
  tilework audit samples/dump                      # everything about every program
  tilework audit samples/dump --top 3              # the worst of each
  tilework audit before/ after/                    # what a change did
  tilework audit < samples/out_of_memory.txt       # a message that was pasted into a file
  tilework audit samples/logs/onednn.log           # what reorders cost: ONEDNN_VERBOSE=1
  tilework audit samples/logs/engine.json          # reformats: trtexec --exportLayerInfo
  tilework audit samples/logs/trace.json           # copies: torch.profiler, export_chrome_trace
  tilework audit samples/logs/matmul.ttgir         # convert_layout and bank conflicts: ~/.triton/cache
  tilework audit samples/logs/model.onnx           # Transposes that cancel or fold
  tilework audit samples/logs/program.ttnn.mlir    # to_layout, to_memory_config: tt-mlir
  tilework audit samples/dump --what-if '{0,1:T(8,128)}'
  tilework audit samples/dump --what-if 's32[300000,8]{0,1:T(8,128)}'
  tilework audit samples/program.mlir --target tenstorrent
  tilework audit samples/dump --fail-over 20%      # more is padding: exit code 1
  tilework audit samples/dump --csv > buffers.csv  # every buffer, for a spreadsheet
  tilework audit samples/dump --html > audit.html  # pictures of the memory, in a browser
  tilework audit samples/dump --json > audit.json  # all of it, for a program
  grep -A99 'Ran out of memory' samples/out_of_memory.txt | tilework audit

Exit codes: 0 done, 1 more padding than --fail-over allows, 2 a file could not be read or holds no shapes. Lines that \
could not be read are counted and listed; they change no exit code.";

#[derive(clap::Args)]
pub struct AuditArgs {
    /// Folders or files; none or `-`: standard input
    #[arg(value_name = "PATH", value_parser = named())]
    pub paths: Vec<OsString>,

    /// How many of each kind to list [default: 5; all for --csv]; 0: only the sentence that matters
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// Exit with 1 if a larger share of some program's memory is padding
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_over: Option<f64>,

    #[command(flatten)]
    pub target: TargetArgs,

    /// Another layout for one array: for the worst of this rank, or for the SHAPE before it; may be repeated
    #[arg(long, value_name = "[SHAPE]LAYOUT", conflicts_with = "csv", value_parser = instead)]
    pub what_if: Vec<Instead>,

    /// The most memory to take, such as 4GiB [default: 2GiB, or half of what a limit of the process leaves]; what would
    /// take more is refused
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,

    /// Every buffer as comma-separated values
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub csv: bool,

    /// One page for a browser: memory at the peak, buffers over time, the worst layouts, which lead to the page at
    /// TILEWORK_PAGE if that is set
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
}

/// A share of 1 from `20%` or `20`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("0% to 100%, such as 20%".to_owned()),
    }
}

fn instead(text: &str) -> Result<Instead, String> {
    Instead::parse(text).map_err(|error| told(&error, text))
}
