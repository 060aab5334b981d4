//! The arguments of `bench`.

use std::ffi::OsString;

use tilework::Element;

use super::convert::element_type;

pub const BENCH_EXAMPLES: &str = "\
Both arrays are in memory. A copy of as many bytes as the array has elements for is timed in turn with the relayout, \
and each figure is the median. GB/s counts what is read and what is written; \
where elements are converted, the copy has half of that. Arrays must fit the memory that the \
system has available.

Examples:
  tilework bench 'f32[4096,4096]' '{0,1}'
  tilework bench 'bf16[4096,4096]' '{1,0:T(8,128)(2,1)}' --seconds 1
  tilework bench 'u8[32,3,224,224]' '{1,3,2,0}' --threads 1 --json
  tilework bench 'f32[32,64,56,56]' '{1,3,2,0}' --threads 1 --explain";

#[derive(clap::Args)]
pub struct BenchArgs {
    /// The one layout
    #[arg(value_name = "FROM")]
    pub from: OsString,

    /// The other; braces alone take the dimensions and the type of FROM
    #[arg(value_name = "TO")]
    pub to: OsString,

    /// Convert elements to TYPE, such as bf16, or to the type that TO says; without it none are
    #[arg(long, value_name = "TYPE", num_args = 0..=1, value_parser = element_type)]
    pub convert: Option<Option<Element>>,

    /// How many threads work, besides one [default: one for each processor]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// How long it is measured, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,

    /// Say what is done, step by step, and what else was tried
    #[arg(long)]
    pub explain: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let found = text.parse::<f64>().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    found.ok_or_else(|| "a number of 0 to 3600".to_owned())
}
