//! Tensors of ggml: strides in bytes against a sum, lines of logs, blocks that are explained, and what is refused.
//!
//! Names, sizes and structures of types are those of ggml (MIT), commit d99724f2, `src/ggml.c` and `src/ggml-common.h`.

use proptest::prelude::*;
use tilework::dialect::{self, Dialect, Fact, Said};
use tilework::{Element, Layout};

use crate::common::{indices, permutation};

fn ggml() -> &'static Dialect {
    Dialect::named("ggml").unwrap()
}

fn read(text: &str) -> Said {
    dialect::read_one(text).unwrap_or_else(|error| panic!("{text}: {}", error.report(text)))
}

/// Sizes in the order of ggml, an order of the dimensions from the most minor, gaps behind each, and the start of a view.
fn tensors() -> impl Strategy<Value = (Vec<u64>, Vec<usize>, Vec<u64>, u64)> {
    prop::collection::vec(1..=4_u64, 1..=4).prop_flat_map(|ne| {
        let rank = ne.len();
        (Just(ne), permutation(rank), prop::collection::vec(0..=2_u64, rank), 0..=3_u64)
    })
}

proptest! {
    #[test]
    fn an_element_is_at_the_sum_of_its_strides((ne, order, gaps, start) in tensors()) {
        let mut nb = vec![0; ne.len()];
        let mut stride = 4;
        for &dim in &order {
            nb[dim] = stride;
            stride *= ne[dim] + gaps[dim];
        }
        let text = format!("ne={ne:?},nb={nb:?},type=f32,view_offs={}", 4 * start);
        let said = dialect::read_one(&text).map_err(|error| TestCaseError::fail(error.report(&text).to_string()))?;
        prop_assert_eq!(said.dialect().name, "ggml");
        let layout = said.layout().unwrap();
        let dims: Vec<u64> = ne.iter().rev().copied().collect();
        prop_assert_eq!(layout.dims(), &dims[..]);
        let mut last = 0;
        for index in indices(&dims) {
            let bytes: u64 = index.iter().rev().zip(&nb).map(|(place, stride)| place * stride).sum();
            prop_assert_eq!(4 * layout.offset(&index).unwrap(), bytes + 4 * start, "{} at {:?}", text, index);
            last = last.max(bytes);
        }
        prop_assert_eq!(4 * layout.size(), last + 4 * start + 4);
        let again = ggml().say(&layout, Element::F32).unwrap();
        prop_assert!(again.layout().unwrap().same_buffer(&layout).is_yes(), "{} became {}", text, again);
        prop_assert_eq!(read(&again.to_string()).layout(), again.layout());
    }
}

#[test]
fn a_layout_has_the_words_of_ggml() {
    for (shape, text) in [
        ("f32[3,5]", "type = f32, ne = [5, 3], nb = [4, 20]"),
        ("bf16[7]", "type = bf16, ne = [7], nb = [2]"),
        ("f16[3,5]{0,1}", "type = f16, ne = [5, 3], nb = [6, 2]"),
        // PyTorch's channels_last
        ("s8[2,3,4,5]{1,3,2,0}", "type = i8, ne = [5, 4, 3, 2], nb = [3, 15, 1, 60]"),
        ("f32[8,1,16]{strides(0,5,1)}", "type = f32, ne = [16, 1, 8], nb = [4, 64, 0]"),
        ("s64[2,2]{strides(4,1),base(2)}", "type = i64, ne = [2, 2], nb = [8, 32], view_offs = 16"),
    ] {
        let said = read(shape);
        let again = ggml().say(&said.layout().unwrap(), said.element().unwrap()).unwrap();
        assert_eq!(again.to_string(), text);
        assert!(read(text).layout().unwrap().same_buffer(&said.layout().unwrap()).is_yes(), "{text}");
    }
}

