//! Names of dimensions stand in words and formulas where their numbers and letters did, and order the other side.

use proptest::prelude::*;
use tilework::Element;
use tilework::dialect::{self, Axes, Fact, in_order_of, with_axes};

fn axes(text: &str) -> Axes {
    Axes::parse(text).unwrap()
}

#[test]
fn names_are_read_with_commas_blanks_or_side_by_side() {
    for (text, names) in [
        ("N,C,H,W", &["N", "C", "H", "W"][..]),
        ("NHWC", &["N", "H", "W", "C"]),
        ("tokens heads d", &["tokens", "heads", "d"]),
        (" batch , x_1 ", &["batch", "x_1"]),
        ("tokens", &["tokens"]),
        ("N", &["N"]),
        ("", &[]),
    ] {
        assert_eq!(axes(text).names(), names, "{text}");
    }
    for text in ["N,,C", "N,N", "1,2", "a b,c", "x\u{1b}[31m", &"a".repeat(40), "NN", "a,b;c"] {
        assert!(Axes::parse(text).is_err(), "{text}");
    }
}

#[test]
fn words_get_names_and_other_numbers_stay() {
    let named = axes("tokens,heads,d");
    for (text, expected) in [
        ("dimension 0 (i) is 16, 1 (j) is 8", "dimension 0 (tokens) is 16, 1 (heads) is 8"),
        ("dimension 2 is 4, tiled to 128: 32 times", "dimension 2 (d) is 4, tiled to 128: 32 times"),
        ("dimensions 0 and 1 combined, 2 of 3", "dimensions 0 (tokens) and 1 (heads) combined, 2 of 3"),
        ("dimensions 0, 1 and 2", "dimensions 0 (tokens), 1 (heads) and 2 (d)"),
        ("Dimension 1 is broadcast", "Dimension 1 (heads) is broadcast"),
        (
            "one step moves 8 along dimension 0, 1 along 1",
            "one step moves 8 along dimension 0 (tokens), 1 along 1",
        ),
        ("dimension 7, dimension 01 and 1.5 of x1", "dimension 7, dimension 01 (heads) and 1.5 of x1"),
        ("2 (k) and 2 (j)", "2 (d) and 2 (j)"),
        ("a2 (k), _2 (k) and a dimension of 2", "a2 (k), _2 (k) and a dimension of 2"),
        ("", ""),
    ] {
        assert_eq!(named.in_words(text), expected);
    }
    assert_eq!(named.in_formula("12·⌊i/2⌋ + (j mod 2) + k"), "12·⌊tokens/2⌋ + (heads mod 2) + d");
    assert_eq!(axes("j,i").in_formula("i + 2·j"), "j + 2·i");
}

#[test]
fn the_second_side_is_taken_by_name() {
    let [nhd, hnd] = ["f16[6,4,2]", "f16[4,6,2]"].map(|text| dialect::read_one(text).unwrap());
    let order = axes("N,H,D");
    let a = with_axes(nhd.clone(), order.clone()).unwrap();
    let b = in_order_of(hnd.clone(), axes("H,N,D"), &order).unwrap();
    let [a, b] = [a.layout().unwrap(), b.layout().unwrap()];
    assert_eq!((a.dims(), b.dims()), (&[6, 4, 2][..], &[6, 4, 2][..]));
    // Token 5, head 3, element 1.
    assert_eq!(a.offset(&[5, 3, 1]), Ok(5 * 8 + 3 * 2 + 1));
    assert_eq!(b.offset(&[5, 3, 1]), Ok(3 * 12 + 5 * 2 + 1));
    assert!(in_order_of(hnd.clone(), axes("H,N,X"), &order).is_err());
    assert!(in_order_of(hnd, axes("H,N"), &order).is_err());
    let error = with_axes(nhd, axes("N,H")).unwrap_err();
    assert_eq!((error.found(), error.accepted()), ("2 names: N,H", Some("3 of them")));
    let tuple = dialect::read_one("(f32[2], f32[3])").unwrap();
    assert!(with_axes(tuple, axes("N")).is_err());
}

