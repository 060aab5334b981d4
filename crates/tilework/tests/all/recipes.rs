//! Layouts as code of NumPy, PyTorch and einops, against a plain evaluation of what the code does.

use proptest::prelude::*;
use tilework::dialect::{self, Target};
use tilework::{Element, Layout};

use crate::common::{Recipe, indices, recipe_with};

/// The layout of code, and the code that is said for it.
fn again(text: &str) -> String {
    let said = dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    said.to_string()
}

fn say(target: &str, layout: &Layout) -> String {
    let said = Target::named(target).and_then(|target| target.say(layout, Element::F32));
    said.map_or_else(|error| format!("no: {}", error.found()), |said| said.to_string())
}

fn layout(text: &str) -> Layout {
    let said = dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    said.layout().unwrap()
}

#[test]
fn layouts_become_code() {
    for (text, target, code) in [
        (
            "f32[3,5]{1,0:T(2,2)}",
            "recipe",
            "np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).ravel()  # x: float32 (3, 5)",
        ),
        (
            "f32[3,5]{1,0:T(2,2)}",
            "torch",
            "torch.nn.functional.pad(x, (0, 1, 0, 1)).reshape(2, 2, 3, 2).permute(0, 2, 1, 3).ravel()  \
             # x: torch.float32 [3, 5]",
        ),
        (
            "f32[64,256]{1,0:T(8,128)}",
            "einops",
            "rearrange(x, \"(i0 i1) (j0 j1) -> i0 j0 i1 j1\", i1=8, j1=128)  # x: float32 (64, 256)",
        ),
        (
            "f32[3,5]{1,0:T(2,2)}",
            "einops",
            "rearrange(np.pad(x, ((0, 1), (0, 1))), \"(i0 i1) (j0 j1) -> i0 j0 i1 j1\", i1=2, j1=2)  # x: float32 (3, 5)",
        ),
        ("f32[3,5]{0,1}", "recipe", "x.transpose(1, 0).ravel()  # x: float32 (3, 5)"),
        ("f32[3,5]{0,1}", "einops", "rearrange(x, \"i j -> j i\")  # x: float32 (3, 5)"),
        ("f32[3,5]", "recipe", "x.ravel()  # x: float32 (3, 5)"),
        ("f32[]", "recipe", "x.ravel()  # x: float32 ()"),
        ("f32[]{:T(128)}", "recipe", "np.pad(x.ravel(), (0, 127))  # x: float32 ()"),
        ("f32[0,3]", "recipe", "x.ravel()  # x: float32 (0, 3)"),
        ("f32[3,1,5]{2,1,0}", "einops", "rearrange(x, \"i j k -> i j k\")  # x: float32 (3, 1, 5)"),
        // One row of tiles of 8 rows.
        (
            "f32[1,300]{1,0:T(8,128)}",
            "recipe",
            "np.pad(x, ((0, 7), (0, 84))).reshape(8, 3, 128).transpose(1, 0, 2).ravel()  # x: float32 (1, 300)",
        ),
        ("f32[3,5]{strides(8,1)}", "recipe", "np.pad(x, ((0, 0), (0, 3))).ravel()[:21]  # x: float32 (3, 5)"),
        (
            "f32[3]{strides(2),base(1),size(8)}",
            "recipe",
            "np.pad(np.pad(x.reshape(3, 1), ((0, 0), (0, 1))).ravel(), (1, 1))  # x: float32 (3,)",
        ),
        (
            "f32[2,3]{strides(0,1)}",
            "recipe",
            "np.lib.stride_tricks.as_strided(buffer, (2, 3), (0, 4))  # buffer: float32 (3,)",
        ),
        (
            "f32[2,3]{strides(3,-1)}",
            "recipe",
            "np.lib.stride_tricks.as_strided(buffer[2:], (2, 3), (12, -4))  # buffer: float32 (6,)",
        ),
        (
            "f32[6,4]{1,0:T(3,2)(2,1)}",
            "recipe",
            "no: the function has quotients of several dimensions or of shifted ones: 14·⌊i/3⌋",
        ),
        (
            "f32[3]{strides(1),base(2),size(16)}",
            "einops",
            "no: needs padding: 2 places before the first element",
        ),
        (
            "f32[3]{strides(2),size(6)}",
            "einops",
            "no: needs padding behind every element, which takes 2 places",
        ),
        (
            "f32[3,5]{strides(7,3)}",
            "einops",
            "no: 5 elements with a stride of 3 lie among others that are 7 apart",
        ),
        // Places 3 apart in groups of 4: the second group of 3 ends in the middle.
        (
            "f32[7]{0:T(3,1,6)(*,4,1,1)}",
            "recipe",
            "np.pad(np.pad(x, (0, 5)).reshape(2, 6, 1), ((0, 0), (0, 6), (0, 2))).transpose(1, 0, 2).reshape(12, 6)[..., :4].ravel()  \
             # x: float32 (7,)",
        ),
        (
            "f32[7]{0:T(3,1,6)(*,4,1,1)}",
            "torch",
            "torch.nn.functional.pad(torch.nn.functional.pad(x, (0, 5)).reshape(2, 6, 1), (0, 2, 0, 6)).permute(1, 0, 2)\
             .reshape(12, 6)[..., :4].ravel()  # x: torch.float32 [7]",
        ),
        ("f32[7]{0:T(3,1,6)(*,4,1,1)}", "einops", "no: needs padding between pieces of dimension 0"),
        // Two rows of 9 places, and 2 behind them.
        (
            "memref<4xf32, affine_map<(i) -> (i floordiv 2 * 20 + i mod 2 * 9)>>",
            "recipe",
            "np.pad(np.pad(x.reshape(2, 2, 1), ((0, 0), (0, 0), (0, 8))).reshape(2, 18), ((0, 0), (0, 2))).ravel()[:30]  \
             # x: float32 (4,)",
        ),
    ] {
        let said = say(target, &layout(text));
        match code.starts_with("no: ") {
            true => assert!(said.starts_with(code), "{text}: {said}"),
            false => assert_eq!(said, code, "{text}"),
        }
    }
}

