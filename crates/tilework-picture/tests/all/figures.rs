//! Figures say what the layout says, whatever is cut away.

use tilework::{Layout, Place, Plan, PlanOptions, Result, Swizzle};
use tilework_picture::figure::{self, Options, Theme, View};

use crate::read::{Found, read};

/// Layouts of every kind, small enough to be shown whole.
fn layouts() -> Result<Vec<Layout>> {
    let mut layouts = vec![
        Layout::row_major(&[], 32)?,
        Layout::row_major(&[0, 3], 32)?,
        Layout::builder(&[0, 3], 32)?.padded(&[2, 3])?.build()?,
        Layout::builder(&[], 32)?.tile(&[Some(4)])?.build()?,
        Layout::builder(&[2, 3], 32)?.minor_to_major(&[0, 1])?.padded(&[3, 5])?.build()?,
        Layout::builder(&[2, 3], 32)?.padded(&[3, 5])?.tile(&[Some(2), Some(2)])?.build()?,
        Layout::builder(&[4, 3, 2], 32)?.tile(&[None, Some(4)])?.build()?,
        Layout::builder(&[5], 16)?.align(8).build()?,
        Layout::strided(&[4, 6], 32, &[-8, 1], Some(24), Some(40))?,
        Layout::row_major(&[3], 32)?.broadcast(&[2, 3])?,
        Layout::strided(&[3, 3], 32, &[1, 1], None, None)?,
        Layout::row_major(&[8, 8], 32)?.swizzled(&Swizzle::new(3, 0, 3)?)?,
        Layout::builder(&[7, 5], 32)?
            .tile(&[Some(8), Some(8)])?
            .build()?
            .swizzled(&Swizzle::new(2, 1, 3)?)?,
    ];
    for dims in [vec![7], vec![3, 5], vec![6, 4], vec![1, 9], vec![8, 8], vec![2, 3, 4], vec![2, 1, 3, 2]] {
        for first in [vec![], vec![Some(3)], vec![Some(2), Some(4)], vec![None, Some(4)]] {
            for second in [vec![], vec![Some(2), Some(1)]] {
                let mut builder = Layout::builder(&dims, 16)?;
                for tile in [&first, &second].into_iter().filter(|tile| !tile.is_empty()) {
                    builder = builder.tile(tile)?;
                }
                let layout = builder.build()?;
                if second.is_empty() {
                    let last = dims.len() - 1;
                    layouts.extend([layout.flip(0)?, layout.slice(last, 1..dims[last], 1)?]);
                }
                layouts.push(layout);
            }
        }
    }
    Ok(layouts)
}

fn whole() -> Options {
    Options { width: 8000, rows: 1000, columns: 1000, memory_rows: 1000, ..Options::default() }
}

/// Asks the layout about every place of a figure.
fn check(layout: &Layout, found: &[Found]) -> Result<()> {
    for place in found {
        match (&*place.class, &place.index) {
            ("cell", Some(index)) => {
                assert_eq!(place.offset, Some(layout.offset(index)?), "{place:?}");
                let offset = layout.offset(index)?;
                let text = index.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
                assert_eq!(place.title, format!("({text}) is at {offset}"));
                let shown = match place.part.as_str() {
                    "array" => offset.to_string(),
                    "banks" => (u128::from(offset) * u128::from(layout.bits()) / 32 % 32).to_string(),
                    "memory" | "bits" | "registers" if text.is_empty() => "()".to_owned(),
                    "memory" | "bits" | "registers" => text,
                    part => panic!("{part}"),
                };
                assert_eq!(place.text, shown, "{place:?}");
            }
            ("pad", None) => {
                assert!(["array", "banks"].contains(&&*place.part) || place.offset.is_some());
                let Some(offset) = place.offset else {
                    assert_eq!(place.title, "padding");
                    continue;
                };
                let Place::Padding(padding) = layout.locate(offset)? else { panic!("an element: {place:?}") };
                assert_eq!(place.title, format!("padding at {offset}: {padding}"));
            }
            _ => panic!("{place:?}"),
        }
    }
    Ok(())
}

