//! Which order of dimensions costs the least memory under a TPU's tile? For whoever ran out of it.

use tilework::Layout;

fn main() -> tilework::Result<()> {
    let dims = [8388608, 8, 4];
    let mut orders = vec![[2, 1, 0], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [0, 1, 2]];
    let bytes = |order: &[usize; 3], tile: [u64; 2]| -> tilework::Result<u64> {
        let layout = Layout::builder(&dims, 32)?.minor_to_major(order)?.tile(&tile.map(Some))?.build()?;
        Ok(layout.bytes())
    };
    orders.sort_by_key(|order| bytes(order, [8, 128]).unwrap_or(u64::MAX));
    println!("s32{dims:?} holds {} MiB of elements; allocated:", (4 * dims.iter().product::<u64>()) >> 20);
    for order in &orders {
        println!(
            "  minor to major {order:?}: {:>6} MiB in T(8,128), {:>6} MiB in T(4,128)",
            bytes(order, [8, 128])? >> 20,
            bytes(order, [4, 128])? >> 20,
        );
    }
    assert_eq!(bytes(&[2, 1, 0], [8, 128])? >> 30, 32);
    assert_eq!(bytes(&[0, 2, 1], [4, 128])? >> 30, 1);
    Ok(())
}
