//! The graph of a model: operations, what they read and make, and in which order of its dimensions each tensor lies.
//!
//! Every tensor of ONNX lies row by row. So a Transpose moves elements, and the order that it gives follows from what the tensor
//! was made as: `order (0, 2, 3, 1)` behind a Transpose, passed on by whatever treats all elements alike.

use crate::budget::Budget;
use crate::hash::Map;
use crate::texts::Text;

/// The number of a tensor: the hash of its name.
pub(super) type Tensor = u64;

/// The most nodes, and the most dimensions of a tensor.
pub(super) const LIMIT: usize = 1 << 20;
pub(super) const RANK: usize = 16;

/// What an operation is to the order of the dimensions of what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Transpose,
    /// Its first input and all its outputs may lie in any order, if in the same.
    First,
    /// So may all of its inputs.
    All,
    /// The same, but what it makes has other sizes.
    Split,
    Concat,
    /// A product of matrices, which may take one of them transposed.
    Product,
    Constant,
    Other,
}

impl What {
    pub(super) fn of(operation: &[u8]) -> What {
        match operation {
            b"Transpose" => What::Transpose,
            b"MatMul" | b"Gemm" => What::Product,
            b"Constant" => What::Constant,
            b"Relu" | b"LeakyRelu" | b"ThresholdedRelu" | b"Sigmoid" | b"Tanh" | b"Elu" | b"Celu" | b"Selu"
            | b"Gelu" | b"Erf" | b"Exp" | b"Log" | b"Sqrt" | b"Neg" | b"Abs" | b"Cast" | b"CastLike"
            | b"Clip" | b"HardSwish" | b"HardSigmoid" | b"Swish" | b"Mish" | b"Identity" | b"Dropout"
            | b"Softplus" | b"Softsign" | b"Round" | b"Floor" | b"Ceil" | b"Sign" | b"Reciprocal" | b"Not"
            | b"IsNaN" | b"IsInf" | b"Sin" | b"Cos" | b"Shrink"
            // The dimension that they are about is an attribute, which may be another one as well.
            | b"Softmax" | b"LogSoftmax" | b"Hardmax" => What::First,
            b"Add" | b"Sub" | b"Mul" | b"Div" | b"Pow" | b"Max" | b"Min" | b"Sum" | b"Mean" | b"Where"
            | b"Equal" | b"Greater" | b"GreaterOrEqual" | b"Less" | b"LessOrEqual" | b"And" | b"Or"
            | b"Xor" | b"Mod" | b"PRelu" => What::All,
            b"Split" => What::Split,
            b"Concat" => What::Concat,
            _ => What::Other,
        }
    }

    pub(super) fn passes(self) -> bool {
        matches!(self, What::First | What::All | What::Split | What::Concat)
    }

    /// Whether only the first input matters.
    fn is_of_first(self) -> bool {
        matches!(self, What::First | What::Split)
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) operation: Text,
    pub(super) name: Text,
    pub(super) reads: Box<[Tensor]>,
    pub(super) makes: Box<[Tensor]>,
    /// Of a Transpose: the dimension of what it reads that each dimension of what it makes is, if it says so.
    pub(super) order: Option<Box<[u8]>>,
    /// Whether what it makes has the element type of what it reads.
    pub(super) keeps_type: bool,
}

/// What is known of a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The number of the element type; 0 if it is not known.
    pub(super) element: u64,
    /// The sizes, each 1 if only its name is said; none if not even their number is known.
    pub(super) sizes: Option<Box<[(u64, Text)]>>,
}

/// Everything that was read of the graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) known: Map<Tensor, Known>,
    /// Tensors that are the same in every run.
    pub(super) constants: Map<Tensor, ()>,
    pub(super) inputs: Map<Tensor, ()>,
    pub(super) outputs: Map<Tensor, ()>,
    /// Which node makes a tensor, and which read it.
    pub(super) maker: Map<Tensor, u32>,
    pub(super) readers: Map<Tensor, Vec<u32>>,
    /// In which order of its dimensions a tensor lies.
    pub(super) orders: Map<Tensor, Box<[u8]>>,
    /// Bytes that are counted besides lists and maps.
    pub(super) taken: usize,
}

