//! Which machine's layouts are meant.

use clap::ValueHint;
use tilework::xla::Tile;
use tilework::{Error, Result};
use tilework_audit::{Target, tiles_from_text};

/// A machine, or tiles of one's own.
#[derive(clap::Args)]
pub struct TargetArgs {
    /// The machine whose usual tiles are tried [default: tpu]
    #[arg(long, value_name = "TARGET", value_parser = target, value_hint = ValueHint::Other)]
    target: Option<Target>,

    /// Tiles to try instead, such as 'T(8,128)(2,1)'; may be repeated
    #[arg(long, value_name = "TILES", conflicts_with = "target", value_parser = tiles, value_hint = ValueHint::Other)]
    tile: Vec<Tiles>,
}

impl TargetArgs {
    /// What was asked for, if anything was.
    pub fn chosen(&self) -> Result<Option<Target>> {
        match self.tile.is_empty() {
            true => Ok(self.target.clone()),
            false => Target::of_tiles(self.tile.iter().map(|tiles| tiles.0.clone())).map(Some),
        }
    }
}

/// The tiles of one `--tile`.
#[derive(Clone)]
struct Tiles(Vec<Tile>);

fn target(name: &str) -> std::result::Result<Target, String> {
    Target::from_name(name).map_err(|error| {
        let accepted = error.accepted().unwrap_or_default();
        let meant = error.broken_rule().map(|rule| format!("{rule} ")).unwrap_or_default();
        format!("{meant}accepted: {accepted} (--tile)")
    })
}

fn tiles(text: &str) -> std::result::Result<Tiles, String> {
    tiles_from_text(text).map(Tiles).map_err(|error| told(&error, text))
}

/// A message for clap, which knows no places in a text.
pub fn told(error: &Error, text: &str) -> String {
    error.report(text).to_string()
}
