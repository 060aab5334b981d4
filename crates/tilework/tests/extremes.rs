//! What nobody writes on purpose but a text, a message or a program can hold: deep tiles, no elements, huge strides.

use std::time::{Duration, Instant};

use tilework::{Layout, Level, Padding, Place, Result};

/// Runs `work` and fails if it took as long as a person would wait.
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < Duration::from_secs(10), "{what} took {:?}", start.elapsed());
    result
}

/// One dimension of a million, in tiles that do not divide each other: 1000, 999, 998, …
fn uneven(tiles: u64) -> Result<Layout> {
    let mut builder = Layout::builder(&[1_000_000], 32)?;
    for less in 0..tiles {
        builder = builder.tile(&[Some(1000 - less)])?;
    }
    builder.build()
}

#[test]
fn the_formula_of_forty_uneven_tiles_is_short_and_names_its_quotients() -> Result<()> {
    let layout = uneven(36)?;
    let formula = soon("a formula", || layout.canon().to_string());
    assert!(formula.len() < 100_000, "{} bytes", formula.len());
    assert!(formula.contains(", where q1 = ⌊("), "{formula}");
    assert!(layout.to_strides().unwrap_err().to_string().len() < 1000);
    assert_eq!(uneven(3)?.canon().to_string().find("where"), None);
    Ok(())
}

#[test]
fn sixty_four_stars_are_walked_once_each() -> Result<()> {
    let mut builder = Layout::builder(&[4, 4], 32)?;
    for _ in 0..64 {
        builder = builder.tile(&[None, Some(3)])?;
    }
    let layout = builder.build()?;
    let growths = soon("growths", || layout.growths());
    assert_eq!((growths.len(), &growths[0].cause.dims[..]), (1, &[0, 1][..]));
    assert_eq!(
        soon("locate", || layout.locate(17))?,
        Place::Padding(Padding { level: Level::Tile(1), dims: vec![0, 1] })
    );
    Ok(())
}

#[test]
fn order_and_padding_after_a_tile_are_refused() -> Result<()> {
    let tiled = Layout::builder(&[4, 4], 32)?.tile(&[Some(2), Some(2)])?;
    let error = tiled.clone().minor_to_major(&[0, 1]).unwrap_err();
    assert_eq!((error.field_name(), error.found()), (Some("minor_to_major"), "minor_to_major after 1 tile"));
    let error = tiled.padded(&[8, 8]).unwrap_err();
    assert_eq!(error.accepted(), Some("padded_dimensions before the first tile"));
    Ok(())
}

#[test]
fn without_elements_any_strides_are_taken() -> Result<()> {
    let most = i64::MAX as u64;
    let layout = Layout::strided(&[0, most, most, most], 8, &[i64::MIN; 4], None, Some(3))?;
    assert_eq!((layout.size(), layout.len(), layout.padding()), (3, 0, Some(3)));
    assert_eq!(layout.locate(2)?, Place::Padding(Padding { level: Level::Tail, dims: vec![] }));
    let reversed = layout.flip(1)?.permute(&[3, 2, 1, 0])?.slice(0, 5..7, 1)?;
    assert_eq!(reversed.is_injective(), Some(true));
    Ok(())
}

#[test]
fn an_array_broadcast_to_no_elements_has_none_at_any_place() -> Result<()> {
    let nothing = Place::Padding(Padding { level: Level::View, dims: vec![0] });
    for whole in [Layout::row_major(&[3], 32)?, Layout::strided(&[3], 32, &[2], None, None)?] {
        assert_eq!(whole.broadcast(&[0, 3])?.locate(0)?, nothing);
    }
    assert_eq!(Layout::row_major(&[], 32)?.broadcast(&[0])?.locate(0)?, nothing);
    Ok(())
}
