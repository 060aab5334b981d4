//! Arrays of elements below a byte between layouts, whole: against one element after the other.

use crate::bits::{get, put};
use proptest::prelude::*;
use tilework::{Layout, PlanOptions};
use tilework_copy::{Inline, Pool, Relayout, Threads};

/// Moves an array and looks at every bit of the destination.
fn check(from: &Layout, to: &Layout, fill: Option<u128>, pool: &dyn Pool) {
    let bits = u64::from(to.bits());
    assert!(bits < 8, "an element of {bits} bits is not what is tested here");
    let noise = |count: u64, seed: u64| -> Vec<u8> {
        (0..count).map(|k| (((k + seed) * 2654435761) >> 13) as u8).collect()
    };
    let source = noise(from.bytes(), 7);
    let mut found = noise(to.bytes(), 1000);
    let mut want = found.clone();
    if let Some(fill) = fill {
        (0..to.size()).for_each(|place| put(&mut want, place, bits, fill as u64));
    }
    from.for_each_in_index_order(|index, offset| {
        put(&mut want, to.offset(index).unwrap(), bits, get(&source, offset, bits));
    });
    let relayout = Relayout::new(from, to, &PlanOptions { fill, ..PlanOptions::default() }).unwrap();
    relayout.run_on(pool, &source, &mut found).unwrap();
    assert!(found == want, "{from:?} to {to:?}");
}

fn xla(text: &str) -> Layout {
    tilework::xla::Shape::parse(text).unwrap().as_array().unwrap().lower().unwrap()
}

#[test]
fn packed_weights_move_between_rows_columns_and_tiles() {
    for (from, to) in [
        ("s4[300,500]{1,0:E(4)}", "s4[300,500]{0,1:E(4)}"),
        ("s4[301,503]{1,0:E(4)}", "s4[301,503]{0,1:E(4)}"),
        ("s4[64,300]{1,0:E(4)}", "s4[64,300]{1,0:T(8,128)(8,1)E(4)}"),
        ("s4[61,300]{1,0:T(8,128)(8,1)E(4)}", "s4[61,300]{1,0:E(4)}"),
        ("u2[100,200]{1,0:E(2)}", "u2[100,200]{1,0:T(16,128)(16,1)E(2)}"),
        ("s4[40,256]{1,0:E(4)}", "s4[40,256]{1,0:T(8,128)E(4)}"),
        ("s4[5,7,300]{2,1,0:E(4)}", "s4[5,7,300]{2,0,1:E(4)}"),
    ] {
        for fill in [None, Some(2)] {
            check(&xla(from), &xla(to), fill, &Inline);
        }
    }
}

#[test]
fn threads_share_no_byte() {
    check(&xla("s4[2000,1111]{1,0:E(4)}"), &xla("s4[2000,1111]{0,1:E(4)}"), None, &Threads::new(4));
    check(&xla("s4[1111,2001]{1,0:E(4)}"), &xla("s4[1111,2001]{0,1:E(4)}"), Some(3), &Threads::new(3));
    check(
        &xla("s4[3000,1001]{1,0:E(4)}"),
        &xla("s4[3000,1001]{1,0:T(8,128)E(4)}"),
        Some(5),
        &Threads::new(4),
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_two_tilings_of_packed_elements(
        rows in 1_u64..40,
        columns in 1_u64..300,
        tiles in prop::collection::vec((1_u64..10, 1_u64..140), 2),
        orders in (any::<bool>(), any::<bool>()),
        width in 0_usize..3,
        fill in prop::option::of(0_u128..2),
    ) {
        let name = ["u1", "u2", "s4"][width];
        let layout = |order: bool, tile: (u64, u64)| {
            let order = if order { "1,0" } else { "0,1" };
            xla(&format!("{name}[{rows},{columns}]{{{order}:T({},{})E({})}}", tile.0, tile.1, 1 << width))
        };
        check(&layout(orders.0, tiles[0]), &layout(orders.1, tiles[1]), fill, &Threads::new(2));
    }
}
