//! Random layouts through every notation into every other: always the function of a plain model.

use std::collections::BTreeMap;

use tilework::dialect::{self, Said, Target, targets};
use tilework::{Element, Layout, Result, Swizzle};

/// How many layouts there are. They are the same in every run, and so are the pairs that they reach.
const LAYOUTS: usize = 350;

/// The least layouts of a pair of notations.
const LEAST: usize = 2;

/// Formats that have hardly a layout in common: of matrices or of rows at multiples of 256 bytes, and of images.
const APART: [[&str; 2]; 4] =
    [["ascend", "texture"], ["cublaslt", "cudnn"], ["cublaslt", "onnxruntime"], ["onnxruntime", "texture"]];

/// Random numbers that are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// An axis of the buffer: of a dimension the digit `index / unit % radix`, in as many places as `room`.
#[derive(Clone, Copy, Debug)]
struct Axis {
    dim: usize,
    unit: u64,
    radix: u64,
    room: u64,
}

/// A layout as sums: what a digit is multiplied by, and what is done with the sum.
#[derive(Debug)]
pub(crate) struct Model {
    dims: Vec<u64>,
    digits: Vec<(Axis, i64)>,
    base: u64,
    size: u64,
    /// Bits, base and shift.
    swizzle: Option<[u32; 3]>,
}

impl Model {
    /// The axes of a buffer, the most major first. Each has its digits behind it.
    fn of(dims: &[u64], axes: &[Axis]) -> Model {
        let mut size = 1;
        let mut digits = Vec::new();
        for axis in axes.iter().rev() {
            digits.push((*axis, size as i64));
            size *= axis.room;
        }
        Model { dims: dims.to_vec(), digits, base: 0, size, swizzle: None }
    }

    fn offset(&self, index: &[u64]) -> u64 {
        let digit = |axis: &Axis| (index[axis.dim] / axis.unit % axis.radix) as i64;
        let sum: i64 = self.digits.iter().map(|(axis, stride)| digit(axis) * stride).sum();
        let offset = self.base.checked_add_signed(sum).expect("no negative offsets");
        let Some([bits, base, shift]) = self.swizzle else { return offset };
        let above = offset >> (base + shift) & ((1 << bits) - 1);
        offset ^ above << base
    }

    /// The same, made of the library's terms.
    pub(crate) fn layout(&self, bits: u32) -> Result<Layout> {
        let mut terms = Layout::terms(&self.dims, bits)?;
        for dim in 0..self.dims.len() {
            let mut own: Vec<_> = self.digits.iter().filter(|(axis, _)| axis.dim == dim).collect();
            own.sort_by_key(|(axis, _)| axis.unit);
            let mut rest = terms.dim(dim)?;
            while let Some(((axis, stride), more)) = own.split_first() {
                if more.is_empty() {
                    terms.add(rest, *stride)?;
                    break;
                }
                let (above, digit) = terms.split(rest, axis.radix)?;
                terms.add(digit, *stride)?;
                (rest, own) = (above, more.to_vec());
            }
        }
        let layout = terms.build(Some(self.base), Some(self.size))?;
        match self.swizzle {
            Some([bits, base, shift]) => layout.swizzled(&Swizzle::new(bits, base, shift as i32)?),
            None => Ok(layout),
        }
    }

    /// One more than the last place of an element.
    fn end(&self) -> u64 {
        1 + crate::common::indices(&self.dims).map(|index| self.offset(&index)).max().unwrap_or(0)
    }
}

/// The axes of dimensions that are cut, each in as many places as it has values: those before the cuts in one order, and
/// what is within them in the order of the cuts.
fn cut(dims: &[u64], order: &[usize], cuts: &[(usize, u64)]) -> Vec<Axis> {
    let mut units = vec![1; dims.len()];
    let mut axes = Vec::new();
    for &(dim, radix) in cuts.iter().rev() {
        axes.push(Axis { dim, unit: units[dim], radix, room: radix });
        units[dim] *= radix;
    }
    for &dim in order.iter().rev() {
        let room = dims[dim].div_ceil(units[dim]);
        axes.push(Axis { dim, unit: units[dim], radix: u64::MAX, room });
    }
    axes.reverse();
    axes
}