#[test]
fn every_place_of_a_figure_is_what_the_layout_says() -> Result<()> {
    for layout in layouts()? {
        let found = read(&figure::of_layout(&layout, &whole()));
        check(&layout, &found)?;
        let count = |part: &str, class: &str| {
            found.iter().filter(|place| place.part == part && place.class == class).count() as u64
        };
        if layout.rank() <= 2 {
            assert_eq!(count("array", "cell"), layout.len());
        }
        let memory = count("memory", "cell") + count("memory", "pad");
        assert!(memory == layout.size() || layout.locate(layout.size() / 2).is_err(), "{layout:?}");
        if layout.is_injective() == Some(true) {
            assert_eq!(count("memory", "cell"), layout.len(), "{layout:?}");
        }
        for (rows, columns) in [(2, 3), (5, 6), (4, 40)] {
            let options = Options { rows, columns, memory_rows: rows, width: 500, ..Options::default() };
            check(&layout, &read(&figure::of_layout(&layout, &options)))?;
        }
    }
    Ok(())
}

#[test]
fn padding_in_the_array_knows_its_place() -> Result<()> {
    let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    let found = read(&figure::of_layout(&layout, &whole()));
    let mut places: Vec<u64> = found.iter().filter(|f| f.part == "array").filter_map(|f| f.offset).collect();
    places.sort_unstable();
    assert_eq!(places, (0..24).collect::<Vec<u64>>());
    Ok(())
}

#[test]
fn every_slice_can_be_chosen() -> Result<()> {
    let layout = Layout::builder(&[2, 3, 4], 32)?.tile(&[Some(2), Some(4)])?.build()?;
    for slice in [vec![Some(1), None, None], vec![None, Some(2), None], vec![None, Some(0), Some(3)]] {
        let options = Options { slice: slice.clone(), views: vec![View::Array], ..whole() };
        let found = read(&figure::of_layout(&layout, &options));
        check(&layout, &found)?;
        let cells = found.iter().filter_map(|place| place.index.as_ref());
        let matches = |index: &Vec<u64>| slice.iter().zip(index).all(|(at, i)| at.is_none_or(|at| at == *i));
        let open: u64 =
            slice.iter().zip(layout.dims()).filter(|(at, _)| at.is_none()).map(|(_, n)| n).product();
        assert_eq!(cells.clone().count() as u64, open);
        assert!(cells.clone().all(matches));
    }
    // What does not fit the layout chooses nothing.
    for slice in [vec![Some(9), None, None], vec![None], vec![None, None, None], vec![Some(0); 3]] {
        let options = Options { slice, views: vec![View::Array], ..whole() };
        assert_eq!(
            read(&figure::of_layout(&layout, &options)).iter().filter(|f| f.class == "cell").count(),
            12
        );
    }
    Ok(())
}

#[test]
fn hostile_names_stay_text() -> Result<()> {
    let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    let hostile =
        "<script>alert(1)</script> ]]> & \" ' \u{0}\u{1b}[31m\u{7f}\u{85}\u{202e}\u{fffe}\u{ffff}\r\n-->";
    let options = Options {
        title: hostile.to_owned(),
        caption: vec![hostile.to_owned()],
        names: vec![hostile.to_owned(), hostile.to_owned()],
        ..Options::default()
    };
    for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
        let svg = figure::of_layout(&layout, &Options { theme, ..options.clone() });
        assert_eq!(svg.matches("<script").count(), 0);
        check(&layout, &read(&svg))?;
    }
    Ok(())
}

#[test]
fn no_figure_is_wider_than_it_is_asked_to_be() -> Result<()> {
    let huge = Layout::builder(&[1_000_000, 1_000_000_000], 32)?.tile(&[Some(8), Some(128)])?.build()?;
    let mut layouts = layouts()?;
    layouts.push(huge);
    for layout in layouts {
        for width in [240, 500] {
            let options = Options { width, title: "f32[1,2]{1,0:T(8,128)}".repeat(9), ..Options::default() };
            let svg = figure::of_layout(&layout, &options);
            assert!(svg.starts_with("<svg ") && svg.contains(&format!(" width=\"{width}\" ")));
            check(&layout, &read(&svg))?;
            assert!(right_most(&svg) <= f64::from(width), "{} of {width}: {layout:?}", right_most(&svg));
        }
    }
    Ok(())
}

