//! What NumPy, PyTorch and JAX print of arrays: what it means, and what is wrong with it.

use tilework::dialect::{self, Known, Reading};
use tilework::{Element, Layout, Result};

fn layout(text: &str) -> Layout {
    let said = dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    assert_eq!(said.dialect().name, "numpy", "{text}");
    said.layout().unwrap()
}

#[test]
fn every_way_to_print_an_array_is_read_as_the_same() -> Result<()> {
    let row_major = Layout::row_major(&[3, 5], 32)?;
    for text in [
        "float32[3,5]",
        "float32[3, 5]",
        "float32 (3, 5)",
        "(3, 5) float32",
        "(3, 5), float32",
        "np.float32 (3, 5)",
        "<class 'numpy.float32'> (3, 5)",
        "'float32' (3, 5)",
        "<f4 (3, 5)",
        "dtype('float32') (3, 5)",
        "np.dtype('<f4') (3, 5)",
        "torch.float32 [3, 5]",
        "torch.float32 torch.Size([3, 5])",
        "torch.Size([3, 5]) torch.float32",
        "shape=(3, 5), dtype=float32",
        "dtype=float32, shape=(3, 5)",
        "shape: (3, 5) dtype: float32",
        "x.shape=torch.Size([3, 5]) x.dtype=torch.float32",
        "shape (3, 5) dtype float32",
        "ShapeDtypeStruct(shape=(3, 5), dtype=float32, sharding=NamedSharding(mesh=Mesh('x': 4), spec=P('x',)))",
        "ShapedArray(float32[3,5], weak_type=True)",
        "jax.ShapeDtypeStruct((3, 5), jnp.float32)",
        "tensor(..., device='meta', size=(3, 5), dtype=torch.float32)",
        "FakeTensor(..., size=(3, 5), dtype=torch.float32)",
        "TensorMetadata(shape=torch.Size([3, 5]), dtype=torch.float32, requires_grad=False, stride=(5, 1), \
         memory_format=torch.contiguous_format, is_quantized=False, qparams={})",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }",
        "{'data': (9, False), 'strides': None, 'descr': [('', '<f4')], 'typestr': '<f4', 'shape': (3, 5), 'version': 3}",
        "float32 (3, 5) strides (20, 4)",
        "float32 (3, 5), strides=(20, 4)",
        "a.strides=(20, 4) a.shape=(3, 5) a.dtype=dtype('float32')",
        "torch.float32 [3,5] strides [5,1]",
        "torch.float32 (3, 5) stride() (5, 1)",
        "torch.float32 (3, 5) x.stride()=(5, 1)",
        "f32[3, 5][5, 1]cuda:0",
        "f32[3, 5][5, 1]cpu",
        "float32 (3, 5) order='C'",
        "torch.float32 [3, 5] memory_format=torch.contiguous_format",
        "torch.float32 [3, 5] layout=torch.strided device='cuda:0' requires_grad=True",
    ] {
        assert_eq!(layout(text), row_major, "{text}");
    }
    Ok(())
}

#[test]
fn strides_of_numpy_count_bytes_and_those_of_pytorch_elements() -> Result<()> {
    let strided = |strides: &[i64]| Layout::strided(&[2, 3], 32, strides, None, None);
    assert_eq!(layout("float32 (2, 3) strides (4, 8)"), strided(&[1, 2])?);
    assert_eq!(layout("torch.float32 (2, 3) strides (4, 8)"), strided(&[4, 8])?);
    assert_eq!(layout("float32 (2, 3) stride (4, 8)"), strided(&[4, 8])?);
    assert_eq!(layout("float32 (2, 3) strides (0, -4)"), strided(&[0, -1])?);
    assert_eq!(layout("torch.float32 (2, 3) stride (0, 1)"), strided(&[0, 1])?);
    Ok(())
}

