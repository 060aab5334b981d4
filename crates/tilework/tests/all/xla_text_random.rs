//! Reading and writing on random input: what is printed reads back as the same value, and nothing panics.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use tilework::{
    Element,
    xla::{
        ArrayShape, Dim, Layout, Padding, PaddingValue, ProgramShape, Shape, SplitConfig, Strides, Tile,
        TileDim,
    },
};

fn element() -> impl Strategy<Value = Element> {
    select(Element::all().collect::<Vec<_>>())
}

fn integer() -> impl Strategy<Value = Element> {
    select(Element::all().filter(|kind| kind.is_integer()).collect::<Vec<_>>())
}

/// Small and large sizes, some of which fill all 63 bits.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..20u64, 1 => 0..=1u64 << 40, 1 => 0..=i64::MAX as u64]
}

fn dims() -> impl Strategy<Value = Vec<Dim>> {
    vec(
        prop_oneof![
            4 => (0..300u64).prop_map(Dim::Static),
            2 => (0..300u64).prop_map(Dim::Bounded),
            1 => Just(Dim::Unbounded),
        ],
        0..8,
    )
}

fn tile() -> impl Strategy<Value = Tile> {
    let size = || size().prop_map(|size| size.max(1));
    let entry = prop_oneof![3 => size().prop_map(TileDim::Size), 1 => Just(TileDim::Combine)];
    (vec(entry, 0..6), size()).prop_map(|(mut entries, last)| {
        entries.push(TileDim::Size(last));
        Tile::from_dims(entries).unwrap()
    })
}

/// Splits of some dimensions, at places inside them.
fn splits(layout: &Layout, dims: &[Dim]) -> impl Strategy<Value = Vec<SplitConfig>> + use<> {
    let split = |physical: usize| {
        let size = dims[layout.major(physical)].bound().unwrap_or(0);
        let indices = vec(1..size.max(2), 0..if size < 2 { 1 } else { 4 });
        option::weighted(0.2, indices).prop_map(move |indices| {
            let mut split_indices = indices?;
            split_indices.sort_unstable();
            split_indices.dedup();
            Some(SplitConfig { dimension: physical as u64, split_indices })
        })
    };
    let all: Vec<_> = (0..dims.len()).map(split).collect();
    all.prop_shuffle().prop_map(|configs| configs.into_iter().flatten().collect())
}

/// The qualifiers that any layout may have.
fn qualified(layout: Layout, dims: &[Dim]) -> impl Strategy<Value = Layout> + use<> {
    let splits = splits(&layout, dims);
    let numbers = (
        prop_oneof![2 => Just(1), 1 => size().prop_map(|size| size.max(1))],
        prop_oneof![2 => Just(0), 1 => any::<u32>()],
        prop_oneof![2 => Just(0), 1 => 0..128u64],
        prop_oneof![2 => Just(0), 1 => size()],
    );
    (Just(layout), numbers, option::weighted(0.2, integer()), option::weighted(0.2, integer()), splits)
        .prop_map(|(layout, (alignment, bits, space, prefix), index, pointer, splits)| {
            layout
                .with_tail_padding_alignment_in_elements(alignment)
                .and_then(|layout| layout.with_sparse_types(index, pointer))
                .and_then(|layout| layout.with_element_size_in_bits(bits).with_memory_space(space))
                .and_then(|layout| layout.with_split_configs(splits))
                .and_then(|layout| layout.with_dynamic_shape_metadata_prefix_bytes(prefix))
                .unwrap()
        })
}

fn value() -> impl Strategy<Value = PaddingValue> {
    (0..6).prop_map(|number| PaddingValue::from_number(number).unwrap())
}

fn ordered(dims: Vec<Dim>) -> impl Strategy<Value = Layout> {
    let order = Just((0..dims.len()).collect::<Vec<_>>()).prop_shuffle();
    let padded: Vec<_> = dims.iter().map(|dim| dim.bound().unwrap_or(0)..=i64::MAX as u64).collect();
    let padding =
        (padded, value()).prop_map(|(padded_dimensions, value)| Padding { padded_dimensions, value });
    (order, vec(tile(), 0..4), option::weighted(0.3, padding)).prop_map(|(order, tiles, padding)| {
        Layout::new(order).unwrap().with_tiles(tiles).unwrap().with_padding(padding).unwrap()
    })
}

fn strided(rank: usize) -> impl Strategy<Value = Layout> {
    let strides = vec(prop_oneof![3 => -20..20i64, 1 => any::<i64>()], rank);
    (strides, option::of(size()), option::of(size()))
        .prop_map(|(strides, base, size)| Layout::strided(Strides { strides, base, size }).unwrap())
}

