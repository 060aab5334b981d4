//! Which Transposes of a graph need not be: those of constants, those that cancel, also through what treats all elements alike,
//! those that a product of matrices can do, and those at the ends.

use std::cmp::Reverse;
use std::collections::BTreeMap;

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
pub(super) struct Folding<'a> {
    graph: &'a Graph,
    movers: &'a Map<u32, Mover>,
    taken: Map<u32, ()>,
    savings: BTreeMap<Remedy, (Work, Vec<ArrayId>, u64)>,
}

impl<'a> Folding<'a> {
    pub(super) fn new(graph: &'a Graph, movers: &'a Map<u32, Mover>) -> Folding<'a> {
        Folding { graph, movers, taken: Map::default(), savings: BTreeMap::new() }
    }

    /// All that could be saved; `sized` gives the bytes of a tensor, if they are known.
    pub(super) fn savings(mut self, sized: impl Fn(Tensor) -> Option<u64>) -> Vec<Saved> {
        let mut numbers: Vec<u32> = self.movers.keys().copied().collect();
        numbers.sort_unstable();
        for &number in &numbers {
            if self.graph.constants.contains_key(&self.movers[&number].reads) {
                self.take(Remedy::KeepWeights, &[number]);
            }
        }
        for &number in &numbers {
            self.direct(number);
        }
        self.regions(&sized);
        for &number in &numbers {
            if self.is_of_products(number) {
                self.take(Remedy::Absorb, &[number]);
            }
        }
        for &number in &numbers {
            let mover = &self.movers[&number];
            let is_end =
                self.graph.inputs.contains_key(&mover.reads) || self.graph.outputs.contains_key(&mover.makes);
            if is_end {
                self.take(Remedy::Ends, &[number]);
            }
        }
        let mut list: Vec<Saved> =
            self.savings.into_iter().map(|(remedy, (work, arrays, _))| (remedy, work, arrays)).collect();
        list.sort_by_key(|(remedy, work, _)| (Reverse(work.cost()), *remedy));
        list
    }

    fn is_free(&self, number: u32) -> bool {
        self.movers.contains_key(&number) && !self.taken.contains_key(&number)
    }

    fn take(&mut self, remedy: Remedy, numbers: &[u32]) {
        self.take_but(remedy, numbers, &Work::default());
    }

    /// Notes Transposes that a remedy saves, less what it adds.
    fn take_but(&mut self, remedy: Remedy, numbers: &[u32], added: &Work) {
        let free: Vec<u32> = numbers.iter().copied().filter(|&number| self.is_free(number)).collect();
        let Some(&dearest) = free.iter().max_by_key(|&&number| {
            let mover = &self.movers[&number];
            (mover.work.cost(), Reverse(number))
        }) else {
            return;
        };
        let (sum, arrays, most) = self.savings.entry(remedy).or_default();
        let work = self.movers[&dearest].work;
        if arrays.is_empty() || work.touched > *most {
            (*arrays, *most) = (self.movers[&dearest].arrays.to_vec(), work.touched);
        }
        for number in free {
            sum.add(&self.movers[&number].work);
            self.taken.insert(number, ());
        }
        sum.count = sum.count.saturating_sub(added.count);
        sum.data = sum.data.saturating_sub(added.data);
        sum.touched = sum.touched.saturating_sub(added.touched);
    }

    fn readers(&self, tensor: Tensor) -> &[u32] {
        self.graph.readers.get(&tensor).map_or(&[], |readers| readers)
    }

    /// A Transpose whose result others transpose at once.
    fn direct(&mut self, number: u32) {
        let Some(first) = self.movers.get(&number).filter(|_| self.is_free(number)) else { return };
        let readers = self.readers(first.makes);
        let again = |reader: &&u32| self.graph.nodes[**reader as usize].what == What::Transpose;
        let back = readers.iter().filter(|&&reader| {
            self.movers.get(&reader).is_some_and(|second| undoes(&first.order, &second.order))
        });
        let mut saved: Vec<u32> = back.copied().collect();
        // Nobody else wants it, so those that go on can begin where it does.
        if !readers.is_empty()
            && readers.iter().all(|reader| again(&reader))
            && !self.graph.outputs.contains_key(&first.makes)
        {
            saved.push(number);
        }
        self.take(Remedy::JoinMoves, &saved);
    }

    /// Operations that hang together and treat all elements alike: do they cost less in the order from before the Transposes?
    fn regions(&mut self, sized: &impl Fn(Tensor) -> Option<u64>) {
        let graph = self.graph;
        let mut region: Vec<u32> = (0..graph.nodes.len() as u32).collect();
        let passes: Vec<bool> = graph.nodes.iter().map(|node| graph.passes(node)).collect();
        for (number, node) in graph.nodes.iter().enumerate().filter(|(number, _)| passes[*number]) {
            for tensor in graph.data(node) {
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
            enter.extend(graph.data(node).into_iter().filter(made_outside));
            leave.extend(&node.makes);
        }
        enter.sort_unstable();
        enter.dedup();
        let mover_of =
            |tensor: &Tensor| graph.maker.get(tensor).filter(|&&maker| self.is_free(maker)).copied();
        let mut orders: Vec<&[u8]> =
            enter.iter().filter_map(mover_of).map(|mover| &*self.movers[&mover].order).collect();
        orders.sort_unstable();
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
                let only_here = !graph.outputs.contains_key(tensor)
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
                let mut is_wanted = graph.outputs.contains_key(tensor);
                for &reader in self.readers(*tensor).iter().filter(|&&reader| !inside(reader)) {
                    match self.movers.get(&reader) {
                        Some(mover) if self.is_free(reader) => {
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
            saved.sort_unstable();
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
            node.what == What::Product && node.reads.iter().take(2).any(|&tensor| tensor == mover.makes)
        };
        swaps
            && !readers.is_empty()
            && readers.iter().all(is_product)
            && !self.graph.outputs.contains_key(&mover.makes)
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