/// A layout of some kind, and its elements.
pub(crate) fn random(random: &mut Random) -> (Model, Element) {
    let kind = random.below(16);
    let rank = match kind {
        3 | 4 | 11 | 12 => 4,
        5..=7 | 10 | 13 => 2,
        _ => 1 + random.below(4),
    };
    let most = if rank == 2 { 70 } else { 12 };
    let mut dims: Vec<u64> = (0..rank).map(|_| 1 + random.below(most) as u64).collect();
    let mut order: Vec<usize> = (0..rank).collect();
    if random.one_in(2) {
        random.shuffle(&mut order);
    }
    use Element::{Bf16, F8e4m3fn, F16, F32, F64, Pred, S4, S8, S32, U8};
    let mut element = random.pick(&[F32, F32, F16, F16, Bf16, S8, U8, F64, S32, Pred, F8e4m3fn, S4]);
    let model = match kind {
        // Dense.
        0 | 14 | 15 => Model::of(&dims, &cut(&dims, &order, &[])),
        // Every dimension has room to spare, which may end with the last element.
        1 => {
            let mut axes = cut(&dims, &order, &[]);
            axes.iter_mut().for_each(|axis| axis.room += random.below(4) as u64);
            axes[0].room -= random.below(2) as u64 * (axes[0].room - dims[axes[0].dim]);
            let mut model = Model::of(&dims, &axes);
            if random.one_in(2) {
                model.size = model.end();
            }
            model
        }
        // Blocks of some dimensions.
        2 => {
            let mut cuts: Vec<(usize, u64)> = Vec::new();
            for dim in 0..rank {
                if random.one_in(2) {
                    cuts.push((dim, random.pick(&[2, 4, 8, 16])));
                }
            }
            random.shuffle(&mut cuts);
            Model::of(&dims, &cut(&dims, &order, &cuts))
        }
        // Channels in vectors, behind all others or between them.
        3 => {
            let block = random.pick(&[2, 4, 8, 16, 32]);
            dims[1] += random.below(40) as u64;
            element = random.pick(&[S8, F16, F32]);
            let order = random.pick(&[[0, 1, 2, 3], [0, 2, 3, 1]]);
            Model::of(&dims, &cut(&dims, &order, &[(1, block)]))
        }
        // Filters in blocks of both channels.
        4 => {
            let block = random.pick(&[4, 8, 16]);
            Model::of(&dims, &cut(&dims, &[0, 1, 2, 3], &[(1, block), (0, block)]))
        }
        // Tiles within tiles: rows of words.
        5 => {
            let [rows, columns] = [random.pick(&[4, 8, 16]), random.pick(&[16, 32, 128])];
            let pack = random.pick(&[1, 2, 4]);
            let cuts = [(0, rows / pack), (1, columns), (0, pack)];
            Model::of(&dims, &cut(&dims, &[0, 1], &cuts))
        }
        // Fractal matrices, and faces within tiles.
        6 => {
            element = random.pick(&[F16, Bf16]);
            match random.below(3) {
                0 => Model::of(&dims, &cut(&dims, &[1, 0], &[(0, 16), (1, 16)])),
                1 => Model::of(&dims, &cut(&dims, &[0, 1], &[(0, 2), (1, 2), (0, 16), (1, 16)])),
                _ => {
                    element = S8;
                    dims[0] = random.pick(&[dims[0], 16, 32]);
                    Model::of(&dims, &cut(&dims, &[1, 0], &[(1, 32)]))
                }
            }
        }
        // Rows at multiples of 256 bytes.
        7 => {
            if random.one_in(3) {
                dims[1] = 256 / u64::from(element.bytes());
            }
            let mut axes = cut(&dims, &[0, 1], &[]);
            axes[1].room = dims[1].next_multiple_of(256 / u64::from(element.bytes()));
            let mut model = Model::of(&dims, &axes);
            model.size = model.end();
            model
        }
        // One dimension is repeated.
        8 => {
            let repeated = random.below(rank);
            let mut axes = cut(&dims, &order, &[]);
            axes.retain(|axis| axis.dim != repeated);
            let mut model = Model::of(&dims, &axes);
            model.digits.push((Axis { dim: repeated, unit: 1, radix: u64::MAX, room: 1 }, 0));
            model
        }
        // One dimension runs backward.
        9 => {
            let mut model = Model::of(&dims, &cut(&dims, &order, &[]));
            let reversed = random.below(rank);
            let (axis, stride) = &mut model.digits[reversed];
            model.base = (dims[axis.dim] - 1) * stride.unsigned_abs();
            *stride = -*stride;
            model
        }
        // Places are exchanged.
        10 => {
            dims = [random.pick(&[8, 16, 32]), random.pick(&[32, 64, 128])].to_vec();
            element = random.pick(&[F16, S8, F32]);
            let mut model = Model::of(&dims, &cut(&dims, &order, &[]));
            let bits = 1 + random.below(3) as u32;
            model.swizzle = Some([bits, random.below(4) as u32, bits + random.below(2) as u32]);
            model
        }
        // Channels last, of formats with names.
        11 => {
            element = random.pick(&[F16, F32, U8]);
            Model::of(&dims, &cut(&dims, &[0, 2, 3, 1], &[]))
        }
        // Sizes of powers of two, densely or in blocks of channels.
        12 => {
            dims.iter_mut().for_each(|size| *size = random.pick(&[1, 1, 2, 4]));
            dims[1] = random.pick(&[8, 16]);
            element = F32;
            let cuts = [(1, 8)];
            let order = random.pick(&[[0, 1, 2, 3], [0, 2, 3, 1]]);
            Model::of(&dims, &cut(&dims, &order, &cuts[..random.below(2)]))
        }
        // Digits of powers of two, in any order.
        _ => {
            dims = [random.pick(&[4, 8, 16]), random.pick(&[8, 16, 32])].to_vec();
            let mut axes = cut(&dims, &[0, 1], &[(0, 2), (0, 2), (1, 4), (1, 2)]);
            random.shuffle(&mut axes);
            Model::of(&dims, &axes)
        }
    };
    (model, element)
}

