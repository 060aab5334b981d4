//! Names of layouts: letters for dimensions, and the order in which they lie in memory.
//!
//! Sizes always stand in one order (`NCHW`), strides say where each dimension lies, and a name such as `NHWC` says the
//! strides of a packed tensor. The way back is not unique: where C or H and W are 1, several names fit. All of them are
//! given, never one.

use smallvec::SmallVec;

use super::desc::BufferTensorDesc;
use super::strides::order_strides;
use super::text::shown;
use crate::error::{Error, Result};

/// The letters of the dimensions, in the order in which DirectML has sizes.
const LETTERS: &str = "NCDHW";
/// The letters of a filter's dimensions, in that order.
const FILTER_LETTERS: &str = "OIDHW";

/// Which names there are for tensors of each rank, by the letters of their sizes.
const NAMES: [(&str, &[&str]); 9] = [
    ("HW", &["HW", "WH"]),
    ("NC", &["NC", "CN"]),
    ("DHW", &["DHW", "WDH", "DWH", "HDW", "HWD", "WHD"]),
    ("CHW", &["CHW", "HWC"]),
    ("NCW", &["NCW", "NWC"]),
    ("NCHW", &["NCHW", "NHWC", "CHWN", "HWCN", "CNHW", "NCWH", "NWHC", "HWNC"]),
    ("OIHW", &["OIHW", "OHWI", "HWIO", "IHWO", "HWOI", "IOHW"]),
    ("NCDHW", &["NCDHW", "NDHWC", "CDHWN", "DHWCN", "CNDHW"]),
    ("OIDHW", &["OIDHW", "ODHWI", "DHWIO", "IDHWO"]),
];

/// For each letter of `order`, most major first, the dimension it is.
pub(crate) fn places(letters: &str, order: &str) -> Result<SmallVec<[usize; 8]>> {
    let mut places = SmallVec::new();
    for letter in order.bytes() {
        match letters.bytes().position(|name| name == letter) {
            Some(dim) if !places.contains(&dim) => places.push(dim),
            _ => break,
        }
    }
    let twice = (1..letters.len()).any(|dim| letters.as_bytes()[..dim].contains(&letters.as_bytes()[dim]));
    if places.len() != letters.len() || order.len() != letters.len() || twice {
        return Err(Error::new(format!("order {} of dimensions {}", shown(order), shown(letters)))
            .field("order")
            .rule("an order names every dimension exactly once")
            .accepts("the same letters in any order, each once"));
    }
    Ok(places)
}

/// The names of the sizes of a tensor that lies in this order: `NCHW` for `NHWC`, `OIHW` for `HWIO`.
///
/// `channels_last`, `interleaved` and `channels_first` are read as well, with the rank they are said of.
///
/// # Errors
/// Letters that are not N, C, D, H, W or, for filters, O, I, D, H, W, each at most once.
pub fn letters_of(order: &str) -> Result<String> {
    for letters in [LETTERS, FILTER_LETTERS] {
        let found: String = letters.chars().filter(|&letter| order.contains(letter)).collect();
        if !order.is_empty() && found.len() == order.len() {
            return Ok(found);
        }
    }
    Err(Error::new(format!("layout {}", shown(order)))
        .field("order")
        .rule("a layout names dimensions by the letters N, C, D, H, W, or a filter's by O, I, D, H, W, each at most once")
        .accepts("NCHW, NHWC, NCDHW, NDHWC, CHWN, HWIO, …"))
}

/// The letters of a synonym of a layout, for a tensor of this rank.
pub(crate) fn synonym(word: &str, rank: usize) -> Option<&'static str> {
    const LAST: [&str; 3] = ["NWC", "NHWC", "NDHWC"];
    const FIRST: [&str; 3] = ["NCW", "NCHW", "NCDHW"];
    let table = match word.to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
        "channels_last" | "channel_last" | "interleaved" | "interleaved_channel" => LAST,
        "channels_first" | "channel_first" | "planar" => FIRST,
        _ => return None,
    };
    table.get(rank.checked_sub(3)?).copied()
}

/// The names of the axes of a tensor of lower rank in TensorFlow's formats: names are dropped from the left.
///
/// ```
/// use tilework::directml::axes_for_rank;
/// assert_eq!(axes_for_rank("NHWC", 2)?, "WC");
/// assert_eq!(axes_for_rank("NCHW", 5)?, "NCDHW");
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A format other than `NHWC` and `NCHW`, or a rank outside 1 to 5.
pub fn axes_for_rank(format: &str, rank: usize) -> Result<&'static str> {
    let (four, five) = match format {
        "NHWC" => ("NHWC", "NDHWC"),
        "NCHW" => ("NCHW", "NCDHW"),
        _ => return Err(Error::new(format!("format {format:?}")).field("format").accepts("NHWC or NCHW")),
    };
    match rank {
        1..=4 => Ok(&four[4 - rank..]),
        5 => Ok(five),
        _ => Err(Error::new(format!("rank {rank}")).field("rank").accepts("1 to 5")),
    }
}

impl BufferTensorDesc {
    /// Whether the tensor, its sizes named by `letters`, is packed in this order. Strides of dimensions of size 1 do not
    /// matter.
    ///
    /// # Errors
    /// Those of [`order_strides`].
    pub fn fits_order(&self, letters: &str, order: &str) -> Result<bool> {
        let places = places(letters, order)?;
        if places.len() != self.rank() {
            return order_strides(self.sizes(), letters, order).map(|_| false);
        }
        let strides = self.effective_strides();
        let mut running = 1_u64;
        for &dim in places.iter().rev() {
            let size = u64::from(self.sizes()[dim]);
            if size > 1 && strides[dim] != running {
                return Ok(false);
            }
            running = running.saturating_mul(size);
        }
        Ok(true)
    }

    /// Every name of a layout that fits the tensor: packed, in that order. None for a tensor that is not packed.
    ///
    /// ```
    /// use tilework::directml::Desc;
    /// let names = |text: &str| Ok::<_, tilework::Error>(Desc::parse(text)?.build()?.layout_names());
    /// assert_eq!(names("FLOAT32 [1,1,3,5] strides [15,1,5,1]")?[..2], ["NCHW", "NHWC"]);
    /// assert_eq!(names("FLOAT32 [2,3] strides [1,2]")?, ["WH", "CN"]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn layout_names(&self) -> Vec<&'static str> {
        let tables = NAMES.iter().filter(|(letters, _)| letters.len() == self.rank());
        let fits = |letters: &str, name: &str| self.fits_order(letters, name).unwrap_or(false);
        tables
            .flat_map(|(letters, names)| names.iter().filter(move |name| fits(letters, name)))
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_a_layout_stands_for_letters() {
        assert_eq!(letters_of("NHWC").unwrap(), "NCHW");
        assert_eq!(letters_of("WDH").unwrap(), "DHW");
        assert_eq!(letters_of("HWIO").unwrap(), "OIHW");
        assert_eq!(synonym("channels_last", 4), Some("NHWC"));
        assert_eq!(synonym("Interleaved-Channel", 5), Some("NDHWC"));
        assert_eq!(synonym("planar", 2), None);
        for bad in ["", "NN", "NCHWO", "nhwc", "NHWé"] {
            assert!(letters_of(bad).is_err(), "{bad}");
        }
    }
}
