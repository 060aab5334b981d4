//! Layouts as JAX prints them.

use tilework::dialect::{self, Dialect, Known, Reading};
use tilework::{Element, Layout, Result};

fn layout(text: &str) -> Layout {
    let said = dialect::read_one(text).unwrap_or_else(|error| panic!("{}", error.report(text)));
    said.layout().unwrap()
}

#[test]
fn a_layout_of_jax_is_the_one_that_xla_writes_in_braces() {
    for (jax, xla) in [
        (
            "bf16[64,300] Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))",
            "bf16[64,300]{1,0:T(8,128)(2,1)}",
        ),
        ("bfloat16 (64, 300) Layout((0, 1), ((8, 128), (2, 1)), 0)", "bf16[64,300]{1,0:T(8,128)(2,1)}"),
        (
            "f32[3,5] DeviceLocalLayout(major_to_minor=(1, 0), _tiling=((2, 2),), _sub_byte_element_size_in_bits=0)",
            "f32[3,5]{0,1:T(2,2)}",
        ),
        (
            "bf16[2,3,4] Layout(major_to_minor=(0, 1, 2), tiling=((-9223372036854775808, -(2**63), 2),))",
            "bf16[2,3,4]{2,1,0:T(*,*,2)}",
        ),
        (
            "s4[9] Layout(major_to_minor=(0,), tiling=((4,),), sub_byte_element_size_in_bits=4)",
            "s4[9]{0:T(4)E(4)}",
        ),
        ("f32[] Layout(major_to_minor=(), tiling=((8,),))", "f32[]{:T(8)}"),
        (
            "f32[3,5] Layout(device_local_layout=DeviceLocalLayout(major_to_minor=(1, 0)), sharding=GSPMDSharding({replicated}))",
            "f32[3,5]{0,1}",
        ),
        ("f32[3,5] Format(Layout((1, 0)), SingleDeviceSharding(device=CpuDevice(id=0)))", "f32[3,5]{0,1}"),
        (
            "ShapeDtypeStruct(shape=(3, 5), dtype=float32, sharding=SingleDeviceSharding(device=CpuDevice(id=0), \
          memory_kind=device), format=Layout(major_to_minor=(1, 0), tiling=(), sub_byte_element_size_in_bits=0))",
            "f32[3,5]{0,1}",
        ),
    ] {
        assert_eq!(layout(jax), layout(xla), "{jax}");
    }
}

#[test]
fn the_sharding_is_kept_and_said_not_to_be_looked_at() -> Result<()> {
    let text = "f32[3,5] Format(layout=Layout(major_to_minor=(1, 0)), \
                sharding=NamedSharding(mesh=Mesh('x': 1, 'y': 1, axis_types=(Explicit,)), spec=P('x', 'y')))";
    let said = dialect::read_one(text)?;
    assert_eq!(said.to_string(), text);
    let parts = said.parts(None);
    assert!(parts.iter().any(|part| part.name == "sharding" && part.meaning.contains("not looked at")));
    Ok(())
}

#[test]
fn sizes_and_type_are_known_from_elsewhere() -> Result<()> {
    let known = Known::array(&[64, 300], Element::Bf16);
    let said =
        Reading::knowing(known).read_one("Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))")?;
    assert_eq!(said.to_string(), "bf16[64,300] Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))");
    Ok(())
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    for (text, at, found) in [
        ("f32[3,5] Layout((0, 1)) (2, 2)", "(2", "something after the layout"),
        ("torch.float23 [3, 5]", "torch", "this is no layout of JAX"),
        ("f32[3] Layout(major_to_minor=(0, 1))", "(0, 1)", "this major_to_minor of 1 dimension"),
        ("f32[3,5] Layout(major_to_minor=(0, 0))", "(0, 0)", "this major_to_minor of 2 dimensions"),
        ("f32[3,5] Layout(major_to_minor=(0, -1))", "-1", "dimension -1"),
        ("f32[3,5] Layout(major_to_minor=(0, 1), tiling=(8, 128))", "(8", "sizes where tiles are wanted"),
        ("f32[3,5] Layout(major_to_minor=(0, 1), tiling=((8, 0),))", "0),", "a tile size of 0"),
        (
            "f32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, -(2**63)),))",
            "(2, ",
            "a tile that ends with -(2**63)",
        ),
        ("f32[3,5] Layout(major_to_minor=(0, 1), tiling=((),))", "(),", "a tile without sizes"),
        ("f32[3,5] Layout(major_to_minor=(0, 1), tilling=())", "tilling", "Layout has no `tilling`"),
        (
            "f32[3,5] Layout(major_to_minor=(0, 1), major_to_minor=(0, 1))",
            "major",
            "major_to_minor a second time",
        ),
        ("f32[3,5] Layout(tiling=())", ")", "no major_to_minor"),
        ("f32[3,5] Layout(major_to_minor=(0, 1)", "", "the text ends here"),
        ("Layout(major_to_minor=(0, 1))", "Layout", "a layout of JAX alone"),
        ("f32[3,5] Format(layout=AUTO, sharding=None)", "AUTO", "AUTO is no layout yet"),
        ("f32[3,5] Format(layout=None, sharding=None)", "None, s", "no layout is said"),
        (
            "f32[3,5] Layout(major_to_minor=(0, 1), sub_byte_element_size_in_bits=-4)",
            "-4",
            "this is no number of bits",
        ),
        (
            "f32[3,5] Layout(major_to_minor=(0, 1), tiling=((9223372036854775807, 9223372036854775807),))",
            "((9",
            "overflow",
        ),
    ] {
        let jax = Dialect::named("jax").unwrap();
        let error = Reading { dialect: Some(jax), ..Reading::default() }.read_one(text).expect_err(text);
        assert!(error.found().contains(found), "{text}: {error}");
        let expected = if at.is_empty() { Some(text.len()) } else { text.rfind(at) };
        assert_eq!(error.span().map(|span| span.start), expected, "{}", error.report(text));
    }
}

#[test]
fn a_layout_without_an_order_is_refused_with_the_reason() -> Result<()> {
    let jax = Dialect::named("jax")?;
    for (text, why) in [
        ("f32[2,3]{strides(5,1)}", "no order with tiles says this layout"),
        ("f32[3]{0:L(8)}", "the end of the buffer is padded"),
    ] {
        let error = jax.say(&layout(text), Element::F32).expect_err(text);
        assert!(error.found().contains(why), "{text}: {error}");
    }
    let tiled = jax.say(&layout("bf16[64,300]{1,0:T(8,128)(2,1)}"), Element::Bf16)?;
    assert_eq!(tiled.to_string(), "bf16[64,300] Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))");
    Ok(())
}