#[test]
fn strides_that_no_index_uses_are_arbitrary() {
    assert_eq!(layout("float32 (1, 3) strides (999, 4)"), layout("float32 (1, 3)"));
    assert_eq!(layout("float32 (0, 3) strides (7, 9)"), layout("float32 (0, 3)"));
    assert_eq!(layout("torch.int8 (3, 1) stride (1, -5)"), layout("int8 (3, 1)"));
}

#[test]
fn an_element_takes_whole_bytes() {
    assert_eq!(layout("int4 (3, 5)").bits(), 8);
    assert_eq!(layout("torch.bool (3, 5)").bits(), 8);
    assert_eq!(layout("complex64 (3, 5)").bits(), 64);
}

#[test]
fn an_offset_is_where_the_first_element_is() -> Result<()> {
    assert_eq!(layout("int16 (2, 3) offset 8").offset(&[0, 0])?, 4);
    assert_eq!(layout("int16 (2, 3) strides (6, -2) offset 8").offset(&[0, 2])?, 2);
    assert_eq!(layout("torch.int16 (2, 3) storage_offset=8").offset(&[1, 0])?, 11);
    assert_eq!(layout("torch.int16 (2, 3) x.storage_offset()=8").size(), 14);
    assert_eq!(layout("int16 (2, 3) order='F' offset 2").offset(&[1, 1])?, 4);
    Ok(())
}

#[test]
fn what_is_not_said_is_known_from_elsewhere() -> Result<()> {
    let read = |text: &str, known: Known| Reading::knowing(known).read_one(text)?.layout();
    let known = Known::array(&[2, 3, 4, 5], Element::F32);
    assert_eq!(read("torch.channels_last", known)?, layout("torch.float32 (2, 3, 4, 5) torch.channels_last"));
    assert_eq!(read("strides=(240, 80, 20, 4)", known)?, layout("float32 (2, 3, 4, 5)"));
    assert_eq!(read("order='F'", known)?, layout("float32 (2, 3, 4, 5) order='F'"));
    assert_eq!(
        dialect::read_one("f32[2,3,4,5] torch.channels_last")?.layout()?,
        layout("torch.float32 (2, 3, 4, 5) stride (60, 1, 15, 3)")
    );
    Ok(())
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    for (text, at, found) in [
        ("torch.float23 (3, 5)", "torch", "there is no element type `torch.float23`"),
        (">f4 (3, 5)", ">f4", "there is no element type `>f4`"),
        ("bfloat16[3@x,5]", "@", "unexpected `@`"),
        ("float32 (3, 5) strides (20, 3)", "3)", "a stride of 3 for elements of 4 bytes"),
        ("float32 (3, 5) strides (4,)", "(4,)", "1 stride for 2 dimensions"),
        ("torch.float32 (3, 5) stride (5, -1)", "-1", "a stride of -1"),
        ("float32 (3, 5) (20, 4)", "(20", "sizes a second time"),
        ("float32 (3, -5)", "-5", "a size of -5"),
        ("float32 (3, 5.0)", "5.0", "unexpected `5.0`"),
        ("float32 (3, 5", "", "the text ends here"),
        ("dtype=float33 shape=(3, 5)", "float33", "there is no element type `float33`"),
        ("dtype('>f4') (3, 5)", "'>f4'", "there is no element type `>f4`"),
        ("dtype('O') (3, 5)", "'O'", "there is no element type `O`"),
        ("shape=(3, 5), dtype=i8", "i8", "there is no element type `i8`"),
        ("shape=(3, 5)", "", "no element type"),
        ("dtype=float32", "", "no sizes"),
        ("float32 (3, 5) strides", "", "nothing after strides"),
        ("float32 (3, 5) order='A'", "'A'", "an order that depends on another array"),
        ("float32 (3, 5) order='X'", "'X'", "this is no order"),
        ("torch.float32 (3, 5) order='F'", "'F'", "column-major"),
        ("torch.float32 (3, 5) torch.channels_last", "torch.ch", "torch.channels_last for 2 dimensions"),
        ("torch.float32 (3, 5) torch.preserve_format", "torch.pr", "an order that depends on another tensor"),
        ("torch.float8_e4m3 (3, 5)", "torch.float8", "there is no element type"),
        ("float8_e4m3 (1,) stride (1,)", "stride", "PyTorch has no element type f8e4m3"),
        ("torch.float32 (3, 5) layout=torch.sparse_coo", "torch.sp", "a layout without strides"),
        ("float32 (3, 5) offset=3", "3", "an offset of 3 for elements of 4 bytes"),
        ("float32 (3, 5) strides=(20, -4) offset=0", "0", "the first offsets are below 0"),
        ("float32 (3, 5) offset=-4", "-4", "this is no offset"),
        ("float32 (3, 5) strides=(20, 4) order='F'", "(20, 4)", "strides (20, 4)"),
        ("float32 (99999999999, 99999999999)", "(99", "the number of elements overflows 64 bits"),
        ("float32 (2, 3) strides (9223372036854775804, 4)", "(92", "the allocated bytes overflow 63 bits"),
        ("shape=(3, 5), dtype=float32, stryde=(5, 1)", "stryde", "`stryde` is not known"),
    ] {
        let numpy = dialect::Dialect::named("numpy").unwrap();
        let error = Reading { dialect: Some(numpy), ..Reading::default() }.read_one(text).expect_err(text);
        assert!(error.found().contains(found), "{text}: {error}");
        let start = error.span().map(|span| span.start);
        let expected = if at.is_empty() { Some(text.len()) } else { text.rfind(at) };
        assert_eq!(start, expected, "{}", error.report(text));
    }
}

