//! Which computation calls which, so how often each runs, and what of the program's arguments a fusion is given.

use crate::hash::Map;
use crate::program::{Call, Program, Times};
use crate::store::Store;
use crate::texts::{NONE, Text};
use tilework::InOrder;

/// The most calls of a program that are kept, and the most arguments that are given to fusions.
const LIMIT: usize = 1 << 20;

/// What calls come to: by the number of the computation.
#[derive(Debug)]
pub(crate) struct Calls {
    /// How often it runs while the program does.
    pub(crate) runs: Vec<u64>,
    /// Whether it is a part of an instruction, or is called by such a part, however deep.
    pub(crate) inner: Vec<bool>,
    /// For parts of instructions: whether anything is computed in the outermost instruction that it is a part of.
    pub(crate) computes: Vec<bool>,
    /// Whether it is in a loop for which nothing says how often it runs, and so counts once for each run of that.
    pub(crate) uncertain: Vec<bool>,
    /// Loops for which nothing says how often they run.
    pub(crate) unknown: u64,
}

impl Calls {
    /// How often a computation runs.
    pub(crate) fn runs(&self, computation: u32) -> u64 {
        self.runs.get(computation as usize).copied().unwrap_or(1)
    }

    /// Whether it runs as often as that for certain.
    pub(crate) fn is_certain(&self, computation: u32) -> bool {
        !self.uncertain.get(computation as usize).copied().unwrap_or_default()
    }

    /// Whether what it makes has no buffer.
    pub(crate) fn is_inner(&self, computation: u32) -> bool {
        self.inner.get(computation as usize).copied().unwrap_or_default()
    }

    /// Whether what it moves moves on the way of something else. A fusion in which nothing is computed only wraps what it
    /// moves for a kernel; one within a fusion that computes is a part of that.
    pub(crate) fn is_fused(&self, computation: u32) -> bool {
        self.is_inner(computation) && self.computes.get(computation as usize).copied().unwrap_or(true)
    }
}

impl Store {
    /// Notes a call, by the computation that calls and the hash of the name of the other one; its place in the list.
    pub(crate) fn call(
        &self,
        program: &mut Program,
        caller: u32,
        callee: u64,
        times: Times,
    ) -> Option<usize> {
        if program.calls.len() >= LIMIT || !self.budget.for_one(&mut program.calls) {
            program.overflowed = true;
            return None;
        }
        program.calls.push(Call { caller, callee, times });
        Some(program.calls.len() - 1)
    }

    /// Notes that an operand of a fusion is an argument of the program.
    pub(crate) fn given(&self, program: &mut Program, callee: u64, operand: u32, argument: Text) {
        if argument != NONE && program.given.len() < LIMIT && self.budget.for_entry(&mut program.given) {
            program.given.insert((callee, operand), argument);
        }
    }
}

impl Program {
    /// What all calls come to. A module lists computations before those that call them; a call the other way round is
    /// of no valid module and counts for nothing.
    pub(crate) fn calls(&self) -> Calls {
        let count = self.computation_names.len();
        let mut list: Vec<&Call> = self.calls.iter().collect();
        list.order_by_key(|call| call.caller);
        let callee = |call: &Call| {
            let callee = self.computations.get(&call.callee).map(|&callee| callee as usize);
            callee.filter(|&callee| callee < call.caller as usize)
        };
        let mut computes = self.computes.clone();
        computes.resize(count, true);
        // Callees come before callers, so what is computed in them is known by then.
        for call in &list {
            if let Some(callee) = callee(call).filter(|_| (call.caller as usize) < count) {
                computes[call.caller as usize] |= computes[callee];
            }
        }
        let (runs, inner, uncertain) = (vec![0; count], vec![false; count], vec![false; count]);
        let mut calls = Calls { runs, inner, computes, uncertain, unknown: 0 };
        let mut called = vec![false; count];
        for place in (0..count).rev() {
            // What nothing calls is the program, or was called by something that was not read, as in a module that is cut
            // off. Then its name must say whether it has buffers.
            if !called[place] {
                calls.runs[place] = 1;
                calls.inner[place] |= self.fused_by_name.contains_key(&(place as u32));
            }
            let runs = calls.runs[place];
            while let Some(call) = list.pop_if(|call| call.caller as usize >= place) {
                let Some(callee) = callee(call) else { continue };
                // Whatever a part of an instruction calls, by whatever operation, is a part of it too.
                calls.inner[callee] |= calls.inner[place] || call.times == Times::Within;
                calls.computes[callee] |= calls.inner[place] && calls.computes[place];
                let times = match call.times {
                    Times::Within | Times::Once => Some(1),
                    Times::Loop(times) => times,
                };
                called[callee] = true;
                calls.unknown += u64::from(times.is_none());
                calls.uncertain[callee] |= calls.uncertain[place] || times.is_none();
                let times = times.unwrap_or(1);
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