/// Arrays that can exist: the generator drops those whose bytes pass 63 bits. Boxed, since without optimisation the
/// generator of a nest of tuples would fill a test's stack.
fn array() -> BoxedStrategy<ArrayShape> {
    (element(), dims())
        .prop_filter_map("too many bytes", |(element, dims)| {
            ArrayShape::new(element, dims.iter().copied()).ok()
        })
        .prop_flat_map(|array| {
            let dims = array.dims().to_vec();
            let rank = dims.len();
            let layout = prop_oneof![
                1 => Just(Layout::descending(rank)).boxed(),
                4 => ordered(dims.clone()).boxed(),
                1 => strided(rank).boxed(),
            ];
            let layout = layout.prop_flat_map(move |layout| match layout.is_plain() {
                true => Just(layout).boxed(),
                false => qualified(layout, &dims).boxed(),
            });
            (Just(array), layout).prop_map(|(array, layout)| array.with_layout(layout).unwrap())
        })
        .boxed()
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        6 => array().prop_map(Shape::Array),
        1 => array().prop_map(Shape::Buffer),
        1 => Just(Shape::Token),
        1 => Just(Shape::Opaque),
    ];
    leaf.prop_recursive(3, 24, 8, |inner| vec(inner, 0..8).prop_map(Shape::Tuple))
}

/// Marks, words and numbers that the grammar knows, so that random texts get far.
fn scraps() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let words = [
        "f32", "s4", "token", "b", "(", ")", "[", "]", "{", "}", ",", ":", "T", "L", "#", "*", "E", "S",
        "SC", "P", "M", "D", "pad", "=", "zero", "strides", "base", "size", "<=", "?", "-", "0", "1", "2",
        "128", "u32", " ", "/*", "*/", "//", "\n", "->", "9223372036854775808", "é", "\0", "no", "layout",
        "dense", "sparse", "+", "~",
    ];
    vec(select(words.to_vec()), 0..24).prop_map(|scraps| scraps.concat())
}

/// Reads a text in every way; a place in an error must lie in the text.
fn read(text: &str) {
    let errors = [
        Shape::parse(text).err(),
        Shape::parse_strict_xla(text).err(),
        Layout::parse(text).err(),
        ProgramShape::parse(text).err(),
    ];
    for error in errors.into_iter().flatten() {
        let span = error.span().unwrap_or_else(|| panic!("{text:?}: {error} has no place"));
        assert!(text.get(span.clone()).is_some(), "{text:?}: {error} at {span:?}");
        let _ = error.report(text).to_string();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn what_is_printed_reads_back_as_the_same_shape(shape in shape()) {
        let text = shape.to_string();
        match Shape::parse(&text) {
            Ok(read) => prop_assert_eq!(read, shape, "{}", text),
            Err(error) => prop_assert!(false, "{}", error.report(&text)),
        }
    }

    #[test]
    fn a_layout_reads_back_with_its_physical_shape(
        layout in dims().prop_flat_map(|dims| {
            ordered(dims.clone()).prop_flat_map(move |layout| qualified(layout, &dims))
        }),
        physical in option::of(shape()),
    ) {
        let layout = layout.with_physical_shape(physical);
        prop_assert_eq!(Layout::parse(&layout.to_string()).unwrap(), layout);
    }

    #[test]
    fn strict_reading_agrees_where_it_accepts(shape in shape()) {
        let text = shape.to_string();
        let own = text.contains("pad(") || text.contains("strides(");
        prop_assert_eq!(Shape::parse_strict_xla(&text).ok(), (!own).then_some(shape));
    }

    #[test]
    fn a_program_reads_back_without_its_layouts(
        parameters in vec(("[a-z_][a-zA-Z0-9_.-]{0,6}|", shape()), 0..4),
        result in shape(),
    ) {
        let text = ProgramShape { parameters, result }.to_string();
        prop_assert_eq!(ProgramShape::parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_row_of_words_is_answered(text in scraps()) {
        read(&text);
        read(&format!("f32[2]{text}"));
        read(&format!("f32[2,3]{{1,0:{text}}}"));
        read(&format!("({text})"));
    }

    #[test]
    fn a_damaged_shape_is_answered(shape in shape(), at in any::<Index>(), until in any::<Index>(), scrap in scraps()) {
        let text = shape.to_string();
        let (a, b) = (at.index(text.len() + 1), until.index(text.len() + 1));
        let (from, to) = (a.min(b), a.max(b));
        read(&text[..from]);
        read(&format!("{}{}", &text[..from], &text[to..]));
        read(&format!("{}{scrap}{}", &text[..from], &text[from..]));
        read(&format!("{}{}{}", &text[..to], &text[from..to], &text[to..]));
    }

    #[test]
    fn leaving_out_qualifiers_keeps_the_rest_readable(
        kept in subsequence(
            vec!["T(2,2)", "L(8)", "#(u32)", "*(u16)", "E(4)", "S(1)", "SC(0:1)", "M(7)", "pad(9,9)=one"], 0..9),
    ) {
        let text = if kept.is_empty() { "f32[2,3]{1,0}".to_owned() } else { format!("f32[2,3]{{1,0:{}}}", kept.concat()) };
        prop_assert_eq!(Shape::parse(&text).unwrap().to_string(), text);
        // Any other order is refused.
        let back: String = kept.iter().rev().copied().collect();
        prop_assert_eq!(Shape::parse(&format!("f32[2,3]{{1,0:{back}}}")).is_ok(), kept.len() < 2);
    }
}