/// What a text says is the model, and its elements are where the model has them.
fn check(model: &Model, layout: &Layout, element: Element, said: &Said) -> Layout {
    let text = said.to_string();
    let read = dialect::read_one(&text).unwrap_or_else(|error| panic!("{}", error.report(&text)));
    assert_eq!(read.dialect(), said.dialect(), "{text}");
    assert!(read.may_be(element), "{text} is not of {element}");
    let found = read.layout().unwrap_or_else(|error| panic!("{text}: {error}"));
    let verdict = found.same_buffer(layout);
    assert!(verdict.is_yes(), "{text} of {model:?}: {verdict}");
    assert_eq!(found.size(), model.size, "{text}");
    let mut random = Random(model.size);
    for sample in 0..10 {
        let index: Vec<u64> = match sample {
            0 => model.dims.iter().map(|size| size - 1).collect(),
            _ => model.dims.iter().map(|&size| random.below(size as usize) as u64).collect(),
        };
        let offset = found.offset(&index).unwrap();
        assert_eq!(offset, model.offset(&index), "{text} at {index:?} of {model:?}");
    }
    found
}

#[test]
fn a_layout_stays_the_same_through_every_notation_into_every_other() {
    let mut random = Random(1);
    let all: Vec<Target> = targets().collect();
    let mut met: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut lost = Vec::new();
    for _ in 0..LAYOUTS {
        let (model, element) = self::random(&mut random);
        // Elements of 4 bits have bytes of their own, or not.
        let bits = if element == Element::S4 && random.one_in(2) { 4 } else { 8 * element.bytes() };
        let layout = model.layout(bits).unwrap_or_else(|error| panic!("{model:?}: {error}"));
        let said: Vec<_> = all.iter().map(|target| target.say(&layout, element).ok()).collect();
        for (from, first) in all.iter().zip(&said) {
            let Some(first) = first else { continue };
            let found = check(&model, &layout, element, first);
            for (to, directly) in all.iter().zip(&said) {
                // The same value is said in the same way.
                let second = if found == layout { directly.clone() } else { to.say(&found, element).ok() };
                if second.is_some() != directly.is_some() {
                    lost.push(format!("{} -> {}: {model:?} {first}", from.name(), to.name()));
                }
                let Some(second) = second else { continue };
                if found != layout {
                    check(&model, &layout, element, &second);
                }
                *met.entry((from.name(), to.name())).or_default() += 1;
            }
        }
    }
    assert!(
        lost.is_empty(),
        "said of the layout, and not of what a notation made of it, or the other way:\n{lost:#?}"
    );
    for (place, from) in all.iter().enumerate() {
        for to in &all[place..] {
            let pair = [from.name(), to.name()];
            let is_apart = APART.iter().any(|apart| apart.iter().all(|name| pair.contains(name)));
            let count = met.get(&(pair[0], pair[1])).copied().unwrap_or(0);
            assert!(count >= LEAST || is_apart, "{count} layouts from {} to {}", pair[0], pair[1]);
        }
    }
}
