//! Which Transposes of a graph need not be: those of constants, those that cancel, also through what treats all elements alike,
//! those that a product of matrices can do, and those at the ends.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use tilework::InOrder;

use super::graph::{Graph, Tensor, What, undoes};
use crate::hash::Map;
use crate::log::ArrayId;
use crate::log::logged::{Remedy, Work};
use crate::log::savings::Saved;

/// A Transpose of the graph, as the log has it.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    pub(super) order: Box<[u8]>,
    pub(super) reads: Tensor,
    pub(super) makes: Tensor,
    pub(super) work: Work,
    pub(super) arrays: [ArrayId; 2],
}

/// The most orders that are tried for operations that hang together.
const TRIED: usize = 8;

/// What could be done, each Transpose in one of them.
///
/// Transposes one behind the other come first. Of all that follow each other from one tensor, one is needed for each order in
/// which something else reads it; what remains is looked at as if no others were there.
pub(super) struct Folding<'a> {
    graph: &'a Graph,
    /// Those of all Transposes that remain, as they would be.
    movers: Map<u32, Mover>,
    all: &'a Map<u32, Mover>,
    /// The tensor that is read instead of one that is not made any more.
    instead: Map<Tensor, Tensor>,
    readers: Map<Tensor, Vec<u32>>,
    outputs: Map<Tensor, ()>,
    taken: Map<u32, ()>,
    savings: BTreeMap<Remedy, (Work, Vec<ArrayId>, u64)>,
}