#[test]
fn what_ggml_cannot_say_has_its_reason() {
    for (shape, reason) in [
        ("f32[3,5]{1,0:T(2,2)}", "dimension 0 changes its stride at every multiple of 2"),
        ("f32[]", "0 dimensions"),
        ("f32[1,1,2,2,2]", "5 dimensions"),
        ("u8[4]", "elements of u8"),
        ("pred[4]", "elements of pred"),
        ("f32[4]{strides(-1)}", "dimension 0 runs backward"),
        ("f32[4]{strides(1),size(8)}", "4 places behind the last element"),
    ] {
        let said = read(shape);
        let error = ggml().say(&said.layout().unwrap(), said.element().unwrap()).expect_err(shape);
        assert_eq!(error.found(), reason, "{shape}");
    }
    let wide = Layout::row_major(&[4], 64).unwrap();
    assert_eq!(ggml().say(&wide, Element::F32).unwrap_err().found(), "elements of 64 bits");
}

#[test]
fn a_line_of_a_log_names_its_tensor() {
    for (line, name, text) in [
        (
            "llama_model_loader: - tensor    0:                token_embd.weight q4_K     [  5120, 32000,     1,     1 ]",
            "token_embd.weight",
            "type = q4_K, ne = [5120, 32000]",
        ),
        (
            "- tensor split  0:       blk.0.ffn_gate_exps.weight iq1_s    [  2048,   5632,     64,      1 ]   137.50 MiB",
            "blk.0.ffn_gate_exps.weight",
            "type = iq1_s, ne = [2048, 5632, 64]",
        ),
        (
            "[   8/ 164]             blk.0.attn_output.weight - [ 2048,  2048,     1,     1], type =   q8_0, \
             converting to q4_K .. size =     4.25 MiB ->     2.25 MiB",
            "blk.0.attn_output.weight",
            "type = q8_0, ne = [2048, 2048]",
        ),
        (
            "8:   58720256 |  8192,  7168,     1,     1 | IQ4_XS  | blk.0.attn_output.weight",
            "blk.0.attn_output.weight",
            "type = iq4_xs, ne = [8192, 7168]",
        ),
        (
            "blk.0.ffn_norm.weight,     torch.float16 --> F32, shape = {4096, 1}",
            "blk.0.ffn_norm.weight",
            "type = f32, ne = [4096, 1]",
        ),
    ] {
        let found = dialect::read(line).unwrap_or_else(|error| panic!("{}", error.report(line)));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name.as_deref(), Some(name));
        assert_eq!(found[0].said.to_string(), text);
        assert_eq!(read(text).to_string(), text);
    }
}

