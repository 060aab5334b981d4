//! The small texts beside layouts: operations of CuTe by their names, meshes and shardings, values to fill with, names of
//! dimensions, fragments of links, patterns of names, tiles and layouts that are supposed. What is read prints so that it reads
//! back, and says what it should; the rest is refused. The first byte chooses what is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework::cute::{self, IntTuple, Layout};
use tilework::dialect::Axes;
use tilework::sharding::{Mesh, Named, Sharding};
use tilework::{Element, ErrorKind, Result};
use tilework_audit::{Instead, Target, tiles_from_text};
use tilework_explain::link;
use tilework_files::container::{Pattern, Rename};
use tilework_stores::zarr::Compression;

const OPERATIONS: [&str; 55] = [
    "tuple_add",
    "tuple_sub",
    "tuple_mul",
    "tuple_product",
    "tuple_product_each",
    "shape_div",
    "ceil_div",
    "crd2idx",
    "idx2crd",
    "increment_coord",
    "to_coord",
    "get",
    "size",
    "flatten",
    "group_modes",
    "slice",
    "dice",
    "get_shape",
    "get_stride",
    "composition",
    "logical_divide",
    "zipped_divide",
    "tiled_divide",
    "flat_divide",
    "logical_product",
    "zipped_product",
    "tiled_product",
    "flat_product",
    "coalesce",
    "coalesce",
    "filter",
    "filter_zeros",
    "blocked_product",
    "raked_product",
    "tile_to_shape",
    "select",
    "recast_layout",
    "append_to_rank",
    "complement",
    "complement",
    "right_inverse",
    "right_inverse",
    "left_inverse",
    "left_inverse",
    "make_identity_layout",
    "make_layout",
    "make_ordered_layout",
    "make_layout_like",
    "cosize",
    "max_alignment",
    "layout_eval",
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "to_shape",
];

/// Places of a layout of CuTe at which two are compared.
const PLACES: u64 = 64;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[choice, number], rest)) = bytes.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let number = usize::from(number);
    match choice % 8 {
        0..3 => operation(OPERATIONS[number % OPERATIONS.len()], text),
        3 | 4 => sharding(text, number as u64),
        5 => value(number, text),
        6 => address(text),
        _ => names(text),
    }
});

/// `PARAM|INPUT|INPUT|INPUT`.
fn operation(name: &str, text: &str) {
    let (param, inputs) = text.split_once('|').unwrap_or(("", text));
    let inputs: Vec<&str> = inputs.split('|').take(3).collect();
    let Ok(out) = cute::operation(name, (!param.is_empty()).then_some(param), &inputs) else { return };
    // What is made may have more values than a text may have.
    let prints = |again: Result<String>| match again {
        Err(error) if error.kind() == ErrorKind::Limit => {}
        again => assert_eq!(again.as_deref(), Ok(&*out), "{name} of {inputs:?}"),
    };
    match IntTuple::parse(&out) {
        Ok(tuple) => prints(Ok(tuple.to_string())),
        Err(_) if cute::Swizzle::parse(&out).is_ok() => {
            prints(cute::Swizzle::parse(&out).map(|s| s.to_string()))
        }
        Err(_) => prints(cute::Composed::parse(&out).map(|layout| layout.to_string())),
    }
    let (Ok(from), Ok(to)) = (Layout::parse(inputs[0]), Layout::parse(&out)) else { return };
    let at = |layout: &Layout, place: u64| layout.eval(&(place as i64).into()).ok();
    match (name, inputs.len()) {
        // The same function, but for a layout without modes: its one place is `()`, however deep, and the result's may be 0.
        ("coalesce" | "flatten", 1) if inputs[0].contains(|c: char| c.is_ascii_digit()) => {
            (0..size(&from).min(PLACES))
                .for_each(|place| assert_eq!(at(&from, place), at(&to, place), "{name} of {from} is {to}"));
        }
        // What the inverse gives is where a place comes from: with scaled bases, that place is a coordinate of the inverse.
        // Where no layout has a mode, that is the place of no mode, `()`.
        ("right_inverse", 1) if out.contains(|c: char| c.is_ascii_digit()) => {
            for place in 0..size(&to).min(PLACES) {
                let back = at(&to, place).and_then(|found| from.eval(&found).ok());
                assert_eq!(
                    back.and_then(|back| back.coord_in(to.shape()).ok()),
                    IntTuple::from(place as i64).coord_in(to.shape()).ok(),
                    "{from} of {to} at {place}"
                );
            }
        }
        _ => {}
    }
}

/// The size of a layout of CuTe; 0 where that is no number.
fn size(layout: &Layout) -> u64 {
    layout.size().ok().and_then(|size| size.to_string().parse().ok()).unwrap_or(0)
}

