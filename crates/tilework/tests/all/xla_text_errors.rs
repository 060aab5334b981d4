//! What the reader says of texts that are no shapes: the place, and the words that help.

use tilework::xla::Shape;

/// A text, the piece of it that is wrong between two `^` (one `^` for a place between characters), and a part of what
/// the error says of it.
#[rustfmt::skip]
const BAD: &[(&str, &str)] = &[
    // Nothing, or not a shape.
    ("^", "the text ends here; accepted: a shape such as f32[2,3]"),
    ("^  // only a comment", "the text ends here"),
    ("^3^", "unexpected `3`; accepted: a shape such as"),
    ("^{^0}", "unexpected `{`"),
    ("^é^[2]", "unexpected `é`"),
    ("f32[2] ^/*^ open", "this comment never ends; accepted: */"),
    ("f32[2^/^2]", "unexpected `/`"),
    // Types.
    ("^f23^[2]", "`f23` is not an element type; accepted: an element type; did you mean f32?"),
    ("^float32^[2]", "did you mean f32?"),
    ("^int8^[2]", "did you mean s8?"),
    ("^bool^[2]", "did you mean pred?"),
    ("^bfloat16^[2]", "did you mean bf16?"),
    ("^hello^[2]", "accepted: an element type such as f32, bf16, s8 or pred"),
    ("^primitive_type_invalid^[]", "is not an element type"),
    ("^tuple^[]", "accepted: (f32[2], s32[])"),
    ("^buffer^[]", "accepted: b(f32[2])"),
    // Sizes.
    ("f32^", "the text ends here; accepted: [ and the sizes"),
    ("f32^{^0}", "unexpected `{`; accepted: [ and the sizes"),
    ("f32[^", "accepted: a size, <=size or ?"),
    ("f32[2^", "accepted: , and one size more, or ]"),
    ("f32[2^ ", "accepted: , and one size more, or ]"),
    ("f32[2 ^3^]", "unexpected `3`; accepted: , and one size more, or ]"),
    ("f32[2^,^]", "a comma with nothing behind it; a comma stands between two items; accepted: one item more, or ]"),
    ("f32[^,^2]", "unexpected `,`; accepted: a size"),
    ("f32[^-1^]", "`-1` is below 0"),
    ("f32[^+2^]", "`+2` is not a number"),
    ("f32[^2x3^]", "`2x3` is not a number; a number is written in decimal digits alone"),
    ("f32[^1_2^]", "`1_2` is not a number"),
    ("f32[^2.0^]", "`2.0` is not a number"),
    ("f32[^1e3^]", "`1e3` is not a number"),
    ("f32[^18446744073709551615^]", "does not fit 63 bits; XLA would wrap it around"),
    ("f32[^9223372036854775808^]", "does not fit 63 bits"),
    ("f32[^99999999999999999999^]", "does not fit 63 bits"),
    ("f32[^<^5]", "unexpected `<`"),
    ("f32[<=^?^]", "unexpected `?`; accepted: a size after <="),
    ("f32[^4611686018427387904, 2^]{1,0}", "overflow 63 bits"),
    // Dimension orders.
    ("f32[2]^{}^", "a layout without dimension numbers; minor_to_major has one number for each dimension"),
    ("f32[]^{}^", "accepted: no braces"),
    ("f32[2]{^a^}", "unexpected `a`; accepted: dimension numbers"),
    ("f32[2]{^stride^(1)}", "unexpected `stride`; accepted: dimension numbers, strides(..)"),
    ("f32[2,3]{1,^1^}", "dimension 1 stands twice in minor_to_major"),
    ("f32[2,3,4]{ 2, /*,*/ 0, ^2^}", "dimension 2 stands twice"),
    ("f32[2,3]{^2^,0}", "dimension 2 in minor_to_major of 2 dimensions"),
    ("f32[2,3]{^18446744073709551616^,0}", "does not fit 63 bits"),
    ("f32[2,3]{^9223372036854775807^,0}", "in minor_to_major of 2 dimensions"),
    ("f32[2,3]{^-1^,0}", "`-1` is below 0"),
    ("f32[2,3]{^1^}", "the layout has 1 dimension, the shape has 2"),
    ("f32[2,3]{^1, 2,0^:T(2)}", "accepted: a permutation of 0 to 1"),
    ("f32[2]{^:T(2)}", "the layout has 0 dimensions, the shape has 1"),
    ("f32[2,3]{1,0^,^}", "a comma with nothing behind it"),
    ("f32[2]{0^", "accepted: }, or : and qualifiers"),
    ("f32[2]{0:^", "the text ends here; accepted: }"),
    ("f32[2]{0}^{^0}", "unexpected `{`; accepted: the end of the text"),
    ("f32[2] ^x^", "unexpected `x`; accepted: a layout such as {1,0}, or the end of the shape"),
    ("f32[2] ^(^layout)", "unexpected `(`; accepted: a layout"),
    ("f32[2]{0} ^f32^[2]", "accepted: the end of the text, since the shape is complete"),
    // Tiles.
    ("f32[2]{0:T^}^", "unexpected `}`; accepted: ( and the sizes of a tile"),
    ("f32[2]{0:T^()^}", "a tile without sizes"),
    ("f32[3,5]{1,0:T(^0^,2)}", "tile size 0; a tile size is at least 1"),
    ("f32[3,5]{1,0:T(2,2)(1, ^0^)}", "tile size 0"),
    ("f32[2]{0:T(^-2^)}", "`-2` is below 0; accepted: a size from 1 on, or *"),
    ("f32[2]{0:T(2,^*^)}", "* at the end of a tile; * combines a dimension with the next more minor one"),
    ("f32[2]{0:T(2,^-1^)}", "* at the end of a tile"),
    ("f32[2]{0:T(^*^)}", "* at the end of a tile"),
    ("f32[2]{0:T(*^*^)}", "unexpected `*`"),
    ("f32[2]{0:T(2^,^)}", "a comma with nothing behind it"),
    ("f32[2]{0:T(2^}^", "unexpected `}`; accepted: , and one size more, or )"),
    ("f32[2]{0:T(2)(^}^", "unexpected `}`; accepted: a size from 1 on, or *"),
    // Qualifiers.
    ("f32[2]{0:S(1)^T^(2)}", "S(..) stands before T(..); the qualifiers have a fixed order; accepted: T, L, #, *, E, S"),
    ("f32[2]{0:M(1)^S^(1)}", "M(..) stands before S(..)"),
    ("f32[2]{0:S(1)^(^2)}", "S(..) stands before T(..)"),
    ("f32[2]{0:T(2)^D^(D)}", "T(..) stands before D(..)"),
    ("f32[2]{0:*(u8)^#^(u8)}", "*(..) stands before #(..)"),
    ("f32[2]{0:S(1)^S^(2)}", "S(..) stands twice"),
    ("f32[2]{0:^t^(2)}", "`t` is not a qualifier; accepted: T; case matters"),
    ("f32[2]{0:^Q^(2)}", "`Q` is not a qualifier; accepted: T, L, #"),
    ("f32[2]{0:^strides^(2)}", "accepted: strides(..) right behind the {"),
    ("f32[2]{0:^,^S(1)}", "unexpected `,`; accepted: a qualifier such as T(8,128), or }"),
    ("f32[2]{0:E(4^}^", "unexpected `}`; accepted: ) after the number in E(..)"),
    ("f32[2]{0:^E4^}", "`E4` is not a qualifier"),
    ("f32[2]{0:E ^4^}", "unexpected `4`; accepted: ( and a number, as in E(1)"),
    ("f32[2]{0:E(^-4^)}", "`-4` is below 0"),
    ("f32[2]{0:E(^4294967296^)}", "4294967296 bits in one element"),
    ("f32[2]{0:S(^300^)}", "memory space 300; XLA keeps the memory space in a signed byte"),
    ("f32[2]{0:L(^0^)}", "tail padding alignment 0"),
    ("f32[2]{0:M(^-1^)}", "`-1` is below 0"),
    ("f32[2]{0:#(^f32^)}", "f32 is not an integer type; indices and pointers are integers"),
    ("f32[2]{0:#(^invalid^)}", "`invalid` is not a type; accepted: an integer type such as u32"),
    ("f32[2]{0:*(^)^}", "unexpected `)`; accepted: an integer type"),
    ("f32[2]{0:SC(^5:1^)}", "split config of physical dimension 5"),
    ("f32[2,3]{1,0:SC(0:1)(^2:1^)}", "accepted: 0 to 1"),
    ("f32[2]{0:SC(0^)^}", "unexpected `)`; accepted: : and the indices"),
    ("f32[2]{0:SC(0:1,^-1^)}", "`-1` is below 0"),
    ("f32[2]{0:^P^(f32[2])}", "the layout has a physical shape, but is not for a sparse array"),
    ("f32[8]{0:SC(^0:20^)}", "split index 20 in a dimension of size 8; a dimension is split between two of its"),
    ("f32[8]{0:SC(^0:8^)}", "accepted: 1 to 7"),
    ("f32[1]{0:SC(^0:1^)}", "accepted: no split indices"),
    ("f32[?]{0:SC(^0:1^)}", "split index 1 in an unbounded dimension"),
    ("f32[8,4]{0,1:SC(^0:5^)}", "split index 5 in a dimension of size 4"),
    ("f32[8]{0:SC(^0:5,3^)}", "split index 3 after 5; split indices increase strictly, from 1 on; accepted: 6 to"),
    ("f32[8]{0:SC(^0:3,3^)}", "split index 3 after 3"),
    ("f32[8]{0:SC(^0:0^)}", "split index 0; split indices increase strictly, from 1 on; accepted: 1 to"),
    ("f32[8]{0:SC(0:3)(^0:5^)}", "physical dimension 0 is split twice; each dimension has at most one split config"),
    ("f32[2]{0:D(^X^)}", "unexpected `X`; accepted: a dimension level: D, C, S or H"),
    // Tilework's own words.
    ("f32[2]{0:pad(^1^)}", "dimension 0 is 2, padded to only 1"),
    ("f32[2,3]{0,1:pad(3, ^2^)=zero}", "accepted: 3 or more"),
    ("f32[2]{0:pad(^3,4^)}", "2 padded dimensions, but the layout has 1"),
    ("f32[2]{0:pad(3)=^nought^}", "`nought` is not a padding value; accepted: zero, one, lowest"),
    ("f32[2]{0:pad(3)=^}^", "unexpected `}`; accepted: zero"),
    ("f32[2]{0:pad(3)^S^(1)}", "pad(..) stands before S(..)"),
    ("f32[2]{strides(^5,1^)}", "the layout has 2 dimensions, the shape has 1"),
    ("f32[2]{strides(^x^)}", "unexpected `x`; accepted: a stride in elements"),
    ("f32[2]{strides(^9223372036854775808^)}", "does not fit 63 bits"),
    ("f32[2]{strides(1),size(2),^base^(0)}", "size(..) stands before base(..)"),
    ("f32[2]{strides(1),base(2),^base^(0)}", "base(..) stands twice"),
    ("f32[2]{strides(1),^bass^(0)}", "accepted: base(..) or size(..)"),
    ("f32[2]{strides(1),base(^-1^)}", "`-1` is below 0"),
    ("f32[2]{strides(1):^T^(2)}", "T(..) on a layout with free strides; strides(..) places every element by itself"),
    ("f32[2]{strides(1):^(^2)}", "T(..) on a layout with free strides"),
    ("f32[2]{strides(1):^pad^(2)}", "pad(..) on a layout with free strides"),
    // Tuples, buffers, tokens.
    ("(f32[2]^,^)", "a comma with nothing behind it"),
    ("(^,^)", "unexpected `,`; accepted: a shape"),
    ("(f32[2]^", "accepted: , and one shape more, or )"),
    ("(f32[2] ^f32^[2])", "accepted: , and one shape more, or )"),
    ("(f32[2])^)^", "accepted: the end of the text, since the shape is complete"),
    ("((f32[2], s8[3]), u8[^-1^])", "`-1` is below 0"),
    ("b(f32[2]^", "accepted: ) after the array in b(..)"),
    ("b(^token^[])", "a buffer of something that is not an array"),
    ("b(^b^(f32[2]))", "b(..) holds an array"),
    ("b(^(^))", "b(..) holds an array"),
    ("b(^)^", "unexpected `)`"),
    ("^b^[2]", "`b` is not an element type"),
    ("token[^2^]", "a token with dimensions; a token holds no elements; accepted: token[]"),
    ("token[]^{0}^", "a token with a layout"),
    ("token^", "accepted: [], as in token[]"),
    ("opaque[^3^]", "an opaque value with dimensions; an opaque value holds no elements; accepted: opaque[]"),
];

