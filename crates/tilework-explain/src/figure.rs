//! Figures with the text of what they show and its key numbers.

use tilework::dialect::Described;
use tilework::{Layout, Plan, Result};
use tilework_picture::figure::{self, Options};

use crate::size::{self, Sizes};

/// The most causes of padding that stand in a caption.
const CAUSES: usize = 4;

/// The figure of what a notation says, as SVG, below its text, its sizes and the causes of padding. The title, the caption and
/// the names that the options give go before.
///
/// ```
/// use tilework::dialect;
/// use tilework_explain::{FigureOptions, figure};
/// let said = dialect::read_one("f32[3,5]{1,0:T(2,2)}")?;
/// let svg = figure(&*said, &FigureOptions::default())?;
/// assert!(svg.contains(">f32[3,5]{1,0:T(2,2)}</text>"));
/// assert!(svg.contains(">15 elements, 60 B; 24 places, 96 B, 1.60 × the elements</text>"));
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// What is no single array, or has no layout.
pub fn figure(said: &dyn Described, options: &Options) -> Result<String> {
    let layout = said.layout()?;
    let mut options = options.clone();
    if options.title.is_empty() {
        options.title = said.to_string();
    }
    if let (true, Some(axes)) = (options.names.is_empty(), said.axes()) {
        options.names = axes.names().to_vec();
    }
    Ok(figure_of_layout(&layout, &options))
}

/// The same of a layout that no text says.
pub fn figure_of_layout(layout: &Layout, options: &Options) -> String {
    let mut options = options.clone();
    if options.caption.is_empty() {
        options.caption = caption(layout);
    }
    figure::of_layout(layout, &options)
}

/// How much a layout takes, and why it takes more than its elements.
fn caption(layout: &Layout) -> Vec<String> {
    let sizes = Sizes::new(layout);
    let counted = |number: u64, noun: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{number} {noun}{plural}")
    };
    let mut first = format!("{}, {}", counted(layout.len(), "element"), size::bytes(layout.element_bytes()));
    if sizes.padding == Some(0) && layout.size() == layout.len() {
        first.push_str("; no padding");
    } else {
        let bytes = size::bytes(layout.bytes().into());
        first.push_str(&format!("; {}, {bytes}", counted(layout.size(), "place")));
        if !layout.is_empty() && layout.size() != layout.len() {
            let times = size::times(layout.len().into(), layout.size().into());
            first.push_str(&format!(", {times} × the elements"));
        }
    }
    let mut lines = vec![first];
    // What overlaps does not pad.
    let causes = if sizes.padding.is_some() { &sizes.growths[..] } else { &[] };
    lines.extend(causes.iter().take(CAUSES).map(|growth| format!("padding: {}", size::cause(growth))));
    if causes.len() > CAUSES {
        lines.push("padding: …".to_owned());
    }
    lines
}

/// The figure of two layouts: what stays where it is and what moves.
pub fn figure_of_two(layouts: [&Layout; 2], texts: [&str; 2], options: &Options) -> String {
    let mut options = options.clone();
    if options.title.is_empty() {
        options.title = format!("{} and {}", texts[0], texts[1]);
    }
    figure::of_two(layouts, texts, &options)
}

/// The figure of a plan: its nests of loops and its runs.
pub fn figure_of_plan(plan: &Plan, texts: [&str; 2], options: &Options) -> String {
    let mut options = options.clone();
    if options.title.is_empty() {
        options.title = format!("{} → {}", texts[0], texts[1]);
    }
    figure::of_plan(plan, texts, &options)
}