#[test]
fn texts_of_other_notations_are_not_claimed() {
    for text in [
        "f32[3,5]",
        "f32[3,5]{1,0}",
        "f32",
        "(3, 5)",
        "(f32[3], s32[2])",
        "(2,3):(3,1)",
        "{1,0}",
        "FLOAT32 [2,3]",
        "float32[3,5]{1,0:T(2,2)}",
        "f32[3,5] nChw8c",
        "memref<3x5xf32>",
        "%a = f32[3,5] add(b, c)",
        "",
    ] {
        let numpy = dialect::Dialect::named("numpy").unwrap();
        assert_eq!((numpy.recognise)(text), None, "{text}");
    }
}

#[test]
fn a_layout_is_said_with_as_few_words_as_it_takes() -> Result<()> {
    let numpy = dialect::Dialect::named("numpy")?;
    let say = |text: &str| {
        let said = dialect::read_one(text)?;
        let element = said.element().ok_or(tilework::Error::new("no array"))?;
        numpy.say(&said.layout()?, element).map(|said| said.to_string())
    };
    assert_eq!(say("f32[3,5]")?, "float32 (3, 5)");
    assert_eq!(say("bf16[3,5]{0,1}")?, "bfloat16 (3, 5) strides (2, 6)");
    assert_eq!(say("s16[2,3]{strides(3,-1)}")?, "int16 (2, 3) strides (6, -2)");
    assert_eq!(say("s16[2]{strides(1),base(3)}")?, "int16 (2,) strides (2,) offset 6");
    assert_eq!(
        say("torch.float32 [2, 3, 4, 5] torch.channels_last")?,
        "float32 (2, 3, 4, 5) strides (240, 4, 60, 12)"
    );
    // What strides cannot say is code.
    assert_eq!(say("f32[3]{0:L(8)}")?, "np.pad(x, (0, 5)).ravel()  # x: float32 (3,)");
    for (text, why) in [
        ("f32[6,4]{1,0:T(3,2)(2,1)}", "quotients of several dimensions or of shifted ones"),
        ("s4[3,5]{1,0:E(4)}", "elements of 4 bits"),
    ] {
        let error = say(text).expect_err(text).to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
    Ok(())
}