#[test]
fn every_bad_text_is_refused_at_its_place_with_its_reason() {
    for (marked, says) in BAD {
        let carets: Vec<usize> = marked.match_indices('^').map(|(at, _)| at).collect();
        let text = marked.replace('^', "");
        let span = match carets[..] {
            [at] => at..at,
            [start, end] => start..end - 1,
            _ => panic!("{marked}"),
        };
        let error = Shape::parse(&text).expect_err(&text);
        assert_eq!(error.span(), Some(span), "{}", error.report(&text));
        assert!(error.to_string().contains(says), "{marked}\n{error}\ndoes not say {says}");
        assert!(error.accepted().is_some(), "{marked}: {error} says nothing of what is accepted");
        assert!(Shape::parse_strict_xla(&text).is_err(), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_where_it_gets_too_deep() {
    let nested = |depth: usize| format!("{}f32[]{}", "(".repeat(depth), ")".repeat(depth));
    // Even without optimisation, a small stack holds what is allowed.
    let small = std::thread::Builder::new().stack_size(512 << 10);
    assert!(small.spawn(move || Shape::parse(&nested(128)).is_ok()).unwrap().join().unwrap());
    // Depth is not length.
    assert!(Shape::parse(&format!("(f32[]{})", ", (f32[])".repeat(200))).is_ok());
    let error = Shape::parse(&"(".repeat(129)).unwrap_err();
    assert_eq!((error.span(), error.found()), (Some(128..129), "shapes nest deeper than 128"));
    assert_eq!(Shape::parse(&"(".repeat(1 << 20)).unwrap_err().span(), Some(128..129));
    let layout = format!("{{:P({})}}", "(".repeat(1 << 20));
    assert_eq!(tilework::xla::Layout::parse(&layout).unwrap_err().span(), Some(131..132));
}

#[test]
fn a_megabyte_of_anything_is_answered_in_linear_time() {
    let times = |text: &str| text.repeat((1 << 20) / text.len());
    for (head, body, tail) in [
        ("f32[", "1,", "1]"),
        ("f32[", "0", "]"),
        ("f32[", "7", "]"),
        ("f32[2]{", "0,", "0}"),
        ("f32[2]{0:T", "(1)", "(1)}"),
        ("f32[2]{0:T(", "1,", "0)}"),
        ("f32[2]{0:SC", "(0:1,2)", "}"),
        ("f32[2]{0:pad(", "3,", "3)}"),
        ("f32[2]{strides(", "1,", "1)}"),
        ("f32[2]", " /* */", ""),
        ("token[", "/* ", ""),
        ("token[]{", "/* ", ""),
        ("f32[2", "/* ", ""),
        ("", "f32", "[2]"),
        ("", "é", ""),
        ("f32[2]", "//", "\n{0}"),
        ("(", "b(f32[2]),", "())"),
    ] {
        let text = format!("{head}{}{tail}", times(body));
        let answer = Shape::parse(&text);
        if let Err(error) = &answer {
            assert!(error.to_string().len() < 1000, "{head}{body}");
        }
        drop(answer);
    }
}

#[test]
fn the_report_shows_the_place() {
    let text = "f32[3,5]{1,0:T(0,2)}";
    assert_eq!(
        Shape::parse(text).unwrap_err().report(text).to_string(),
        "tile size 0
    f32[3,5]{1,0:T(0,2)}
                   ^
  rule: a tile size is at least 1
  accepted: 1 to 9223372036854775807, or *"
    );
}