impl Graph {
    /// Counts bytes that are held of the graph.
    pub(super) fn take(&mut self, budget: &Budget, bytes: usize) -> bool {
        let fits = budget.take(bytes);
        self.taken += if fits { bytes } else { 0 };
        fits
    }

    /// Gives all of it back.
    pub(super) fn given_back(self, budget: &Budget) {
        budget.give(self.taken);
        budget.give_list(&self.nodes);
        budget.give_map(&self.known);
        budget.give_map(&self.constants);
        budget.give_map(&self.inputs);
        budget.give_map(&self.outputs);
    }

    /// Connects what was read; false if there is no memory for it.
    pub(super) fn connect(&mut self, budget: &Budget) -> bool {
        let ends: usize = self.nodes.iter().map(|node| node.reads.len() + node.makes.len()).sum();
        // An entry in each of the maps, also of those that are made of them to conclude, and a list with room for four readers.
        if !self.take(budget, ends * 320 + self.nodes.len() * (16 * RANK + 256)) {
            return false;
        }
        for (number, node) in self.nodes.iter().enumerate() {
            for &tensor in &node.makes {
                self.maker.entry(tensor).or_insert(number as u32);
            }
            for &tensor in &node.reads {
                let readers = self.readers.entry(tensor).or_default();
                // One that reads it twice reads it.
                if readers.last() != Some(&(number as u32)) {
                    readers.push(number as u32);
                }
            }
        }
        // A model lists each operation behind those that make what it reads.
        for number in 0..self.nodes.len() {
            self.pass_on(number);
        }
        true
    }

    /// Notes what follows of the results of an operation.
    fn pass_on(&mut self, number: usize) {
        let node = &self.nodes[number];
        if node.what == What::Constant {
            self.constants.extend(node.makes.iter().map(|&tensor| (tensor, ())));
        }
        let (Some(&first), Some(&result)) = (node.reads.first(), node.makes.first()) else { return };
        match node.what {
            What::Transpose => {
                let Some(order) = self.transposed(number) else { return };
                let own = self.order_of(first, order.len());
                let known = self.known.get(&first).cloned().unwrap_or_default();
                let sizes = known.sizes.filter(|sizes| sizes.len() == order.len());
                let sizes = sizes.map(|sizes| order.iter().map(|&dim| sizes[usize::from(dim)]).collect());
                let entry = self.known.entry(result).or_default();
                entry.element = if entry.element == 0 { known.element } else { entry.element };
                entry.sizes = entry.sizes.take().or(sizes);
                if let Some(own) = own {
                    self.orders.insert(result, order.iter().map(|&dim| own[usize::from(dim)]).collect());
                }
                if self.constants.contains_key(&first) {
                    self.constants.insert(result, ());
                }
            }
            what if what.passes() => {
                let all = if what.is_of_first() { &node.reads[..1] } else { &node.reads[..] };
                if all.iter().all(|tensor| self.constants.contains_key(tensor)) {
                    self.constants.extend(node.makes.iter().map(|&tensor| (tensor, ())));
                }
                let data: Vec<Tensor> =
                    all.iter().copied().filter(|&tensor| self.has_order(tensor)).collect();
                let ranks: Option<Vec<usize>> = data.iter().map(|&tensor| self.rank(tensor)).collect();
                let Some(&rank) = ranks.as_ref().and_then(|ranks| ranks.iter().max()) else { return };
                let orders: Vec<_> = data.iter().filter(|&&tensor| self.rank(tensor) == Some(rank)).collect();
                let Some(order) = orders.first().and_then(|&&tensor| self.order_of(tensor, rank)) else {
                    return;
                };
                let is_one = orders
                    .iter()
                    .all(|&&tensor| self.order_of(tensor, rank).is_some_and(|other| other == order));
                // Of what is joined or divided, the sizes are others, and of what is compared, the type.
                let known =
                    data.first().and_then(|tensor| self.known.get(tensor)).cloned().unwrap_or_default();
                let is_same =
                    |tensor: &Tensor| self.known.get(tensor).is_some_and(|other| other.sizes == known.sizes);
                let has_sizes = matches!(what, What::First | What::All) && data.iter().all(is_same);
                let keeps_type = node.keeps_type;
                for tensor in node.makes.iter().copied() {
                    if is_one {
                        self.orders.insert(tensor, order.clone());
                    }
                    let entry = self.known.entry(tensor).or_default();
                    if keeps_type && entry.element == 0 {
                        entry.element = known.element;
                    }
                    if has_sizes && entry.sizes.is_none() {
                        entry.sizes.clone_from(&known.sizes);
                    }
                }
            }
            _ => {}
        }
    }

