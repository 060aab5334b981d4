//! Which copies of an argument would not be needed if the argument were donated.
//!
//! What a program is given must stay as it is, unless it is donated. So a program that changes an argument copies it
//! first, and gives back the copy: a result of the same shape that lies in the place of no argument.

use std::cmp::Reverse;
use tilework::InOrder;

use crate::audit::Audit;
use crate::find::findings::Donation;
use crate::find::judged::Donatable;
use crate::hash::Map;
use crate::program::{Class, MoveKey, Parameter, Program, Tally};
use crate::shapes::ShapeId;
use crate::texts::Text;

/// Smaller arguments are not worth it.
const WORTH: u64 = 1 << 12;

impl Audit {
    /// Arguments that are not donated though a result of the same shape could lie in their place, the largest first.
    pub(crate) fn donatable(&self, program: &Program) -> Vec<Donatable> {
        let same = |shape: ShapeId| self.store.shapes.known(shape).same_as;
        let is_free =
            |&(number, _): &(u32, &ShapeId)| program.aliases.iter().all(|alias| alias.result != Some(number));
        // Results by shape, the first last.
        let mut free: Map<ShapeId, Vec<u32>> = Map::default();
        for (number, &shape) in (0..).zip(&program.results).filter(is_free) {
            free.entry(same(shape)).or_default().insert(0, number);
        }
        let mut found = Vec::new();
        for parameter in program.parameters.iter().filter(|parameter| !program.is_donated(parameter.number)) {
            let known = self.store.shapes.known(parameter.shape);
            let bytes =
                known.cost.filter(|_| known.shape.as_array().is_some()).map_or(0, |cost| cost.allocated);
            if bytes < WORTH {
                continue;
            }
            let Some(result) = free.get_mut(&same(parameter.shape)).and_then(Vec::pop) else { continue };
            let Some(name) = self.argument_name(program, parameter.name) else { continue };
            found.push(Donatable { name, number: parameter.number, result, bytes });
        }
        found.order_by_key(|each| (Reverse(each.bytes), each.number));
        found
    }

    /// What donating this argument would do to a copy of it.
    pub(crate) fn donation(
        &self,
        program: &Program,
        key: &MoveKey,
        tally: &Tally,
        argument: Text,
    ) -> Option<Donation> {
        let parameter = program.parameter(argument)?;
        if program.is_donated(parameter.number) {
            return Some(Donation::InVain);
        }
        let same = |shape: ShapeId| self.store.shapes.known(shape).same_as;
        let is_alike = |&(_, &shape): &(u32, &ShapeId)| same(shape) == same(parameter.shape);
        let is_free =
            |&(number, _): &(u32, &ShapeId)| program.aliases.iter().all(|alias| alias.result != Some(number));
        (0..).zip(&program.results).filter(is_alike).find(is_free)?;
        if !self.may_be_a_result(program, key, tally) {
            return None;
        }
        Some(if parameter.reads <= 1 { Donation::Removes } else { Donation::MayRemove })
    }

    /// Whether what a copy makes lies where a result will; where no buffers are known, it may.
    fn may_be_a_result(&self, program: &Program, key: &MoveKey, tally: &Tally) -> bool {
        if !program.has.assignment || key.result != 0 {
            return true;
        }
        // Of several that are alike, the first is known by its name.
        program.values.iter().filter(|value| value.name == tally.name).any(|value| {
            let allocation = program.allocations.get(value.allocation as usize);
            allocation.is_some_and(|allocation| allocation.class == Class::Result)
        })
    }

    /// What the program calls an argument.
    pub(crate) fn argument_name(&self, program: &Program, argument: Text) -> Option<String> {
        let source = program.parameter(argument).map_or(0, |parameter| parameter.source);
        let named = self.store.texts.text(self.store.sources.source(source).operation);
        // A path is the name of an operation that it was given to.
        match named.is_empty() || named.contains('/') {
            true => self.name(argument),
            false => Some(named.to_owned()),
        }
    }
}

impl Program {
    /// The parameter with this name.
    pub(crate) fn parameter(&self, name: Text) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether the memory of a parameter holds a result in the end.
    pub(crate) fn is_donated(&self, parameter: u32) -> bool {
        self.aliases.iter().any(|alias| alias.parameter == parameter)
    }
}
