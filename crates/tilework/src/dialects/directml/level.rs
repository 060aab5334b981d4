//! Feature levels and constants of DirectML, as far as they say something about descriptions of tensors.

use std::fmt;

use super::data_type::DataType;

/// The most dimensions before feature level 3_0: `DML_TENSOR_DIMENSION_COUNT_MAX`.
pub const DIMENSION_COUNT_MAX: u32 = 5;
/// The most dimensions from feature level 3_0 on: `DML_TENSOR_DIMENSION_COUNT_MAX1`.
pub const DIMENSION_COUNT_MAX1: u32 = 8;
/// Every bound offset is a multiple of this: `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`.
pub const MINIMUM_BUFFER_TENSOR_ALIGNMENT: u64 = 16;
/// Alignment of a temporary buffer's offset: `DML_TEMPORARY_BUFFER_ALIGNMENT`.
pub const TEMPORARY_BUFFER_ALIGNMENT: u64 = 256;
/// Alignment of a persistent buffer's offset: `DML_PERSISTENT_BUFFER_ALIGNMENT`.
pub const PERSISTENT_BUFFER_ALIGNMENT: u64 = 256;
/// The most elements of a buffer tensor.
pub const MAX_ELEMENTS: u64 = u32::MAX as u64;
/// Direct3D 12 puts the rows of a texture in a buffer at multiples of this: `D3D12_TEXTURE_DATA_PITCH_ALIGNMENT`.
pub const TEXTURE_PITCH_ALIGNMENT: u64 = 256;

/// `DML_FEATURE_LEVEL`: what a version of DirectML can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
#[allow(missing_docs)] // each variant is its own name
#[non_exhaustive]
pub enum FeatureLevel {
    V1_0 = 0x1000,
    V2_0 = 0x2000,
    V2_1 = 0x2100,
    V3_0 = 0x3000,
    V3_1 = 0x3100,
    V4_0 = 0x4000,
    V4_1 = 0x4100,
    V5_0 = 0x5000,
    V5_1 = 0x5100,
    V5_2 = 0x5200,
    V6_0 = 0x6000,
    V6_1 = 0x6100,
    V6_2 = 0x6200,
    V6_3 = 0x6300,
    V6_4 = 0x6400,
}

use FeatureLevel as L;

/// One row a level: level, name, the first DirectML version with it.
const TABLE: [(FeatureLevel, &str, &str); 15] = [
    (L::V1_0, "1_0", "1.0"),
    (L::V2_0, "2_0", "1.1"),
    (L::V2_1, "2_1", "1.2"),
    (L::V3_0, "3_0", "1.4"),
    (L::V3_1, "3_1", "1.5"),
    (L::V4_0, "4_0", "1.6"),
    (L::V4_1, "4_1", "1.7"),
    (L::V5_0, "5_0", "1.8"),
    (L::V5_1, "5_1", "1.9"),
    (L::V5_2, "5_2", "1.10"),
    (L::V6_0, "6_0", "1.11"),
    (L::V6_1, "6_1", "1.12"),
    (L::V6_2, "6_2", "1.13"),
    (L::V6_3, "6_3", "1.15"),
    (L::V6_4, "6_4", "1.15"),
];

/// What DirectML.h puts before every name.
const PREFIX: &str = "DML_FEATURE_LEVEL_";

impl FeatureLevel {
    /// The newest level.
    pub const LATEST: FeatureLevel = FeatureLevel::V6_4;

    /// Every level, oldest first.
    pub fn all() -> impl Iterator<Item = FeatureLevel> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (FeatureLevel, &'static str, &'static str) {
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[0]) // every level has a row
    }

    /// The number in `DML_FEATURE_LEVEL`.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The name without the prefix `DML_FEATURE_LEVEL_`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The first version of DirectML with this level.
    pub fn version(self) -> &'static str {
        self.row().2
    }

    /// The level of this name: `5_2`, `5.2` or `DML_FEATURE_LEVEL_5_2`.
    ///
    /// ```
    /// use tilework::directml::FeatureLevel;
    /// assert_eq!(FeatureLevel::from_name("5.2").unwrap().number(), 0x5200);
    /// ```
    pub fn from_name(name: &str) -> Option<FeatureLevel> {
        let name = name.strip_prefix(PREFIX).unwrap_or(name).replace('.', "_");
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The fewest dimensions. Before 3_0 every operator wants 4 or more.
    pub fn min_dimension_count(self) -> u32 {
        if self < L::V3_0 { 4 } else { 1 }
    }

    /// The most dimensions that any operator takes: 5, and 8 from 3_0 on.
    pub fn max_dimension_count(self) -> u32 {
        if self < L::V3_0 { DIMENSION_COUNT_MAX } else { DIMENSION_COUNT_MAX1 }
    }

    /// The level from which on some operator takes this type.
    pub fn of_type(data_type: DataType) -> FeatureLevel {
        match data_type {
            DataType::Float64 | DataType::Int64 | DataType::Uint64 => L::V3_0,
            DataType::Uint4 | DataType::Int4 => L::V6_3,
            _ => L::V1_0,
        }
    }
}

impl fmt::Display for FeatureLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_its_two_numbers() {
        for (place, level) in FeatureLevel::all().enumerate() {
            assert_eq!(level, TABLE[place].0);
            assert_eq!(FeatureLevel::from_name(level.name()), Some(level));
            let (major, minor) = level.name().split_once('_').unwrap();
            let number = major.parse::<u32>().unwrap() << 12 | minor.parse::<u32>().unwrap() << 8;
            assert_eq!(level.number(), number);
        }
        assert!(FeatureLevel::all().is_sorted());
        assert_eq!(FeatureLevel::from_name("7_0"), None);
    }
}
