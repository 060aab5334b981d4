//! Which computation calls which, so how often each runs, and what of the program's arguments a fusion is given.

use crate::hash::Map;
use crate::program::{Call, Program, Times};
use crate::store::Store;
use crate::texts::{NONE, Text};

/// The most calls of a program that are kept, and the most arguments that are given to fusions.
const LIMIT: usize = 1 << 20;

/// What calls come to: by the number of the computation.
#[derive(Debug)]
pub(crate) struct Calls {
    /// How often it runs while the program does.
    pub(crate) runs: Vec<u64>,
    /// Whether it is a part of an instruction.
    pub(crate) inner: Vec<bool>,
    /// Loops for which nothing says how often they run.
    pub(crate) unknown: u64,
}

impl Calls {
    /// How often a computation runs.
    pub(crate) fn runs(&self, computation: u32) -> u64 {
        self.runs.get(computation as usize).copied().unwrap_or(1)
    }

    /// Whether what it makes has no buffer.
    pub(crate) fn is_inner(&self, computation: u32) -> bool {
        self.inner.get(computation as usize).copied().unwrap_or_default()
    }
}

impl Store {
    /// Notes a call, by the computation that calls and the hash of the name of the other one.
    pub(crate) fn call(&self, program: &mut Program, caller: u32, callee: u64, times: Times) {
        if program.calls.len() < LIMIT && self.budget.for_one(&mut program.calls) {
            program.calls.push(Call { caller, callee, times });
        } else {
            program.overflowed = true;
        }
    }

    /// Notes that an operand of a fusion is an argument of the program.
    pub(crate) fn given(&self, program: &mut Program, callee: u64, operand: u32, argument: Text) {
        if argument != NONE && program.given.len() < LIMIT && self.budget.for_entry(&mut program.given) {
            program.given.insert((callee, operand), argument);
        }
    }

    /// Notes that the computation with this hash of its name is true while a counter is below a number.
    pub(crate) fn counts_to(&self, program: &mut Program, condition: u64, number: u64) {
        if program.limits.len() < LIMIT && self.budget.for_entry(&mut program.limits) {
            program.limits.insert(condition, number);
        }
    }
}

impl Program {
    /// What all calls come to. A module lists computations before those that call them; a call the other way round is
    /// of no valid module and counts for nothing.
    pub(crate) fn calls(&self) -> Calls {
        let count = self.computation_names.len();
        let mut calls = Calls { runs: vec![0; count], inner: vec![false; count], unknown: 0 };
        let mut list: Vec<&Call> = self.calls.iter().collect();
        list.sort_by_key(|call| call.caller);
        for place in (0..count).rev() {
            // What nothing calls is the program, or was called by something that was not read, as in a module that is cut
            // off. Then its name must say whether it has buffers.
            if calls.runs[place] == 0 && self.fused_by_name.contains_key(&(place as u32)) {
                calls.inner[place] = true;
            }
            let runs = calls.runs[place].max(1);
            calls.runs[place] = runs;
            while let Some(call) = list.pop_if(|call| call.caller as usize >= place) {
                let callee = self.computations.get(&call.callee).map(|&callee| callee as usize);
                let Some(callee) = callee.filter(|&callee| callee < place) else { continue };
                let times = match call.times {
                    Times::Within => {
                        calls.inner[callee] = true;
                        Some(1)
                    }
                    Times::Once => Some(1),
                    Times::Loop { says, condition } => says.or_else(|| self.limits.get(&condition).copied()),
                };
                calls.unknown += u64::from(times.is_none());
                // A loop that does not run still has its instructions.
                let times = times.unwrap_or(1).max(1);
                calls.runs[callee] = calls.runs[callee].saturating_add(runs.saturating_mul(times));
            }
        }
        calls
    }

    /// The hashes of the names of computations, by number.
    pub(crate) fn computation_hashes(&self) -> Map<u32, u64> {
        self.computations.iter().map(|(&hash, &place)| (place, hash)).collect()
    }
}
