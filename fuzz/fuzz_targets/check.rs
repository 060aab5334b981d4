//! What holds for every layout, however it came to be.

use tilework::{Layout, Place};

/// Places up to which every one is looked at; beyond, some are picked. For one layout in eight it is more.
const ALL: [u64; 2] = [192, 2048];

/// Whether the layout of this seed is one of the eighth that gets all the time it needs.
pub fn is_thorough(seed: u64) -> bool {
    seed % 8 == 7
}

/// Goes from indices to offsets and back, and from offsets to indices and back.
///
/// Of a `compact` layout more is known: every element has a place of its own, and every place can be located.
pub fn check(layout: &Layout, compact: bool, seed: u64) {
    assert!(layout.size() <= i64::MAX as u64 && layout.bytes() <= i64::MAX as u64);
    assert!(!compact || layout.len() <= layout.size());
    if layout.offset(&vec![u64::MAX; layout.rank()]).is_ok() {
        assert_eq!(layout.rank(), 0, "an index beyond the array has no offset");
    }
    assert!(layout.offset(&vec![0; layout.rank() + 1]).is_err(), "an index of another rank has no offset");
    assert!(layout.locate(layout.size()).is_err(), "the place behind the last one is not in the buffer");

    let all = ALL[usize::from(is_thorough(seed))];
    let mut random = Random(seed);
    if !layout.is_empty() {
        for round in 0..32 {
            let index: Vec<u64> = layout.dims().iter().map(|&size| random.pick(size, round)).collect();
            there_and_back(layout, &index, compact);
        }
    }
    let mut elements = 0;
    let places = if layout.size() <= all { layout.size() } else { 128 };
    for place in 0..places {
        let offset = if layout.size() <= all { place } else { random.pick(layout.size(), place) };
        match layout.locate(offset) {
            Ok(Place::Element(index)) => {
                assert_eq!(layout.offset(&index), Ok(offset), "located at {index:?}");
                elements += 1;
            }
            Ok(Place::Padding(padding)) => {
                assert!(padding.dims.iter().all(|&dim| dim < layout.rank()), "{padding:?}");
            }
            Err(error) => assert!(!compact, "offset {offset} of {}: {error}", layout.size()),
        }
    }
    if layout.size() <= all {
        assert!(
            !compact || elements == layout.len(),
            "every element has one place, every other place is padding"
        );
        walks(layout, compact, all);
    }
}

/// All walks meet the same elements.
fn walks(layout: &Layout, compact: bool, all: u64) {
    let mut places = Vec::new();
    layout.for_each_in_memory_order(|index, offset| {
        assert_eq!(layout.offset(index), Ok(offset));
        places.push(offset);
    });
    assert!(places.is_sorted_by(|a, b| a < b), "in memory order, each place once");
    let runs: Vec<u64> = layout.runs().iter().flat_map(|run| run.offset..run.offset + run.len).collect();
    assert_eq!(runs, places);
    if layout.len() <= all {
        let mut count = 0;
        layout.for_each_in_index_order(|index, offset| {
            assert_eq!(layout.offset(index), Ok(offset));
            count += 1;
        });
        assert_eq!(count, layout.len());
        assert!(!compact || count == places.len() as u64);
    }
}

fn there_and_back(layout: &Layout, index: &[u64], compact: bool) {
    let offset = layout.offset(index).expect("an index within the dimensions has an offset");
    assert!(offset < layout.size(), "{index:?} at {offset} of {}", layout.size());
    match layout.locate(offset) {
        Ok(Place::Element(found)) if compact => assert_eq!(found, index, "at {offset}"),
        // Elements may share a place where strides are free.
        Ok(Place::Element(found)) => assert_eq!(layout.offset(&found), Ok(offset)),
        Ok(Place::Padding(padding)) => panic!("{index:?} at {offset} is said to be padding: {padding}"),
        Err(error) => assert!(!compact, "offset {offset}: {error}"),
    }
}

/// A small generator: the same input must take the same way each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 11
    }

    /// A number below `size`: the first, the last, then any.
    fn pick(&mut self, size: u64, round: u64) -> u64 {
        match round {
            0 => 0,
            1 => size - 1,
            _ if self.next().is_multiple_of(4) => size - 1 - self.next() % size.min(4),
            _ => self.next() % size,
        }
    }
}