#[test]
fn code_is_read_as_people_write_it() {
    let tiled = layout("f32[3,5]{1,0:T(2,2)}");
    for text in [
        "np.pad(x, ((0,1),(0,1))).reshape(2,2,3,2).transpose(0,2,1,3).ravel()  # x: float32 (3, 5)",
        "float32 (3, 5) np.pad(a, [(0, 1)]).reshape((2, 2, 3, 2)).transpose([0, 2, 1, 3])",
        "f32[3,5] np.transpose(np.reshape(np.pad(x, (0, 1), 'constant'), (2, 2, -1, 2)), (0, 2, 1, 3)).flatten()",
        "f32[3,5] np.ascontiguousarray(np.pad(x, pad_width=(0, 1), mode='constant').reshape(2, 2, 3, 2).swapaxes(1, 2))",
        "F.pad(x, (0, 1, 0, 1)).view(2, 2, 3, 2).transpose(1, 2).contiguous()  # x: torch.float32 [3, 5]",
        "np.pad(x, ((0, 1), (0, 5)))[:, :6].reshape(2, 2, 3, 2)[:, : ,:, :2].transpose(0, 2, 1, 3)  # x: float32 (3, 5)",
        "np.pad(x, ((0, 1), (0, 5)))[ ..., :6 ].reshape(2, 2, 3, 2)[:,:,:,:2].transpose(0, 2, 1, 3)  # x: float32 (3, 5)",
        "rearrange(np.pad(x, ((0, 1), (0, 1))), '(I i) (J j) -> (I J i j)', i=2, j=2)  # x: float32 (3, 5)",
        "einops.rearrange(np.pad(x, (0, 1)), \"(I i) (J j) -> I J () i j 1\", I=2, i=2, J=3, j=2) # float32 (3, 5)",
    ] {
        assert!(layout(text).same_buffer(&tiled).is_yes(), "{text}: {}", layout(text).canon());
        let printed = again(text);
        assert_eq!(again(&printed), printed);
    }
}

/// Other functions that move whole axes, against XLA's words for the same buffer.
/// A name alone is no code, so what is said of it has a call.
#[test]
fn code_that_only_copies_reads_back() {
    for text in [
        "x.contiguous()  # x: torch.int8 [3, 5]",
        "torch.clone(x)  # x: torch.int8 []",
        "np.copy(x)  # x: float32 (3, 5)",
        "np.ascontiguousarray(x).copy()  # x: float32 (0, 3)",
    ] {
        let said = again(text);
        assert_eq!(again(&said), said, "{text}");
        assert_eq!(layout(&said), layout(text), "{text}");
    }
}