    /// Which dimension of what a Transpose reads each of what it makes is.
    pub(super) fn transposed(&self, number: usize) -> Option<Box<[u8]>> {
        let node = &self.nodes[number];
        match &node.order {
            Some(order) => Some(order.clone()),
            None => {
                let rank = self.rank(*node.reads.first()?)?;
                Some((0..rank as u8).rev().collect())
            }
        }
    }

    /// How many dimensions a tensor has, if that is known.
    pub(super) fn rank(&self, tensor: Tensor) -> Option<usize> {
        let known = self.known.get(&tensor).and_then(|known| known.sizes.as_ref());
        known.map(|sizes| sizes.len()).or_else(|| self.orders.get(&tensor).map(|order| order.len()))
    }

    /// The order in which a tensor of this rank lies: that of its dimensions, if nothing else is known.
    fn order_of(&self, tensor: Tensor, rank: usize) -> Option<Box<[u8]>> {
        let own = match self.orders.get(&tensor) {
            Some(order) => order.clone(),
            None => (0..rank as u8).collect(),
        };
        (own.len() == rank).then_some(own)
    }

    /// Whether it matters in which order a tensor lies: neither of a constant, which may be stored otherwise, nor of one number.
    pub(super) fn has_order(&self, tensor: Tensor) -> bool {
        !self.constants.contains_key(&tensor) && self.rank(tensor) != Some(0)
    }

    /// Those of what an operation that passes on reads whose order matters.
    pub(super) fn data(&self, node: &Node) -> Vec<Tensor> {
        let all =
            if node.what.is_of_first() { &node.reads[..node.reads.len().min(1)] } else { &node.reads[..] };
        all.iter().copied().filter(|&tensor| self.has_order(tensor)).collect()
    }

    /// Whether an operation passes on the order of what it reads: all of it has as many dimensions.
    pub(super) fn passes(&self, node: &Node) -> bool {
        let data = self.data(node);
        let rank = data.first().and_then(|&tensor| self.rank(tensor));
        node.what.passes() && rank.is_some() && data.iter().all(|&tensor| self.rank(tensor) == rank)
    }
}

/// Whether what an operation makes is of the type of what it reads.
pub(super) fn keeps_type(operation: &[u8]) -> bool {
    !matches!(
        operation,
        b"Cast"
            | b"CastLike"
            | b"IsNaN"
            | b"IsInf"
            | b"Equal"
            | b"Greater"
            | b"GreaterOrEqual"
            | b"Less"
            | b"LessOrEqual"
            | b"Where"
    )
}

/// Whether one order undoes the other.
pub(super) fn undoes(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && other.iter().enumerate().all(|(place, &dim)| usize::from(one[usize::from(dim)]) == place)
}

/// Whether a list has each dimension once.
pub(super) fn is_order(list: &[u64]) -> bool {
    let mut seen = [false; RANK];
    list.len() <= RANK
        && list.iter().all(|&dim| {
            let place = usize::try_from(dim).ok().filter(|&place| place < list.len());
            place.is_some_and(|place| !std::mem::replace(&mut seen[place], true))
        })
}