/// The right end of rectangles and texts, in the coordinates of the figure. A character is as wide as in the widest of the
/// usual monospaced fonts.
fn right_most(svg: &str) -> f64 {
    let mut shifts: Vec<f64> = Vec::new();
    let mut most = 0.0_f64;
    let number = |tag: &str, key: &str| -> Option<f64> {
        let value = tag.split_once(&format!(" {key}=\""))?.1;
        value[..value.find('"')?].parse().ok()
    };
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        if tag == "g" || tag.starts_with("g ") {
            let shift = tag.split_once("translate(").and_then(|(_, at)| at.split(' ').next()?.parse().ok());
            shifts.push(shift.unwrap_or(0.0));
        } else if tag == "/g" {
            shifts.pop();
        } else if tag.starts_with("rect ") || tag.starts_with("text ") {
            let x = number(tag, "x").unwrap_or(0.0);
            let letters = text.replace("&lt;", "<").replace("&amp;", "&").chars().count() as f64;
            let long = letters * number(tag, "font-size").unwrap_or(13.0) * 0.61;
            let right = match tag.split_once("text-anchor=\"") {
                Some((_, anchor)) if anchor.starts_with("end") => x,
                Some(_) => x + long / 2.0,
                None => x + number(tag, "width").unwrap_or(long),
            };
            most = most.max(right + shifts.iter().sum::<f64>());
        }
    }
    most
}

#[test]
fn two_layouts_are_drawn_with_what_stays_and_what_moves() -> Result<()> {
    let rows = Layout::row_major(&[4, 6], 32)?;
    let tiled = Layout::builder(&[4, 6], 32)?.tile(&[Some(2), Some(4)])?.build()?;
    let long = "f32[4,6]{1,0:T(2,4)}".repeat(6);
    for (a, b) in [(&rows, &tiled), (&tiled, &rows), (&rows, &rows), (&rows, &Layout::row_major(&[24], 32)?)]
    {
        for width in [240, 400, 900] {
            let options = Options { width, title: long.clone(), ..Options::default() };
            let svg = figure::of_two([a, b], [&long, &long], &options);
            let found = read(&svg);
            assert!(right_most(&svg) <= f64::from(width), "{} of {width}", right_most(&svg));
            for (part, layout) in [("array a", a), ("memory a", a), ("array b", b), ("memory b", b)] {
                let cells = || found.iter().filter(|place| place.part == part && place.class == "cell");
                assert!(cells().count() > 0, "{part} at {width}");
                for place in cells() {
                    let index = place.index.as_ref().expect("an index");
                    assert_eq!(place.offset, layout.offset(index).ok());
                }
            }
        }
        let count = staying(a, b);
        let svg = figure::of_two([a, b], ["A", "B"], &Options::default());
        assert_eq!(
            svg.contains(&format!(">{count} of 24 elements stay at their offset<")),
            a.dims() == b.dims()
        );
    }
    Ok(())
}

fn staying(a: &Layout, b: &Layout) -> u64 {
    let mut staying = 0;
    a.for_each_in_index_order(|index, offset| staying += u64::from(b.offset(index) == Ok(offset)));
    staying
}

#[test]
fn a_plan_says_where_each_place_comes_from_and_goes() -> Result<()> {
    let tiled = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    let plan = Plan::new(&tiled, &Layout::row_major(&[3, 5], 32)?, &PlanOptions::default())?;
    let found = read(&figure::of_plan(&plan, ["A", "B"], &whole()));
    let (mut from, mut to) = (0, 0);
    for place in found.iter().filter(|place| place.class == "cell") {
        let index = place.index.as_ref().expect("an index");
        let (a, b) = (plan.from().offset(index)?, plan.to().offset(index)?);
        let (offset, text) = match place.part.as_str() {
            "array a" => (a, a),
            "array b" => (b, b),
            "memory a" => (a, b),
            "memory b" => (b, a),
            part => panic!("{part}"),
        };
        assert_eq!((place.offset, place.text.as_str()), (Some(offset), text.to_string().as_str()));
        from += u64::from(place.part == "memory a");
        to += u64::from(place.part == "memory b");
    }
    assert_eq!((from, to), (15, 15));
    Ok(())
}