#[test]
fn functions_that_move_axes_are_read() {
    for (text, buffer) in [
        ("x.T.ravel()  # x: float32 (4, 6)", "f32[4,6]{0,1}"),
        ("x.T  # x: float32 (4, 6)", "f32[4,6]{0,1}"),
        ("self.x.T.reshape(-1)  # x: float32 (4, 6)", "f32[4,6]{0,1}"),
        ("float32 (4, 6) x.T", "f32[4,6]{0,1}"),
        ("x.T.T.ravel()  # x: float32 (4, 6)", "f32[4,6]"),
        ("np.swapaxes(x, 0, 1).ravel()  # x: float32 (2, 3, 4)", "f32[2,3,4]{2,0,1}"),
        ("np.moveaxis(x, 0, -1).ravel()  # x: float32 (2, 3, 4)", "f32[2,3,4]{0,2,1}"),
        ("np.moveaxis(x, (0, 1), (-1, 0))  # x: float32 (2, 3, 4)", "f32[2,3,4]{0,2,1}"),
        ("np.moveaxis(x, source=2, destination=0)  # x: float32 (2, 3, 4)", "f32[2,3,4]{1,0,2}"),
        ("torch.movedim(x, 2, 0).contiguous()  # x: torch.float32 [2, 3, 4]", "f32[2,3,4]{1,0,2}"),
        ("np.expand_dims(x, 0).ravel()  # x: float32 (4, 6)", "f32[4,6]"),
        ("np.expand_dims(x, (0, -1)).T.ravel()  # x: float32 (4, 6)", "f32[4,6]{0,1}"),
        ("np.squeeze(x).T.ravel()  # x: float32 (4, 1, 6)", "f32[4,1,6]{0,1,2}"),
        ("x.ravel(order='F')  # x: float32 (4, 6)", "f32[4,6]{0,1}"),
        ("x.ravel('C')  # x: float32 (4, 6)", "f32[4,6]"),
        // Column-major, the 24 elements are 3 columns of 8.
        (
            "x.reshape(8, 3, order='F').ravel()  # x: float32 (4, 6)",
            "memref<4x6xf32, affine_map<(i, j) -> ((j mod 2 * 4 + i) * 3 + j floordiv 2)>>",
        ),
        (
            "np.reshape(x, (8, 3), 'F').ravel()  # x: float32 (4, 6)",
            "memref<4x6xf32, affine_map<(i, j) -> ((j mod 2 * 4 + i) * 3 + j floordiv 2)>>",
        ),
        ("rearrange(x, \"b ... c -> b c ...\")  # x: float32 (2, 3, 4, 5)", "f32[2,3,4,5]{2,1,3,0}"),
        ("rearrange(x, \"... c -> (c ...)\")  # x: float32 (2, 3, 4, 5)", "f32[2,3,4,5]{2,1,0,3}"),
        ("rearrange(x, \"e ... c -> c e ...\")  # x: float32 (2, 3)", "f32[2,3]{0,1}"),
    ] {
        let (own, buffer) = (layout(text), layout(buffer));
        assert!(own.same_buffer(&buffer).is_yes(), "{text}: {} not {}", own.canon(), buffer.canon());
        let printed = again(text);
        assert_eq!(again(&printed), printed);
        assert!(layout(&printed).same_buffer(&own).is_yes(), "{printed}");
    }
}

