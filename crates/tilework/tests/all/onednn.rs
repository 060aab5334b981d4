//! oneDNN's descriptors against its own numbers, its rule for offsets digit by digit, and lines of its logs.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use tilework::dialect::{self, Dialect, Found, Said};
use tilework::{Element, Layout, Place};

use crate::common::{indices, recipe_with};

fn json(file: &str) -> Value {
    let path = format!("{}/tests/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn read(text: &str) -> Said {
    let said = dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    assert_eq!(said.dialect().name, "onednn", "{text}");
    said
}

fn layout(text: &str) -> Layout {
    read(text).layout().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn sizes(dims: &[u64]) -> String {
    dims.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn with_sizes(dims: &[u64], tag: &str) -> String {
    format!("f32[{}] {tag}", sizes(dims))
}

/// A tag in letters of dimensions, read as the manual has it: the outer order, and the inner blocks.
fn tag_parts(tag: &str) -> (Vec<usize>, Vec<(u64, usize)>) {
    let dim = |letter: char| letter.to_ascii_lowercase() as usize - 'a' as usize;
    let outer: Vec<usize> = tag.chars().take_while(char::is_ascii_alphabetic).map(dim).collect();
    let mut inner = Vec::new();
    let mut size = 0;
    for c in tag.chars().skip(outer.len()) {
        match c.to_digit(10) {
            Some(digit) => size = 10 * size + u64::from(digit),
            None => inner.push((std::mem::take(&mut size), dim(c))),
        }
    }
    (outer, inner)
}

/// Padded sizes and strides of the outer digits of a dense descriptor.
fn dense(dims: &[u64], outer: &[usize], inner: &[(u64, usize)]) -> (Vec<u64>, Vec<u64>) {
    let blocks =
        |dim: usize| inner.iter().filter(|block| block.1 == dim).map(|block| block.0).product::<u64>();
    let padded: Vec<u64> =
        dims.iter().enumerate().map(|(dim, size)| size.next_multiple_of(blocks(dim))).collect();
    let mut stride = inner.iter().map(|block| block.0).product::<u64>();
    let mut strides = vec![0; dims.len()];
    for &dim in outer.iter().rev() {
        strides[dim] = stride;
        stride *= (padded[dim] / blocks(dim)).max(1);
    }
    (padded, strides)
}

/// `memory_desc_wrapper::off_v`
fn offset(index: &[u64], strides: &[u64], inner: &[(u64, usize)]) -> u64 {
    let mut place = index.to_vec();
    let (mut stride, mut offset) = (1, 0);
    for &(size, dim) in inner.iter().rev() {
        offset += place[dim] % size * stride;
        place[dim] /= size;
        stride *= size;
    }
    offset + place.iter().zip(strides).map(|(place, stride)| place * stride).sum::<u64>()
}

/// `memory_desc_wrapper::size`, in elements.
fn span(dims: &[u64], padded: &[u64], strides: &[u64], inner: &[(u64, usize)]) -> u64 {
    if dims.contains(&0) {
        return 0;
    }
    let blocks =
        |dim: usize| inner.iter().filter(|block| block.1 == dim).map(|block| block.0).product::<u64>();
    let each = padded.iter().zip(strides).enumerate().map(|(dim, (size, stride))| match size / blocks(dim) {
        1 => 1,
        count => count * stride,
    });
    match each.max().unwrap_or(0) {
        1 if !inner.is_empty() => inner.iter().map(|block| block.0).product(),
        span => span,
    }
}

fn check(layout: &Layout, strides: &[u64], inner: &[(u64, usize)], what: &str) {
    for index in indices(layout.dims()) {
        assert_eq!(layout.offset(&index).unwrap(), offset(&index, strides, inner), "{what} at {index:?}");
    }
}

#[test]
fn every_tag_places_elements_by_its_grammar() {
    let tags = json("onednn_tags.json");
    let tags = tags["tags"].as_array().unwrap();
    assert_eq!(tags.len(), 873);
    for (number, tag) in tags.iter().enumerate() {
        let tag = tag.as_str().unwrap();
        let (outer, inner) = tag_parts(tag);
        // Sizes of 1 and 2, and for a few dimensions one beyond a block.
        let mut dims: Vec<u64> = (0..outer.len() as u64).map(|dim| 1 + (dim + number as u64) % 2).collect();
        for &(size, dim) in inner.iter().take(1) {
            dims[dim] = size + 1;
        }
        let text = with_sizes(&dims, tag);
        let layout = layout(&text);
        let (padded, strides) = dense(&dims, &outer, &inner);
        assert_eq!(layout.size(), span(&dims, &padded, &strides, &inner), "{text}");
        check(&layout, &strides, &inner, &text);
        let said =
            dialect_named().say(&layout, Element::F32).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(said.layout().unwrap().same_buffer(&layout).is_yes(), "{text} became {said}");
        assert!(!said.to_string().contains("strides"), "{text} became {said}");
    }
}

fn dialect_named() -> &'static Dialect {
    Dialect::named("onednn").unwrap()
}

#[test]
fn aliases_are_the_tags_of_the_enum() {
    let tags = json("onednn_tags.json");
    let aliases = tags["aliases"].as_object().unwrap();
    assert!(aliases.len() > 400);
    for (alias, tag) in aliases {
        let tag = tag.as_str().unwrap();
        let (outer, _) = tag_parts(tag);
        let dims = vec![3; outer.len()];
        let said = read(&with_sizes(&dims, alias));
        assert_eq!(said.layout().unwrap(), layout(&with_sizes(&dims, tag)), "{alias}");
        assert_eq!(said.to_string(), with_sizes(&dims, alias));
        let fact = said
            .facts()
            .fields
            .iter()
            .find(|(name, _)| *name == "tag")
            .map(|(_, value)| format!("{value:?}"));
        assert_eq!(fact, Some(format!("Text({tag:?})")), "{alias}");
    }
}

#[test]
fn bytes_and_offsets_are_those_of_the_library() {
    let mut seen = 0;
    for case in json("algebra.json").as_array().unwrap() {
        let (input, expect) = (&case["input"], &case["expect"]);
        match case["kind"].as_str().unwrap() {
            "onednn_tag" => {
                let dims = numbers(&input["dims"]);
                let tag = input["tag"].as_str().unwrap();
                let layout = layout(&format!("{}[{}] {tag}", input["dtype"].as_str().unwrap(), sizes(&dims)));
                assert_eq!(layout.bytes(), expect["bytes"].as_u64().unwrap(), "{case}");
                for (index, offset) in indices(&dims).zip(expect["offsets"].as_array().into_iter().flatten())
                {
                    assert_eq!(layout.offset(&index).unwrap(), offset.as_u64().unwrap(), "{case}");
                }
                if let Some(padding) = expect["zero_padding_elements"].as_u64() {
                    assert_eq!(layout.padding(), Some(padding), "{case}");
                }
            }
            "onednn_bytes" => {
                let (dims, tag) = (numbers(&input["dims"]), input["tag"].as_str().unwrap());
                let layout = layout(&format!("{}[{}] {tag}", input["dtype"].as_str().unwrap(), sizes(&dims)));
                assert_eq!(layout.bytes(), expect.as_u64().unwrap(), "{case}");
            }
            _ => continue,
        }
        seen += 1;
    }
    assert!(seen > 10);
}

/// Any tag: an order, and blocks of some dimensions.
fn any_tag() -> impl Strategy<Value = (Vec<u64>, String)> {
    (1..5_usize).prop_flat_map(|rank| {
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        let inner = prop::collection::vec((2..6_u64, 0..rank), 0..4);
        let dims = prop::collection::vec(prop_oneof![4 => 1..9_u64, 1 => Just(0)], rank);
        (dims, order, inner).prop_map(|(dims, order, inner)| {
            let letter = |dim: usize| char::from(b'a' + dim as u8);
            let outer = order.iter().map(|&dim| match inner.iter().any(|block| block.1 == dim) {
                true => letter(dim).to_ascii_uppercase(),
                false => letter(dim),
            });
            let mut tag: String = outer.collect();
            tag.extend(inner.iter().map(|(size, dim)| format!("{size}{}", letter(*dim))));
            (dims, tag)
        })
    })
}

proptest! {
    #[test]
    fn any_tag_places_elements_by_its_grammar_and_is_said_again((dims, tag) in any_tag()) {
        let (outer, inner) = tag_parts(&tag);
        let text = with_sizes(&dims, &tag);
        let layout = layout(&text);
        let (padded, strides) = dense(&dims, &outer, &inner);
        prop_assert_eq!(layout.size(), span(&dims, &padded, &strides, &inner), "{}", &text);
        check(&layout, &strides, &inner, &text);
        let said = dialect_named().say(&layout, Element::F32).unwrap();
        prop_assert!(said.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", text, said);
        let again = read(&said.to_string());
        prop_assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", text, said);
    }

    #[test]
    fn strides_and_padded_sizes_place_elements_as_they_say(
        (dims, tag) in any_tag(), gaps in prop::collection::vec(1..4_u64, 5), more in prop::collection::vec(0..3_u64, 5),
    ) {
        let (outer, inner) = tag_parts(&tag);
        let blocks = |dim: usize| inner.iter().filter(|block| block.1 == dim).map(|block| block.0).product::<u64>();
        let padded: Vec<u64> = dims.iter().enumerate().map(|(dim, size)| size.next_multiple_of(blocks(dim)) + more[dim] * blocks(dim)).collect();
        let mut strides = vec![0; dims.len()];
        let mut stride: u64 = inner.iter().map(|block| block.0).product();
        for &dim in outer.iter().rev() {
            stride *= gaps[dim];
            strides[dim] = stride;
            stride *= (padded[dim] / blocks(dim)).max(1);
        }
        let joined = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let text = format!("{} strides {} padded {}", with_sizes(&dims, &tag), joined(&strides), joined(&padded));
        let layout = layout(&text);
        check(&layout, &strides, &inner, &text);
        prop_assert_eq!(layout.size(), span(&dims, &padded, &strides, &inner), "{}", &text);
        let said = dialect_named().say(&layout, Element::F32).unwrap();
        prop_assert!(said.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", text, said);
    }

    #[test]
    fn tiled_layouts_are_said_or_have_digits_that_are_no_blocks(recipe in recipe_with(true)) {
        let layout = recipe.build().unwrap();
        match dialect_named().say(&layout, Element::F32) {
            Ok(said) => prop_assert!(read(&said.to_string()).layout().unwrap().same_buffer(&layout).is_yes(), "{}", said),
            Err(error) => prop_assert!(error.found().len() > 10, "{}", error),
        }
    }

    #[test]
    fn any_word_is_a_tag_or_is_refused_with_a_place_in_it(word in "[a-zA-Z0-9]{0,12}", dims in select(vec!["", "2", "2,3", "1,2,3,4"])) {
        let text = format!("f32[{dims}] {word}");
        let reading = dialect::Reading { dialect: Some(dialect_named()), ..dialect::Reading::default() };
        if let Err(error) = reading.read(&text) {
            let span = error.span().unwrap_or(0..0);
            prop_assert!(span.start <= span.end && span.end <= text.len(), "{text}: {error}");
        }
    }
}

/// The arrays of a line: name and text of each, or why it has no places.
fn arrays(line: &str) -> Vec<(String, String)> {
    let found = dialect::read(line).unwrap_or_else(|error| panic!("{}", error.report(line)));
    let each = |found: &Found| {
        assert_eq!(found.said.dialect().name, "onednn");
        let text = match found.said.layout() {
            Ok(_) => found.said.to_string(),
            Err(error) => error.to_string(),
        };
        (found.name.clone().unwrap_or_default(), text)
    };
    found.iter().map(each).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_line_of_a_log_says_the_sizes_of_its_arrays() {
    // oneDNN's manual, doc/performance/verbose.md
    assert_eq!(
        arrays(
            "onednn_verbose,v0,1693533460229.437012,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd::f0 \
             dst_f32::blocked:ABcd16b16a::f0,,,16x16x5x5,16.481"
        ),
        pairs(&[
            ("src", "src:f32::blocked:abcd::f0 16x16x5x5"),
            ("dst", "dst:f32::blocked:ABcd16b16a::f0 16x16x5x5")
        ])
    );
    assert_eq!(
        arrays(
            "onednn_verbose,v0,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,src_f32:a:blocked:aBcd16b::f0 \
             wei_f32:a:blocked:ABcd16b16a::f0 bia_f32:a:blocked:a::f0 dst_f32:a:blocked:aBcd16b::f0,,alg:convolution_direct,\
             mb2_ic16oc32_ih7oh8kh5sh1dh0ph2_iw9ow10kw6sw1dw0pw2,0.0878906"
        ),
        pairs(&[
            ("src", "src:f32:a:blocked:aBcd16b::f0 2x16x7x9"),
            ("wei", "wei:f32:a:blocked:ABcd16b16a::f0 32x16x5x6"),
            ("bia", "bia:f32:a:blocked:a::f0 32"),
            ("dst", "dst:f32:a:blocked:aBcd16b::f0 2x32x8x10"),
        ])
    );
    // Older lines: no strides, and marks of their time.
    assert_eq!(
        arrays(
            "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,src_f32::blocked:abcd:f0 wei_f32::blocked:Acdb8a:f0 \
             bia_f32::blocked:a:f0 dst_f32::blocked:aBcd8b:f0,,alg:convolution_direct,\
             mb1_ic3oc96_ih227oh55kh11sh4dh0ph0_iw227ow55kw11sw4dw0pw0,1.21704"
        )[1],
        ("wei".to_owned(), "wei:f32::blocked:Acdb8a::f0 96x3x11x11".to_owned())
    );
    assert_eq!(
        arrays(
            "mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_oihw out:f32_Ohwi16o,num:1,64x3x11x11,0.0219727"
        )[1],
        ("out".to_owned(), "out:f32::blocked:Ohwi16o::f0 64x3x11x11".to_owned())
    );
}

#[test]
fn sizes_follow_from_the_problem_of_each_kind_of_primitive() {
    let sizes = |primitive: &str, arrays_: &str, auxiliary: &str, problem: &str| -> Vec<String> {
        let line = format!(
            "onednn_verbose,v1,primitive,exec,cpu,{primitive},ref:any,undef,{arrays_},,{auxiliary},{problem},0.1"
        );
        let last = |(_, text): (String, String)| text.rsplit(' ').next().unwrap_or("").to_owned();
        arrays(&line).into_iter().map(last).collect()
    };
    assert_eq!(
        sizes(
            "matmul",
            "src:f32::blocked:abc::f0 wei:f32::blocked:acb::f0 bia:f32::blocked:abc::f0_mask4 dst:f32::blocked:abc::f0",
            "",
            "2x3x4:1x4x5"
        ),
        ["2x3x4", "1x4x5", "1x1x5", "2x3x5"]
    );
    assert_eq!(
        sizes(
            "binary",
            "src:f32::blocked:ab::f0 src:f32::blocked:ab::f0 dst:f32::blocked:ab::f0",
            "alg:binary_add",
            "2x3:1x3"
        ),
        ["2x3", "1x3", "2x3"]
    );
    assert_eq!(
        sizes(
            "concat",
            "src:f32::blocked:ab::f0 src:f32::blocked:ab::f0 dst:f32::blocked:ab::f0",
            "axis:1",
            "2x3:2x4"
        ),
        ["2x3", "2x4", "2x7"]
    );
    assert_eq!(
        sizes(
            "convolution",
            "src:f32::blocked:abc::f0 wei:f32::blocked:abcd::f0 bia:undef::undef::: dst:f32::blocked:abc::f0",
            "alg:x",
            "g2mb1_ic4oc6_iw7ow5kw3sw1dw0pw0"
        ),
        ["1x4x7", "2x3x2x3", "1x6x5"]
    );
    assert_eq!(
        sizes(
            "pooling",
            "src:f32::blocked:abcde::f0 dst:f32::blocked:abcde::f0 ws:u8::blocked:abcde::f0",
            "alg:x",
            "mb1ic4_id6od3kd2sd2dd0pd0_ih8oh4kh2sh2dh0ph0_iw10ow5kw2sw2dw0pw0"
        ),
        ["1x4x6x8x10", "1x4x3x4x5", "1x4x3x4x5"]
    );
    assert_eq!(
        sizes(
            "inner_product",
            "src:f32::blocked:ab::f0 wei:u8:a:blocked:AB8b24a::f0 dst:f32::blocked:ab::f0",
            "",
            "mb6ic1536oc1000"
        ),
        ["6x1536", "1000x1536", "6x1000"]
    );
    assert_eq!(
        sizes(
            "layer_normalization",
            "src:f32::blocked:abc::f0 stats:f32::blocked:ab::f0 scale:f32::blocked:a::f0",
            "flags:C",
            "2x3x4"
        ),
        ["2x3x4", "2x3", "4"]
    );
    assert_eq!(
        sizes("reduction", "src:f32::blocked:ab::f0 dst:f32::blocked:ab::f0", "alg:x p:0 eps:0", "2x3:1x3"),
        ["2x3", "1x3"]
    );
    assert_eq!(
        sizes("lrn", "data:f32::blocked:abcd::f0", "alg:x", "mb1ic96ih55iw54ls5beta0.75"),
        ["1x96x55x54"]
    );
    assert_eq!(sizes("batch_normalization", "data:f32::blocked:a::f0", "flags:", "x5"), ["5"]);
}

#[test]
fn what_a_line_does_not_say_has_a_reason() {
    let why = |line: &str, number: usize| arrays(line)[number].1.clone();
    let rnn = "onednn_verbose,v1,primitive,exec,cpu,rnn,ref:any,forward_training,src_layer:f32::blocked:tnc::f0,,alg:vanilla_lstm,l1t2mb3sic4slc4dhc4dic4,0.1";
    assert!(why(rnn, 0).contains("recurrent"), "{}", why(rnn, 0));
    let wino = "onednn_verbose,v1,primitive,exec,cpu,reorder,x,undef,src:f32::blocked:oihw::f0 dst:f32::wino:::f0,,,16x16x3x3,0.1";
    assert!(why(wino, 1).contains("Winograd"), "{}", why(wino, 1));
    let short = "onednn_verbose,v1,primitive,exec,cpu,reorder,x,undef,src:f32::blocked:ab::f0";
    assert!(why(short, 0).contains("ends before"), "{}", why(short, 0));
    let run_time = "onednn_verbose,v1,primitive,exec,cpu,matmul,x,undef,src:f32::blocked:ab::f0 wei:f32::blocked:*::f0 dst:f32::blocked:ab::f0,,,*x4:4x5,0.1";
    assert_eq!(
        why(run_time, 0),
        "layout: a size is *; it is known when the program runs; accepted: a number"
    );
    let found = dialect::read(run_time).unwrap();
    assert!(found[1].said.open().is_some());
}

#[test]
fn formats_without_places_and_broken_descriptors_are_refused_where_they_go_wrong() {
    for (text, place, word) in [
        ("f32[3,5] wino", "wino", "Winograd"),
        ("f32[3,5] any", "any", "chooses"),
        ("f32[1,17,2,2] nChw8x", "8x", "no dimension"),
        ("f32[1,17,2,2] nchw8c", "chw", "upper case"),
        ("wei_f32::rnn_packed:::f0 3x5", "wei_f32::rnn_packed:::f0", "only it knows"),
        ("dst:s8::cublaslt_blocked:col32_2r_4r4::f0 32x64", "dst:s8", "COL32_2R_4R4"),
        ("src:f32::sparse:csr::f0 3x5", "src", "depends on the data"),
        ("src:f32:o:blocked:aBcd8b::f0 1x17x2x2", "src", "does not say where"),
        ("src:f32:p:blocked:abcd::f0 1x17x2x2", "src", "up to where"),
        ("src:f4_e3m0::blocked:ab::f0 3x4", "src", "f4_e3m0"),
        ("src:f32::blocked:aBcd8b::f0", "src", "sizes"),
        ("src:f32::blocked:aBcd8b::f0 3x5", "src", "4 dimensions"),
        ("src:f32::blocked:aBcd8b:7x7:f0 1x17x2x2", "src", "strides"),
        ("src:f32::blocked:aBcd8x::f0 1x17x2x2", "8x", "no dimension"),
        ("src:f32::blocked:ab::f0!! 3x5", "f0!!", "compensation"),
        ("f32[1,17,2,2] nChw8c stride 1", "stride", "strides"),
        ("f32[2,3] ab strides 2x1", "2x1", "overlapping"),
        ("f32[2,3] ab strides 2", "2", "2 dimensions"),
        ("f32[2,3] aB4b padded 2x3", "2x3", "multiple"),
        ("f32[2,3] ab strides", "", "nothing after"),
        ("f32[2,3] ab offset x", "x", "no offset"),
        ("f32[2,3] ab size 5", "5", "last element"),
        ("f32[2,3] abc", "abc", "3 dimensions"),
        ("s4[2,3] ab strides 5x1", "5x1", "even"),
        ("nChw8c", "nChw8c", "f32[1,17,2,2] nChw8c"),
        ("onednn_verbose,v0,info,oneDNN v3.2.0 (commit 6afab8e)", "onednn_verbose", "primitives"),
        ("onednn_verbose,v1,graph,exec,cpu,100002,fused,x,y,z", "onednn_verbose", "primitives"),
    ] {
        let error = dialect::read_one(text).err().unwrap_or_else(|| panic!("{text} is read"));
        let message = error.report(text).to_string();
        assert!(message.contains(word), "{text}: {message}");
        let at = error.span().unwrap_or_else(|| panic!("{text}: {message}")).start;
        assert!(text[at..].starts_with(place), "{text}: at {at}: {message}");
    }
}

#[test]
fn a_tag_is_explained_in_its_own_words() {
    let said = read("f32[1,17,2,2] nChw8c");
    let parts = said.parts(said.layout().ok().as_ref());
    let tag = parts.iter().find(|part| part.name == "tag").unwrap();
    assert_eq!(
        tag.meaning,
        "from major to minor: dimension 0 (n, batch), blocks of dimension 1 (c, channels), dimension 2 (h, height), \
         dimension 3 (w, width); in a block of 8: 8 of c; padded: c from 17 to 24"
    );
    let layout = said.layout().unwrap();
    assert!(said.notes(&layout).iter().any(|note| note.contains("aBcd8b")), "{:?}", said.notes(&layout));
    assert!(matches!(layout.locate(95).unwrap(), Place::Padding(_)));
    let other = read("f32[3,5] AB2a2b");
    assert!(other.notes(&other.layout().unwrap())[0].contains("no tag AB2a2b"));
}

#[test]
fn layouts_of_other_notations_are_said_as_the_plainest_descriptor() {
    for (text, expected) in [
        ("f32[2,3]{1,0}", "f32[2,3] ab"),
        ("f32[2,3]{0,1}", "f32[2,3] ba"),
        ("f32[3,5]{1,0:T(2,2)}", "f32[3,5] AB2a2b"),
        ("f32[2,16,5,4]{1,3,2,0}", "f32[2,16,5,4] acdb"),
        ("f32[1,3,1,5]{1,3,2,0}", "f32[1,3,1,5] acdb"),
        ("bf16[64,300]{1,0:T(8,128)(2,1)}", "bf16[64,300] AB4a128b2a"),
        ("f32[2,3]{strides(8,1),size(16)}", "f32[2,3] ab strides 8x1"),
        ("f32[2,3]{strides(8,1)}", "f32[2,3] ab strides 8x1 size 11"),
        ("f32[100]{0:T(8,128)}", "f32[100] a padded 1024"),
    ] {
        let layout = dialect::read_one(text).unwrap().layout().unwrap();
        let element = dialect::read_one(text).unwrap().element().unwrap();
        assert_eq!(
            dialect_named().say(&layout, element).map(|said| said.to_string()),
            Ok(expected.to_owned()),
            "{text}"
        );
    }
    for (text, word) in [
        ("f32[2,3]{strides(3,-1),base(2),size(6)}", "backward"),
        ("u16[2,3]", "no such type"),
        ("s4[2,3]", "8 bits"),
        ("f32[]", "0 dimensions"),
        ("f32[8,8]{1,0:T(2,4)(2,1,1,1)}", "other order"),
    ] {
        let said = dialect::read_one(text).unwrap();
        let error =
            dialect_named().say(&said.layout().unwrap(), said.element().unwrap()).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}
