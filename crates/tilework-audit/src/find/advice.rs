//! Which layouts a program might be given its arguments in, so that it need not move them first.
//!
//! An argument, the result in its place and their layouts are judged together. A donated argument keeps its place only if
//! the result has the same layout: asked for alone, another layout of one of them costs a buffer more. And another layout
//! may take more memory, which is counted against what is not moved.

use std::cmp::Reverse;
use tilework::InOrder;

use tilework::xla::{ArrayShape, Layout, Shape};

use crate::audit::Audit;
use crate::find::judged::{Advice, Asked};
use crate::find::moves::Found;
use crate::program::{MoveKey, Operation, Parameter, Program};
use crate::shapes::ShapeId;

impl Audit {
    /// What could be asked for, what would save the most first.
    pub(crate) fn advice(&self, program: &Program, found: &[Found<'_>]) -> Vec<Advice> {
        let real = || found.iter().filter(|found| found.is_real());
        let mut advice: Vec<Advice> = Vec::new();
        for parameter in &program.parameters {
            let Some(array) = self.array(parameter.shape) else { continue };
            let own = || real().filter(|found| found.argument == Some(parameter.name));
            // Several may want it otherwise; it can lie in one way only.
            let mut wanted: Vec<(ArrayShape, u64)> = Vec::new();
            for each in own() {
                let Some(shape) = self.wanted(each.key, &array) else { continue };
                match wanted.iter_mut().find(|(other, _)| *other == shape) {
                    Some((_, bytes)) => *bytes = bytes.saturating_add(each.bytes),
                    None => wanted.push((shape, each.bytes)),
                }
            }
            // Of equal ones the first in the program.
            let most = wanted.into_iter().reduce(|most, next| if next.1 > most.1 { next } else { most });
            let Some((instead, bytes)) = most else { continue };
            let alias = program.aliases.iter().find(|alias| alias.parameter == parameter.number);
            let result = alias.and_then(|alias| alias.result);
            let given_back = result.and_then(|result| {
                let moved = real().filter(|found| found.key.result == result.saturating_add(1));
                let same =
                    moved.filter(|found| self.made(found.key, &array).is_some_and(|made| made == instead));
                same.map(|found| found.bytes).reduce(u64::saturating_add)
            });
            let asked = match (alias, given_back) {
                (None, _) => Asked::Argument,
                (Some(_), Some(_)) => Asked::Both,
                // It is changed where it is, in the layout that it has.
                (Some(_), None) => Asked::Nothing,
            };
            advice.extend(self.judged(program, parameter, instead, asked, (bytes, given_back), result));
        }
        self.results(program, found, &mut advice);
        // What takes more memory than it spares moving does more harm than good.
        for each in &mut advice {
            if each.instead_allocated.saturating_sub(each.allocated) > each.saves {
                each.asked = Asked::Nothing;
            }
        }
        advice.order_by_key(|advice| (advice.asked == Asked::Nothing, Reverse(advice.saves), advice.number));
        advice
    }

    fn judged(
        &self,
        program: &Program,
        parameter: &Parameter,
        instead: ArrayShape,
        asked: Asked,
        (bytes, given_back): (u64, Option<u64>),
        result: Option<u32>,
    ) -> Option<Advice> {
        let now = self.store.shapes.known(parameter.shape).cost?.allocated;
        Some(Advice {
            name: self.argument_name(program, parameter.name)?,
            number: parameter.number,
            result: result.filter(|_| asked != Asked::Argument),
            shape: self.shape(parameter.shape),
            allocated: now,
            instead_allocated: instead.lower().ok()?.bytes(),
            instead: Shape::Array(instead).into(),
            saves: bytes.saturating_add(given_back.unwrap_or(0)),
            asked,
        })
    }

    /// Results that are moved into the layout in which they are given back, and lie in no argument's place.
    fn results(&self, program: &Program, found: &[Found<'_>], advice: &mut Vec<Advice>) {
        for each in found.iter().filter(|found| found.is_real()) {
            let Some(number) = each.key.result.checked_sub(1) else { continue };
            let is_alias = program.aliases.iter().any(|alias| alias.result == Some(number));
            let of_argument = each.argument.is_some();
            let Some(&shape) = program.results.get(number as usize) else { continue };
            let made = self.array(shape).and_then(|array| self.made(each.key, &array));
            let (Some(made), false, false) = (made, is_alias, of_argument) else { continue };
            let (Some(now), Ok(layout)) = (self.store.shapes.known(shape).cost, made.lower()) else {
                continue;
            };
            advice.push(Advice {
                name: format!("result {number}"),
                number,
                result: Some(number),
                shape: self.shape(shape),
                allocated: now.allocated,
                instead_allocated: layout.bytes(),
                instead: Shape::Array(made).into(),
                saves: each.bytes,
                asked: Asked::Result,
            });
        }
    }

    /// An array in the main memory.
    fn array(&self, shape: ShapeId) -> Option<ArrayShape> {
        in_main_memory(self.store.shapes.known(shape).shape.as_array()?)
    }

    /// The layout in which an argument would be as it is needed, under its own dimensions.
    fn wanted(&self, key: &MoveKey, argument: &ArrayShape) -> Option<ArrayShape> {
        let (from, to) = (self.array(key.from)?, self.array(key.to)?);
        if from.dims() != argument.dims() || from.layout() != argument.layout() {
            return None;
        }
        match key.operation {
            Operation::Copy | Operation::CopyStart => (to.dims() == argument.dims()).then_some(to),
            // Its dimension `d` of the result is dimension `order[d]` of the argument.
            Operation::Transpose => {
                let order = self.store.orders.list(key.order);
                let layout = to.layout()?;
                let dims = layout.minor_to_major().iter().map(|&dim| order.get(dim).map(|&dim| dim as usize));
                let minor_to_major: Vec<usize> = dims.collect::<Option<_>>()?;
                let same =
                    Layout::new(minor_to_major).ok()?.with_tiles(layout.tiles().iter().cloned()).ok()?;
                argument.clone().with_layout(same).ok()
            }
            Operation::Reshape | Operation::Bitcast => None,
        }
    }

    /// The layout in which a result is made before it is moved, under its own dimensions.
    fn made(&self, key: &MoveKey, result: &ArrayShape) -> Option<ArrayShape> {
        let (from, to) = (self.array(key.from)?, self.array(key.to)?);
        let is_copy = matches!(key.operation, Operation::Copy | Operation::CopyStart);
        (is_copy && to.dims() == result.dims() && from.dims() == result.dims()).then_some(from)
    }
}

fn in_main_memory(array: &ArrayShape) -> Option<ArrayShape> {
    let layout = array.layout()?.clone().with_memory_space(0).ok()?;
    array.clone().with_layout(layout).ok()
}