#[test]
fn code_that_does_something_else_is_refused_where_it_does() {
    for (text, at, found) in [
        ("x.ravel()", 9, "no element type"),
        ("f32[3,5] x.reshape(4, 4)", 11, "a reshape of 15 elements to other sizes"),
        ("f32[3,5] np.reshape(x, (5, 3), 'K')", 31, "an order of reshape"),
        ("f32[3,5] x.reshape((5, 3), 'F')", 19, "this is no whole number"),
        ("f32[3,5] x.reshape(5=3)", 19, "no name of an argument"),
        ("f32[3,5] x.reshape(shape: (5, 3))", 19, "no name of an argument"),
        ("f32[3,5] x.transpose(axes(1, 0))", 21, "unexpected `axes(1, 0)`"),
        ("f32[3,5] x.transpose(axes=(1, f(0)))", 30, "this is no whole number"),
        ("f32[3,5] x.reshape(-1, -1)", 11, "a reshape of 15 elements to other sizes"),
        ("f32[3,5] x.transpose(0, 0)", 11, "an order of 2 axes"),
        ("f32[3,5] x.transpose(0, 2)", 11, "axis 2 of 2"),
        ("f32[3,5] x.ravel(order='K')", 23, "an order of ravel"),
        ("torch.int8 [3, 5] x.flatten(1)", 28, "flattening in part"),
        ("f32[3,5] rearrange(x, \"... j -> j ...\", e0=3)", 22, "a size of `e0`, which is in no pattern"),
        ("f32[3,5] np.moveaxis(x, 0, 2)", 9, "axis 2 of 2"),
        ("f32[3,5] np.moveaxis(x, (0, 1), 1)", 9, "2 axes to 1"),
        ("f32[3,5] np.squeeze(x, 0)", 9, "axis 0 has 3 elements"),
        ("f32[3,5] np.pad(x, ((0, 1), (0, 1), (0, 1)))", 19, "widths for 3 axes of 2 axes"),
        ("f32[3,5] np.pad(x, 1, 'edge')", 22, "padding with elements of the array"),
        ("f32[3,5] x.ravel().sum()", 19, "`sum` is not read"),
        ("f32[3,5] x.ravel()[2:]", 18, "a part of the array"),
        ("f32[3,5] np.pad(x, (0, 1))[:, 1:6]", 26, "a part of the array"),
        ("f32[3,5] np.pad(x, (0, 1))[:, :, :6]", 26, "a part of the array"),
        ("f32[3,5] np.pad(x, (0, 1))[..., :7]", 26, "a part of the array"),
        ("f32[3,5] np.pad(x, (0, 1))[..., :4]", 0, "4 places, which do not hold all elements"),
        ("f32[3,5] np.pad(x, (0, 1))[..., 4]", 33, "unexpected"),
        ("f32[3,5] np.pad(x, ((0, 0), (0, 1))).reshape(2, 9)", 0, "a reshape cuts a dimension"),
        ("f32[3,5] rearrange(x, \"i j -> i\")", 22, "`j` stands on the left alone"),
        ("f32[3,5] rearrange(x, \"i j -> j i k\")", 22, "`k` stands on the right alone"),
        ("f32[3,5] rearrange(x, \"(i k) j -> j i k\")", 22, "the size of `i` is not said"),
        (
            "f32[3,5] rearrange(x, \"(i k) j -> j i k\", k=2)",
            22,
            "axes of 2 elements for dimension 0, which is 3",
        ),
        ("f32[3,5] rearrange(x, \"i i -> i\")", 22, "`i` a second time"),
        ("f32[3,5] rearrange(x, \"i (j 8) -> i j 8\")", 22, "`8` is no axis"),
        ("f32[3,5] rearrange(x, \"... j -> j\")", 22, "`...` on the left alone"),
        ("f32[3,5] rearrange(x, \"(... i) j -> j i ...\")", 22, "`...` within brackets on the left"),
        (
            "f32[3,5] rearrange(x, \"... i j k -> k i j ...\")",
            22,
            "3 dimensions on the left, and the array has 2",
        ),
        ("f32[3,5] rearrange(x, \"i ((j)) -> i j\")", 22, "brackets within brackets"),
        (
            "np.lib.stride_tricks.as_strided(b, (2, 3), (5, 4))  # b: float32 (24,)",
            43,
            "a stride of 5 for elements of 4 bytes",
        ),
        ("torch.as_strided(b, (2, 3), (5, -1))  # b: torch.float32 [24]", 28, "a stride of -1"),
        (
            "torch.as_strided(b, (2, 3), (5, 1))  # b: torch.float32 [7]",
            0,
            "size 7, but the last element is at offset 7",
        ),
    ] {
        let error = dialect::read(text).expect_err(text);
        assert!(error.found().starts_with(found), "{text}: {error}");
        let start = error.span().map(|span| span.start);
        assert!(at == 0 || start == Some(at), "{text}: {error} at {start:?}");
    }
}

/// Layouts whose tiles have more dimensions than the array, combine dimensions at every level, and are often of 1: their
/// pieces lie in blocks that end in the middle of a piece.
fn long_tiles() -> impl Strategy<Value = Recipe> {
    let size = || prop_oneof![5 => Just(Some(1)), 3 => (2..=6_u64).prop_map(Some), 2 => Just(None)];
    let last = prop_oneof![1 => Just(1), 2 => 2..=6_u64];
    let tile = (prop::collection::vec(size(), 1..=3), last)
        .prop_map(|(major, last)| major.into_iter().chain([Some(last)]).collect::<Vec<_>>());
    let dims = prop_oneof![1 => Just(vec![]), 8 => (1..=40_u64).prop_map(|size| vec![size]), 3 => prop::collection::vec(1..=9_u64, 2)];
    (dims, prop::collection::vec(tile, 2..=3))
        .prop_map(|(dims, tiles)| {
            let minor_to_major = (0..dims.len()).rev().collect();
            Recipe { dims, minor_to_major, padded: None, tiles, align: 1 }
        })
        .prop_filter("small enough to list", |recipe| {
            recipe.build().is_ok_and(|layout| layout.size() <= 100_000)
        })
}

/// What the code makes is the buffer, where the layout has digits, and only there is code.
fn check_code(layout: &Layout) -> Result<(), TestCaseError> {
    let text = say("recipe", layout);
    match layout.to_digits() {
        Err(_) => prop_assert!(text.starts_with("no: "), "{}", text),
        Ok(_) => {
            prop_assert!(!text.starts_with("no: "), "{}: {}", layout.canon(), text);
            let again = self::layout(&text);
            prop_assert_eq!(again.size(), layout.size());
            for index in indices(layout.dims()) {
                prop_assert_eq!(again.offset(&index), layout.offset(&index), "{}", text);
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_layout_of_digits_has_code(recipe in recipe_with(true)) {
        let layout = recipe.build().unwrap();
        prop_assume!(layout.len() < 5000);
        check_code(&layout)?;
    }

}

proptest! {
    // One in some hundred of these has such a block.
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn layouts_of_long_tiles_have_code(recipe in long_tiles()) {
        check_code(&recipe.build().unwrap())?;
    }
}