#[test]
fn what_is_open_stays_open_with_names() {
    let mut count = 0;
    for (_, text) in crate::golden_texts::texts() {
        let Ok(said) = dialect::read_one(&text) else { continue };
        let (Ok(layout), Some(open)) = (said.layout(), said.open()) else { continue };
        let names = Axes::new((0..layout.rank()).map(|dim| format!("d{dim}")).collect()).unwrap();
        assert_eq!(with_axes(said, names).unwrap().open(), Some(open), "{text}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn what_has_names_is_otherwise_what_it_was() {
    for example in dialect::all().iter().flat_map(|dialect| dialect.examples) {
        let own = dialect::read_one(example.text).unwrap();
        let layout = own.layout().unwrap();
        let rank = layout.rank();
        let names = Axes::new((0..rank).map(|dim| format!("d{dim}")).collect()).unwrap();
        let named = with_axes(own.clone(), names.clone()).unwrap();
        let says = |said: &dialect::Said| {
            let layout = said.layout().unwrap();
            (
                (said.to_string(), said.dialect(), said.kind(), said.phrase(), said.element()),
                (said.sizes(&layout), said.open(), said.notes(&layout), said.fill(), said.minor_to_major()),
                (said.counts_first_fastest(), said.may_be(Element::F32), layout),
            )
        };
        assert_eq!(says(&named), says(&own), "{}", example.text);
        assert_eq!(named.axes(), Some(&names));
        let pieces = |said: &dialect::Said| -> Vec<(&str, String)> {
            said.parts(Some(&layout)).into_iter().map(|part| (part.name, part.text)).collect()
        };
        assert_eq!(pieces(&named), pieces(&own));
        let mut fields = own.facts().fields;
        let all = names.names().iter().map(|name| Fact::Text(name.clone())).collect();
        fields.push(("axes", Fact::List(all)));
        assert_eq!(named.facts().fields, fields);

        // The same from the other end.
        let turned: Vec<usize> = (0..rank).rev().collect();
        let order = Axes::new(names.names().iter().rev().cloned().collect()).unwrap();
        let other = in_order_of(own.clone(), names, &order).unwrap();
        let turned_layout = layout.permute(&turned).unwrap();
        assert_eq!(other.layout(), Ok(turned_layout.clone()));
        let is_turned = rank > 1;
        let sizes = if is_turned { turned_layout.dims().to_vec() } else { own.sizes(&layout) };
        assert_eq!(other.sizes(&turned_layout), sizes);
        let minor = own.minor_to_major().map(|order| order.iter().map(|dim| rank - 1 - dim).collect());
        assert_eq!(other.minor_to_major(), minor);
        assert_eq!(other.counts_first_fastest(), own.counts_first_fastest() && !is_turned);
    }
}

proptest! {
    #[test]
    fn any_order_of_names_finds_each_element(
        (dims, order) in (1..5_usize).prop_flat_map(|rank| {
            let order: Vec<usize> = (0..rank).collect();
            (prop::collection::vec(1..5_u64, rank), Just(order).prop_shuffle())
        }),
    ) {
        let name = |dim: usize| format!("d{dim}");
        let first = Axes::new((0..dims.len()).map(name).collect()).unwrap();
        let second = Axes::new(order.iter().map(|&dim| name(dim)).collect()).unwrap();
        let sizes: Vec<u64> = order.iter().map(|&dim| dims[dim]).collect();
        let said = dialect::read_one(&format!("f32{sizes:?}")).unwrap();
        let own = said.layout().unwrap();
        let named = in_order_of(said, second, &first).unwrap().layout().unwrap();
        prop_assert_eq!(named.dims(), &dims[..]);
        for at in 0..own.len() {
            let tilework::Place::Element(index) = own.locate(at).unwrap() else { panic!() };
            let mut by_name = vec![0; dims.len()];
            order.iter().zip(&index).for_each(|(&dim, &value)| by_name[dim] = value);
            prop_assert_eq!(named.offset(&by_name), Ok(at));
        }
    }

    #[test]
    fn no_text_is_too_strange(text in "[a-z0-9 (),.é]{0,30}", names in "[A-Z]{0,5}") {
        if let Ok(axes) = Axes::parse(&names) {
            axes.in_words(&text);
            axes.in_formula(&text);
        }
    }
}