/// `MESH|SHARDING`, or a sharding alone.
fn sharding(text: &str, number: u64) {
    let (mesh, spec) = text.split_once('|').map_or((None, text), |(mesh, spec)| (Some(mesh), spec));
    let mesh = mesh.and_then(|mesh| {
        let mesh = Mesh::parse(mesh).ok()?;
        assert_eq!(Mesh::parse(&mesh.to_string()).as_ref(), Ok(&mesh));
        Some(mesh)
    });
    if let Ok(named) = Named::parse(spec, mesh.as_ref()) {
        let again = Named::parse(&named.to_string(), Some(named.mesh()));
        assert_eq!(again.as_ref(), Ok(&named), "{named} over {}", named.mesh());
    }
    let Ok(sharding) = Sharding::parse(spec, mesh.as_ref()) else { return };
    let printed = sharding.to_string();
    let again = Sharding::parse(&printed, None).unwrap_or_else(|error| panic!("{printed}: {error}"));
    assert_eq!(again.to_string(), printed);
    let sizes: Vec<u64> =
        (0..sharding.rank().unwrap_or(2) as u64).map(|dim| (number + 5 * dim) % 23).collect();
    let parts = sharding.parts(sizes.len()).expect("its own rank");
    let devices = sharding.devices().unwrap_or(1);
    // Every element is on some device, as a part of the first copy, once.
    let mut held = 0;
    for device in 0..devices.min(PLACES) {
        let Some(part) = sharding.part(&sizes, device).expect("its own rank") else { continue };
        let within =
            part.start.iter().zip(&part.size).zip(&sizes).all(|((start, size), of)| start + size <= *of);
        assert!(within, "{part:?} of {sizes:?} by {printed}");
        held += if part.copy == 0 { part.size.iter().product::<u64>() } else { 0 };
    }
    // A list of devices may leave some of them out.
    if devices <= PLACES && sharding.devices().is_some() {
        assert_eq!(held, sizes.iter().product::<u64>(), "{printed} of {sizes:?}");
    }
    if let Ok(holders) = sharding.holders(&vec![0; parts.len()]) {
        let first = holders.first().map(|&device| sharding.part(&sizes, device).expect("its own rank"));
        let starts = first.flatten().is_some_and(|part| part.start.iter().all(|&start| start == 0));
        assert!(starts, "{holders:?} of {printed}");
    }
    let _ = (sharding.uneven(&sizes), sharding.widened(sizes.len() + 1));
}

/// A value has the bits of its type, and the bits mean the same value.
fn value(number: usize, text: &str) {
    let Some(element) = Element::all().nth(number % Element::all().count()) else { return };
    if let Ok(bits) = element.value_bits(text) {
        let width = element.bits();
        assert!(width >= 128 || bits >> width == 0, "{text} as {element:?} is {bits:#x}");
        assert_eq!(element.value_bits(&format!("{bits:#x}")), Ok(bits), "{text} as {element:?}");
        let wide = element.fill_bits(text, 8 * element.bytes()).expect("wider");
        assert_eq!(wide & (u128::MAX >> (128 - width)), bits, "{text} as {element:?}");
    }
    let _ = (Element::from_any_name(text), Element::meant_by(text), Element::nearest(text));
}

/// A fragment of a link means the same when it is written again.
fn address(text: &str) {
    let Ok(meant) = link::decode(text) else { return };
    let Ok(fragment) = link::encode(&meant) else { return };
    assert_eq!(link::decode(&fragment).as_ref(), Ok(&meant), "{fragment}");
}

/// Everything else, of two texts with a bar between them.
fn names(text: &str) {
    let (one, other) = text.split_once('|').unwrap_or((text, text));
    if let Ok(axes) = Axes::parse(one) {
        assert_eq!(Axes::parse(&axes.to_string()).as_ref(), Ok(&axes));
        let _ = (axes.in_words(other), axes.in_formula(other));
    }
    if let Ok(Instead::Layout(layout)) = Instead::parse(one) {
        assert_eq!(Instead::parse(&layout.to_string()).ok(), Some(Instead::Layout(layout)));
    }
    if let Ok(tiles) = tiles_from_text(one) {
        let _ = Target::of_tiles([tiles]);
    }
    let _ = (Target::from_name(one), Compression::read(one));
    if !one.contains(['*', '?']) {
        assert_eq!(Pattern::new(one).matches(other), one == other);
    }
    if let Ok(rename) = Rename::new(one) {
        let old = one.split_once('=').expect("it was read").0;
        assert_eq!(rename.apply(other).is_some(), Pattern::new(old).matches(other));
    }
}