/// A value of a text's facts.
fn fact(said: &Said, name: &str) -> Fact {
    let facts = said.facts();
    facts.fields.into_iter().find(|field| field.0 == name).unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn a_tensor_of_blocks_is_explained_and_has_no_layout() {
    // Elements and bytes of a block as ggml's structures have them, bytes of a row of 1024, and bits an element.
    for (kind, elements, block, row, bits) in [
        ("q4_0", 32, 18, 576, "4.5"),
        ("q8_0", 32, 34, 1088, "8.5"),
        ("q4_K", 256, 144, 576, "4.5"),
        ("q6_K", 256, 210, 840, "6.5625"),
        ("iq1_s", 256, 50, 200, "1.5625"),
        ("mxfp4", 32, 17, 544, "4.25"),
        ("nvfp4", 64, 36, 576, "4.5"),
        ("q1_0", 128, 18, 144, "1.125"),
    ] {
        let said = read(&format!("type = {kind}, ne = [1024, 3]"));
        assert_eq!((said.kind(), said.element()), ("blocks", None));
        let error = said.layout().unwrap_err();
        assert_eq!(error.found(), format!("elements of {kind}"));
        assert!(said.open().is_some_and(|why| why.contains("no place of its own")));
        for (name, value) in
            [("block_elements", elements), ("block_bytes", block), ("row_bytes", row), ("bytes", 3 * row)]
        {
            assert_eq!(fact(&said, name), Fact::from(value), "{kind} {name}");
        }
        let parts = said.parts(None);
        assert!(parts[0].meaning.contains(&format!("{bits} bits an element")), "{:?}", parts[0]);
    }
    let said = read("type = q4_0, ne = [96, 3], nb = [18, 64]");
    // Two rows of 64 bytes, and 3 blocks.
    assert_eq!(fact(&said, "bytes"), Fact::from(2 * 64 + 54_u64));
    let size = said.parts(None).pop().unwrap();
    assert_eq!((size.text.as_str(), size.name), ("182 bytes", "size"));
    assert!(size.meaning.starts_with("padded to 192"), "{size:?}");
}

#[test]
fn what_is_no_tensor_is_refused_where_it_goes_wrong() {
    for (text, at, found, accepts) in [
        ("type = q4_0, ne = [100, 3]", "ne", "rows of 100 elements for q4_0", "a multiple of 32"),
        ("type = f32, ne = [5, 3], nb = [4]", "nb", "1 stride in nb for 2 sizes", "2 strides"),
        (
            "type = f32, ne = [5, 3], nb = [4, 22]",
            "nb",
            "nb[1] is 22 for elements of 4 bytes",
            "a multiple of 4",
        ),
        ("type = f32, ne = [1, 2, 3, 4, 5]", "ne", "5 sizes in ne", "1 to 4 sizes"),
        ("type = f32, ne = []", "ne", "0 sizes in ne", "1 to 4 sizes"),
        ("type = f32, ne = [5, 3], view_offs = 6", "view_offs", "view_offs is 6 for", "a multiple of 4"),
        ("type = f32, ne = [5], ne = [3]", "ne = [3]", "ne a second time", "one ne"),
        ("type = f33, ne = [5]", "f33", "`f33` is no type of ggml", "did you mean f32"),
        ("type = q4_0_8_8, ne = [32, 8]", "q4_0_8_8", "the type `q4_0_8_8`", "q4_0"),
        ("type = q8_0_r8, ne = [32, 8]", "q8_0_r8", "the type `q8_0_r8`", "q8_0"),
        ("ne = [5, 3]", "ne", "a tensor without a type", "type = f32"),
        ("type = f32, nb = [4]", "type", "a tensor without sizes", "ne = [5, 3]"),
        ("type = f32, ne = [5, x]", "x]", "`x` is no number", "0 or more"),
        ("type = f32, ne = [5", "", "the text ends here", "a number"),
        (
            "type = f32, ne = [5], view_ofs = 4",
            "view_ofs",
            "`view_ofs` is no type of ggml",
            "did you mean view_offs",
        ),
        ("type = f32, ne = [9223372036854775808]", "9", "9223372036854775808 does not fit 63 bits", "0 to"),
        ("1: 16 | 5, 3 | F32 | x", "16", "`16` elements for ne = [5, 3]", "15"),
    ] {
        let error = dialect::read_one(text).expect_err(text);
        assert!(error.found().starts_with(found), "{text}: {error}");
        assert!(error.accepted().unwrap_or_default().contains(accepts), "{text}: {error}");
        let place = if at.is_empty() { text.len() } else { text.find(at).unwrap() };
        assert_eq!(error.span().map(|span| span.start), Some(place), "{text}: {error}");
    }
}

#[test]
fn a_type_may_be_known_from_elsewhere() {
    assert_eq!(read("bf16 ne = [5, 3]").to_string(), "type = bf16, ne = [5, 3]");
    assert_eq!(read("ne = [5, 3] F16").to_string(), "type = f16, ne = [5, 3]");
    let known = dialect::Known { element: Some(Element::U8), ..Default::default() };
    let error = dialect::Reading::knowing(known).read_one("ne = [5]").unwrap_err();
    assert_eq!(error.found(), "elements of u8");
}

#[test]
fn tensors_are_found_in_a_log_line_by_line() {
    let log = "ggml_backend: using CPU\n\
        llama_model_loader: - tensor    0:                token_embd.weight q4_0     [  4096, 32000,     1,     1 ]\n\
        llama_model_loader: - tensor    1:           blk.0.attn_norm.weight f32      [  4096,     1,     1,     1 ]\n\
        view: type = f16, ne = [64, 32], nb = [2, 256]\n";
    let found = dialect::find(log);
    let texts: Vec<String> = found
        .all
        .iter()
        .flat_map(|sighting| sighting.found.as_ref().unwrap())
        .map(|found| found.said.to_string())
        .collect();
    assert_eq!(
        texts,
        [
            "type = q4_0, ne = [4096, 32000]",
            "type = f32, ne = [4096]",
            "type = f16, ne = [64, 32], nb = [2, 256]"
        ]
    );
}
