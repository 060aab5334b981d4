//! `link`: the address of the page in the browser.

use std::ffi::OsString;

pub const LINK_EXAMPLES: &str = "\
Examples:
  tilework link 'bf16[4,8]{1,0:T(2,4)(2,1)}'       # tilework.html#1l=bf16~4,8$;1,0:T(2,4)(2,1)@
  tilework link 'f32[4,6]{1,0:T(2,3)}' '{0,1}'     # two layouts, and what moves
  tilework link 'f32[3,5]{1,0:T(2,2)}' --at 17 --base https://example.org/";

#[derive(clap::Args)]
pub struct LinkArgs {
    /// A layout in any notation
    #[arg(value_name = "SHAPE")]
    pub shape: OsString,

    /// Another, to be compared with it
    #[arg(value_name = "OTHER")]
    pub other: Option<OsString>,

    /// The offset that the page points at
    #[arg(long, value_name = "OFFSET", conflicts_with = "other")]
    pub at: Option<u64>,

    /// Where the page is [default: TILEWORK_PAGE, or tilework.html]
    #[arg(long, value_name = "ADDRESS")]
    pub base: Option<String>,
}