impl<'a> Folding<'a> {
    pub(super) fn new(graph: &'a Graph, all: &'a Map<u32, Mover>) -> Folding<'a> {
        Folding {
            graph,
            movers: Map::default(),
            all,
            instead: Map::default(),
            readers: Map::default(),
            outputs: Map::default(),
            taken: Map::default(),
            savings: BTreeMap::new(),
        }
    }

    /// All that could be saved; `sized` gives the bytes of a tensor, if they are known.
    pub(super) fn savings(mut self, sized: impl Fn(Tensor) -> Option<u64>) -> Vec<Saved> {
        self.direct();
        self.regions(&sized);
        let mut numbers: Vec<u32> = self.movers.keys().copied().collect();
        numbers.order();
        for &number in &numbers {
            if self.is_of_products(number) {
                self.take(Remedy::Absorb, &[number]);
            }
        }
        for &number in &numbers {
            let mover = &self.movers[&number];
            if self.graph.inputs.contains_key(&mover.reads) || self.outputs.contains_key(&mover.makes) {
                self.take(Remedy::Ends, &[number]);
            }
        }
        let mut list: Vec<Saved> =
            self.savings.into_iter().map(|(remedy, (work, arrays, _))| (remedy, work, arrays)).collect();
        list.order_by_key(|(remedy, work, _)| (Reverse(work.cost()), *remedy));
        list
    }

    /// Takes those of constants, and of those one behind the other all that are not needed.
    fn direct(&mut self) {
        let graph = self.graph;
        let mut numbers: Vec<u32> = self.all.keys().copied().collect();
        numbers.order();
        let is_constant = |number: &u32| graph.constants.contains_key(&self.all[number].reads);
        let (constant, numbers): (Vec<u32>, Vec<u32>) = numbers.into_iter().partition(is_constant);
        self.take(Remedy::KeepWeights, &constant);
        // From which tensor each comes that Transposes make, and in which order of its dimensions.
        let mut roots: Map<Tensor, (Tensor, Box<[u8]>)> = Map::default();
        // The first Transpose that makes each order of a tensor.
        let mut first: Map<(Tensor, Box<[u8]>), u32> = Map::default();
        for &number in &numbers {
            let mover = &self.all[&number];
            let (root, order) = match roots.get(&mover.reads) {
                Some((root, before)) if before.len() == mover.order.len() => {
                    (*root, mover.order.iter().map(|&dim| before[usize::from(dim)]).collect())
                }
                _ => (mover.reads, mover.order.clone()),
            };
            roots.insert(mover.makes, (root, order));
        }
        let is_mover = |number: &u32| self.all.contains_key(number);
        let mut spared = Vec::new();
        for &number in &numbers {
            let mover = &self.all[&number];
            let (root, order) = &roots[&mover.makes];
            let readers = graph.readers.get(&mover.makes).map_or(&[][..], |readers| readers);
            let is_read = graph.outputs.contains_key(&mover.makes) || !readers.iter().all(is_mover);
            if !is_read {
                spared.push(number);
            } else if order.is_sorted() {
                spared.push(number);
                self.instead.insert(mover.makes, *root);
            } else if let Some(same) = first.get(&(*root, order.clone())) {
                spared.push(number);
                self.instead.insert(mover.makes, self.all[same].makes);
            } else {
                first.insert((*root, order.clone()), number);
                let own = Mover { order: order.clone(), reads: *root, ..mover.clone() };
                self.movers.insert(number, own);
            }
        }
        self.take(Remedy::JoinMoves, &spared);
        for (number, node) in graph.nodes.iter().enumerate() {
            let number = number as u32;
            match (self.movers.get(&number), self.all.contains_key(&number)) {
                (Some(mover), _) => self.readers.entry(mover.reads).or_default().push(number),
                (None, true) => {}
                (None, false) => {
                    for &tensor in &node.reads {
                        let tensor = self.instead.get(&tensor).copied().unwrap_or(tensor);
                        let readers = self.readers.entry(tensor).or_default();
                        if readers.last() != Some(&number) {
                            readers.push(number);
                        }
                    }
                }
            }
        }
        for &tensor in graph.outputs.keys() {
            self.outputs.insert(self.now(tensor), ());
        }
    }

    /// The tensor that is read for this one.
    fn now(&self, tensor: Tensor) -> Tensor {
        self.instead.get(&tensor).copied().unwrap_or(tensor)
    }

    fn is_free(&self, number: u32) -> bool {
        self.all.contains_key(&number) && !self.taken.contains_key(&number)
    }

    fn take(&mut self, remedy: Remedy, numbers: &[u32]) {
        self.take_but(remedy, numbers, &Work::default());
    }

    /// Notes Transposes that a remedy saves, less what it adds.
    fn take_but(&mut self, remedy: Remedy, numbers: &[u32], added: &Work) {
        let free: Vec<u32> = numbers.iter().copied().filter(|&number| self.is_free(number)).collect();
        let Some(&dearest) = free.iter().max_by_key(|&&number| {
            let mover = &self.all[&number];
            (mover.work.cost(), Reverse(number))
        }) else {
            return;
        };
        let (sum, arrays, most) = self.savings.entry(remedy).or_default();
        let work = self.all[&dearest].work;
        if arrays.is_empty() || work.touched > *most {
            (*arrays, *most) = (self.all[&dearest].arrays.to_vec(), work.touched);
        }
        for number in free {
            sum.add(&self.all[&number].work);
            self.taken.insert(number, ());
        }
        sum.count = sum.count.saturating_sub(added.count);
        sum.data = sum.data.saturating_sub(added.data);
        sum.touched = sum.touched.saturating_sub(added.touched);
    }

    fn readers(&self, tensor: Tensor) -> &[u32] {
        self.readers.get(&tensor).map_or(&[], |readers| readers)
    }

    /// Operations that hang together and treat all elements alike: do they cost less in the order from before the Transposes?
    fn regions(&mut self, sized: &impl Fn(Tensor) -> Option<u64>) {
        let graph = self.graph;
        let mut region: Vec<u32> = (0..graph.nodes.len() as u32).collect();
        let passes: Vec<bool> = graph.nodes.iter().map(|node| graph.passes(node)).collect();
        for (number, node) in graph.nodes.iter().enumerate().filter(|(number, _)| passes[*number]) {
            for tensor in graph.data(node) {
                let tensor = self.now(tensor);
                if let Some(&maker) = graph.maker.get(&tensor).filter(|&&maker| passes[maker as usize]) {
                    let (a, b) = (root(&mut region, number as u32), root(&mut region, maker));
                    region[a.max(b) as usize] = a.min(b);
                }
            }
        }
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for number in (0..graph.nodes.len() as u32).filter(|&number| passes[number as usize]) {
            members.entry(root(&mut region, number)).or_default().push(number);
        }
        for nodes in members.values() {
            self.region(nodes, sized);
        }
    }

    fn region(&mut self, nodes: &[u32], sized: &impl Fn(Tensor) -> Option<u64>) {
        let graph = self.graph;
        let inside = |number: u32| nodes.binary_search(&number).is_ok();
        let (mut enter, mut leave): (Vec<Tensor>, Vec<Tensor>) = (Vec::new(), Vec::new());
        for &number in nodes {
            let node = &graph.nodes[number as usize];
            let made_outside = |tensor: &Tensor| !graph.maker.get(tensor).is_some_and(|&maker| inside(maker));
            let data = graph.data(node).into_iter().map(|tensor| self.now(tensor));
            enter.extend(data.filter(made_outside));
            leave.extend(&node.makes);
        }
        enter.order();
        enter.dedup();
        let is_left = |number: u32| self.movers.contains_key(&number) && self.is_free(number);
        let mover_of = |tensor: &Tensor| graph.maker.get(tensor).copied().filter(|&maker| is_left(maker));
        let mut orders: Vec<&[u8]> =
            enter.iter().filter_map(mover_of).map(|mover| &*self.movers[&mover].order).collect();
        orders.order();
        orders.dedup();
        let mut best: Option<(Vec<u32>, Work, u64)> = None;
        for order in orders.into_iter().take(TRIED) {
            let (mut saved, mut added) = (Vec::new(), Work::default());
            let mut add = |tensor: Tensor| {
                let bytes = sized(tensor);
                let (data, touched) = (bytes.unwrap_or(0), bytes.unwrap_or(0).saturating_mul(2));
                let unsized_count = u64::from(bytes.is_none());
                added.add(&Work { count: 1, data, touched, unsized_count, ..Work::default() });
            };
            for tensor in &enter {
                let only_here = !self.outputs.contains_key(tensor)
                    && self.readers(*tensor).iter().all(|&reader| inside(reader));
                match mover_of(tensor) {
                    Some(mover) if *self.movers[&mover].order == *order => {
                        if only_here {
                            saved.push(mover);
                        }
                    }
                    // It gives another order then.
                    Some(_) if only_here => {}
                    _ => add(*tensor),
                }
            }
            for tensor in &leave {
                let mut is_wanted = self.outputs.contains_key(tensor);
                for &reader in self.readers(*tensor).iter().filter(|&&reader| !inside(reader)) {
                    match self.movers.get(&reader) {
                        Some(mover) if is_left(reader) => {
                            if undoes(order, &mover.order) {
                                saved.push(reader);
                            }
                        }
                        _ => is_wanted = true,
                    }
                }
                if is_wanted {
                    add(*tensor);
                }
            }
            saved.order();
            saved.dedup();
            let mut sum = Work::default();
            for number in &saved {
                sum.add(&self.movers[number].work);
            }
            let is_sized = sum.unsized_count == 0 && added.unsized_count == 0;
            let gain = match is_sized {
                true => sum.touched.saturating_sub(added.touched),
                false => sum.count.saturating_sub(added.count),
            };
            if gain > 0 && sum.count > added.count && best.as_ref().is_none_or(|(.., most)| gain > *most) {
                best = Some((saved, added, gain));
            }
        }
        if let Some((saved, added, _)) = best {
            self.take_but(Remedy::JoinMoves, &saved, &added);
        }
    }

    /// Whether all that reads the result of a Transpose are products of matrices that can take it as it was.
    fn is_of_products(&self, number: u32) -> bool {
        let mover = &self.movers[&number];
        let readers = self.readers(mover.makes);
        let rank = mover.order.len();
        // One that swaps nothing is none.
        let swaps = rank >= 2 && (0..rank - 2).all(|dim| usize::from(mover.order[dim]) == dim);
        let is_product = |reader: &u32| {
            let node = &self.graph.nodes[*reader as usize];
            node.what == What::Product
                && node.reads.iter().take(2).any(|&tensor| self.now(tensor) == mover.makes)
        };
        swaps
            && !readers.is_empty()
            && readers.iter().all(is_product)
            && !self.outputs.contains_key(&mover.makes)
    }
}

/// The first node of those that hang together.
fn root(region: &mut [u32], mut number: u32) -> u32 {
    while region[number as usize] != number {
        let next = region[number as usize];
        region[number as usize] = region[next as usize];
        number = next;
    }
    number
}
