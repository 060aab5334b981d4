//! Options of the commands that draw pictures.

use std::ffi::OsString;

use clap::{ArgGroup, ValueEnum, ValueHint};
use tilework_explain::{FigureOptions, FigureView};

use super::named;

/// Where a picture goes, and how it looks.
#[derive(clap::Args)]
#[command(next_help_heading = "Pictures", group = ArgGroup::new("picture").args(["svg", "png"]).multiple(true))]
pub struct PictureArgs {
    /// Write a picture as SVG; `-`: standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json", value_hint = ValueHint::FilePath, value_parser = named())]
    pub svg: Option<OsString>,

    /// Write a picture as PNG; `-`: standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json", value_hint = ValueHint::FilePath, value_parser = named())]
    pub png: Option<OsString>,

    /// Light, dark, or as whoever looks at the SVG prefers [default: auto; light in a PNG]
    #[arg(long, value_name = "THEME", value_enum, requires = "picture", hide_possible_values = false)]
    theme: Option<Theme>,

    /// Pixels of the PNG for each of the SVG [default: 2]
    #[arg(long, value_name = "TIMES", value_parser = scale, requires = "png")]
    pub scale: Option<f32>,

    /// What is drawn [default: array, memory, and what else suits the layout]
    #[arg(
        long,
        value_name = "VIEWS",
        value_enum,
        value_delimiter = ',',
        requires = "picture",
        hide_possible_values = false
    )]
    views: Vec<View>,

    /// Of more than two dimensions, the slice that is drawn, such as 0,:,:,3; the dimensions with `:` are shown
    #[arg(long, value_name = "SLICE", requires = "picture", value_parser = slice)]
    slice: Option<Slice>,
}

/// A colour scheme.
#[derive(Clone, Copy, ValueEnum)]
enum Theme {
    /// Dark ink on white
    Light,
    /// Light ink on black
    Dark,
    /// As one prefers
    Auto,
}

/// A part of a picture.
#[derive(Clone, Copy, ValueEnum)]
enum View {
    /// The array with the offset of each element
    Array,
    /// The memory with the element at each place
    Memory,
    /// The bits of elements that are smaller than a byte
    Bits,
    /// The banks of a GPU's shared memory, and conflicts
    Banks,
    /// The first vector register of a TPU
    Registers,
}

/// An index in each dimension; none where it is open.
#[derive(Clone)]
struct Slice(Vec<Option<u64>>);

impl PictureArgs {
    /// Whether a picture was asked for.
    pub fn wanted(&self) -> bool {
        self.svg.is_some() || self.png.is_some()
    }

    /// What was asked for; `width` is that of the picture.
    pub fn options(&self, width: Option<usize>) -> FigureOptions {
        let mut options = FigureOptions::default();
        if let Some(width) = width {
            options.width = u32::try_from(width).unwrap_or(u32::MAX);
        }
        options.theme = match self.theme {
            Some(Theme::Light) => tilework_explain::Theme::Light,
            Some(Theme::Dark) => tilework_explain::Theme::Dark,
            Some(Theme::Auto) | None => tilework_explain::Theme::Auto,
        };
        let view = |view: &View| match view {
            View::Array => FigureView::Array,
            View::Memory => FigureView::Memory,
            View::Bits => FigureView::Bits,
            View::Banks => FigureView::Banks,
            View::Registers => FigureView::Registers,
        };
        options.views = self.views.iter().map(view).collect();
        options.slice = self.slice.as_ref().map(|slice| slice.0.clone()).unwrap_or_default();
        options
    }
}

fn scale(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(scale) if (0.1..=16.0).contains(&scale) => Ok(scale),
        _ => Err("0.1 to 16, such as 2".to_owned()),
    }
}

fn slice(text: &str) -> Result<Slice, String> {
    let part = |part: &str| match part.trim() {
        ":" => Some(None),
        number => number.parse::<u64>().ok().map(Some),
    };
    let parts: Option<Vec<Option<u64>>> = text.split(',').map(part).collect();
    parts.map(Slice).ok_or_else(|| "a number or `:` for each dimension, such as 0,:,:".to_owned())
}
