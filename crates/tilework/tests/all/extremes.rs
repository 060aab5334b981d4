//! What nobody writes on purpose but a text, a message or a program can hold: deep tiles, no elements, huge strides.
//! Whoever walks all of it, or counts its elements one by one, does not end.

use tilework::{Layout, Level, Padding, Place, Result, Verdict};

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
    let formula = layout.canon().to_string();
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
    let growths = layout.growths();
    assert_eq!((growths.len(), &growths[0].cause.dims[..]), (1, &[0, 1][..]));
    assert_eq!(layout.locate(17)?, Place::Padding(Padding { level: Level::Tile(1), dims: vec![0, 1] }));
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

#[test]
fn a_few_elements_far_apart_are_walked_without_their_gaps() -> Result<()> {
    let layout = Layout::strided(&[2, 2], 8, &[1 << 60, -1], None, None)?;
    let mut seen = Vec::new();
    layout.for_each_in_memory_order(|index, offset| seen.push((index.to_vec(), offset)));
    let far = 1 << 60;
    assert_eq!(seen, [(vec![0, 1], 0), (vec![0, 0], 1), (vec![1, 1], far), (vec![1, 0], far + 1)]);
    assert_eq!(layout.runs().len(), 2);
    let scalar = Layout::builder(&[], 8)?.tile(&[Some(1 << 40), Some(4)])?.build()?;
    assert_eq!(scalar.runs().len(), 1);
    Ok(())
}

#[test]
fn elements_that_locate_cannot_decide_are_walked_all_the_same() -> Result<()> {
    let strides: Vec<i64> = (0..12).map(|k| 1_000_003 + 2 * k * k * k).collect();
    let layout = Layout::strided(&[2; 12], 8, &strides, None, None)?;
    let mut seen = 0;
    layout.for_each_in_memory_order(|_, _| seen += 1);
    assert_eq!(Some(seen), layout.places());
    Ok(())
}

#[test]
fn many_sizes_of_one_do_not_pass_the_most_dimensions() -> Result<()> {
    let (mut a, mut b) = (vec![1; 256], vec![1; 256]);
    (a[255], b[0]) = (2, 2);
    assert!(Layout::row_major(&a, 8)?.reshape_bitcast(&Layout::row_major(&b, 8)?).is_yes());
    Ok(())
}

#[test]
fn views_of_views_end_in_an_error_and_slices_of_slices_do_not_add_up() -> Result<()> {
    let tiled = Layout::builder(&[12], 8)?.tile(&[Some(4)])?.build()?;
    let mut view = tiled.clone();
    for _ in 0..10_001 {
        view = view.flip(0)?;
    }
    assert_eq!(view.canon().to_string(), "11 − i");
    assert_eq!(view.is_injective(), Some(true));
    view = tiled.slice(0, 1..12, 2)?.flip(0)?.slice(0, 1..6, 3)?;
    assert_eq!((view.offset(&[0])?, view.offset(&[1])?), (9, 3));

    let free = Layout::strided(&[1 << 30], 8, &[-6], None, None)?.slice(0, 5..1 << 29, 87)?;
    assert_eq!(free.is_injective(), Some(true));
    let back = free.flip(0)?;
    assert_eq!(back.offset(&[0])?, free.offset(&[free.dims()[0] - 1])?);
    assert_eq!(back.is_injective(), Some(true));

    let mut view = tiled;
    let error = loop {
        let split = view.split_dim(0, 3).and_then(|view| view.merge_dims(0));
        match split {
            Ok(next) => view = next,
            Err(error) => break error,
        }
    };
    assert_eq!(error.broken_rule(), Some("at most 1024 expressions stand within one another"));
    assert_eq!(view.offset(&[5])?, 5);
    Ok(())
}

#[test]
fn comparing_deep_uneven_tiles_takes_no_longer_than_an_answer_is_worth() -> Result<()> {
    // They differ in the last element alone, which begins a tile in one of them.
    let build = |first: u64| {
        let mut builder = Layout::builder(&[4_000_001], 32)?.tile(&[Some(first)])?;
        for less in 0..26 {
            builder = builder.tile(&[Some(1001 - less)])?;
        }
        builder.build()
    };
    let (a, b) = (build(4_000_000)?, build(4_000_001)?);
    let verdict = a.same_function(&b);
    assert!(matches!(verdict, Verdict::NotDecided(_)), "{verdict}");
    Ok(())
}

#[test]
fn a_broadcast_of_tiles_and_overlapping_strides_are_counted() -> Result<()> {
    let tiled = Layout::builder(&[1, 256], 32)?.tile(&[Some(8), Some(128)])?.build()?;
    let repeated = tiled.broadcast(&[4, 256])?;
    assert_eq!((repeated.places(), repeated.padding()), (Some(256), Some(2048 - 256)));
    assert_eq!(Layout::strided(&[3, 3], 8, &[1, 1], None, None)?.places(), Some(5));
    Ok(())
}

#[test]
fn padding_keeps_its_cause_in_a_view_and_before_the_first_element() -> Result<()> {
    let padded = Layout::builder(&[3], 8)?.padded(&[5])?.build()?;
    assert_eq!(padded.flip(0)?.growths(), padded.growths());
    let late = Layout::strided(&[3], 8, &[1], Some(4), None)?;
    let growth = &late.growths()[0];
    assert_eq!((growth.cause.to_string().as_str(), growth.from, growth.to), ("strides", 3, 7));
    assert_eq!(late.locate(1)?, Place::Padding(growth.cause.clone()));
    Ok(())
}

#[test]
fn a_flipped_broadcast_merged_and_sliced_is_found_again() -> Result<()> {
    let view =
        Layout::strided(&[3, 4], 8, &[-1, 0], None, None)?.flip(1)?.merge_dims(0)?.slice(0, 9..12, 1)?;
    assert_eq!(view.offset(&[2])?, 0);
    assert!(matches!(view.locate(0)?, Place::Element(_)));
    Ok(())
}
