//! Arrays whose elements are converted while they move: against one element after the other.

use crate::bits::{get, put};
use tilework::xla::{ArrayShape, Shape};
use tilework::{Element, Layout, PlanOptions};
use tilework_copy::{Conversion, Relayout, Threads};

fn array(text: &str) -> ArrayShape {
    Shape::parse(text).unwrap().as_array().unwrap().clone()
}

fn xla(text: &str) -> Layout {
    array(text).lower().unwrap()
}

fn check(from: &str, to: &str, fill: Option<u128>) {
    let conversion = Conversion::between(array(from).element_type(), array(to).element_type()).unwrap();
    check_with(conversion, from, to, fill);
}

fn check_with(conversion: Conversion, from: &str, to: &str, fill: Option<u128>) {
    let (source_layout, layout) = (xla(from), xla(to));
    let bits = (u64::from(conversion.from().bits()), u64::from(conversion.to().bits()));
    let noise = |count: u64| -> Vec<u8> { (0..count).map(|k| ((k * 2654435761) >> 13) as u8).collect() };
    let source = noise(source_layout.bytes());
    let mut found = noise(layout.bytes());
    let mut want = found.clone();
    if let Some(fill) = fill {
        (0..layout.size()).for_each(|place| put(&mut want, place, bits.1, fill as u64));
    }
    source_layout.for_each_in_index_order(|index, offset| {
        let mut one = [0; 8];
        conversion.run(1, &get(&source, offset, bits.0).to_le_bytes(), &mut one).unwrap();
        put(&mut want, layout.offset(index).unwrap(), bits.1, u64::from_le_bytes(one));
    });
    let options = PlanOptions { fill, ..PlanOptions::default() };
    let relayout = Relayout::converting(&source_layout, &layout, conversion, &options).unwrap();
    for threads in [1, 3] {
        let mut found = found.clone();
        relayout.run_on(&Threads::new(threads), &source, &mut found).unwrap();
        assert!(found == want, "{from:?} to {to:?} on {threads} threads");
    }
    relayout.run(&source, &mut found).unwrap();
    assert!(found == want);
}

#[test]
fn weights_are_packed_for_a_tpu_in_one_go() {
    check("f32[60,300]{1,0}", "bf16[60,300]{1,0:T(8,128)(2,1)}", Some(0));
    check("f32[60,300]{0,1}", "f8e4m3fn[60,300]{1,0:T(8,128)(4,1)}", None);
    check("s8[60,300]{1,0}", "s4[60,300]{1,0:T(8,128)(8,1)E(4)}", Some(5));
    check("s4[60,301]{1,0:E(4)}", "s8[60,301]{0,1}", None);
    check("bf16[64,256]{1,0:T(8,128)(2,1)}", "f32[64,256]{1,0}", None);
    check_with(Conversion::to_float_pairs(), "f64[33,77]{1,0}", "f64[33,77]{0,1}", Some(1));
}

#[test]
fn large_arrays_are_divided_among_threads() {
    check("f32[1001,903]{1,0}", "bf16[1001,903]{0,1}", None);
    check("u8[1001,903]{1,0}", "u4[1001,903]{0,1:E(4)}", None);
}

#[test]
fn widths_that_are_not_those_of_the_elements_are_refused() {
    let (f32s, halves) = (xla("f32[4]"), xla("bf16[4]"));
    let conversion = Conversion::new(Element::F32, Element::Bf16).unwrap();
    assert!(Relayout::converting(&halves, &f32s, conversion, &PlanOptions::default()).is_err());
    assert!(Relayout::converting(&f32s, &halves, conversion, &PlanOptions::default()).is_ok());
    // A plan may be made for a conversion that nobody gives.
    let options = PlanOptions { converts: true, ..PlanOptions::default() };
    let error = Relayout::new(&halves, &f32s, &options).unwrap_err();
    assert!(
        error.to_string().contains("elements of 16 bits in the source, 32 in the destination"),
        "{error}"
    );
}
