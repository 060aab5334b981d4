//! What the memory is for, each byte for one reason.

use std::cmp::Reverse;
use tilework::InOrder;

use crate::audit::Audit;
use crate::find::entry::Entry;
use crate::find::findings::Sum;
use crate::find::judged::{Reason, Why};
use crate::find::peak::Peaks;
use crate::program::{Class, Need, Program};

impl Audit {
    /// Padding, copies, temporaries and so on, the most first: in the main memory when it holds the most, where that is
    /// known, and else of all buffers.
    pub(crate) fn reasons(
        &self,
        program: &Program,
        entries: &[Entry],
        peaks: &Peaks,
        total: &Sum,
    ) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        let main = peaks.main_space();
        for (place, entry) in entries.iter().enumerate() {
            let is_meant = match main {
                Some(space) => entry.space == space && peaks.counts(place) == Some(true),
                None => true,
            };
            if !is_meant {
                continue;
            }
            let class = program.class(place).unwrap_or_default();
            let why = match class {
                Class::Temporary if self.is_copy(entry) => Why::Copies,
                class => of_class(class),
            };
            add(&mut reasons, Why::Padding, entry.waste());
            add(&mut reasons, why, entry.data.saturating_mul(entry.count));
        }
        if let Some(space) = main
            && let (Some(reserved), Some(held)) = (program.reserved(space), peaks.sum(space))
        {
            add(&mut reasons, Why::Fragmentation, reserved.saturating_sub(held.allocated));
        }
        // A message lists the largest buffers alone, and sums of all. Fragmentation is a part of the temporaries.
        let mut parts = program.message.parts.clone();
        parts.order_by_key(|part| part.need != Need::Fragmentation);
        // Results that lie in arguments take nothing more.
        let shared =
            parts.iter().find(|part| part.need == Need::OutputInArguments).map_or(0, |part| part.bytes);
        for part in parts {
            let why = match part.need {
                Need::Reserved => Why::Reserved,
                Need::Fragmentation => Why::Fragmentation,
                Need::Arguments => Why::Arguments,
                Need::Temporaries => Why::Temporaries,
                Need::Scoped => Why::Scoped,
                Need::Constants | Need::Global => Why::Constants,
                Need::Output => Why::Results,
                Need::Allocated => Why::Allocated,
                Need::Program | Need::Code | Need::OutputInArguments => continue,
            };
            let listed = reasons.iter().filter(|reason| is_part_of(reason.why, why));
            let listed = listed.map(|reason| reason.bytes).fold(0, u64::saturating_add);
            let listed = if total.buffers == 0 { 0 } else { listed };
            let own = if part.need == Need::Output { part.bytes.saturating_sub(shared) } else { part.bytes };
            add(&mut reasons, why, own.saturating_sub(listed));
        }
        reasons.retain(|reason| reason.bytes > 0);
        reasons.order_by_key(|reason| (Reverse(reason.bytes), reason.why));
        reasons
    }

    /// Whether a buffer is a second one of a value that there is.
    fn is_copy(&self, entry: &Entry) -> bool {
        let name = self.store.texts.text(entry.name);
        let rest = ["copy", "transpose"].iter().find_map(|kind| name.strip_prefix(kind));
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
    }
}

impl Entry {
    /// Bytes that hold no element.
    fn waste(&self) -> u64 {
        (self.allocated - self.data).saturating_mul(self.count)
    }
}

fn of_class(class: Class) -> Why {
    match class {
        Class::Argument => Why::Arguments,
        Class::Alias => Why::Aliases,
        Class::Result => Why::Results,
        Class::Constant => Why::Constants,
        Class::Temporary => Why::Temporaries,
        Class::Scoped => Why::Scoped,
        Class::Spilled => Why::Spills,
        Class::Local => Why::Other,
    }
}

/// Whether what is listed for one reason is counted in a sum of a message.
fn is_part_of(listed: Why, sum: Why) -> bool {
    match sum {
        Why::Temporaries => {
            matches!(listed, Why::Temporaries | Why::Padding | Why::Copies | Why::Fragmentation)
        }
        Why::Scoped => matches!(listed, Why::Scoped | Why::Spills | Why::Padding),
        sum => listed == sum,
    }
}

fn add(reasons: &mut Vec<Reason>, why: Why, bytes: u64) {
    match reasons.iter_mut().find(|reason| reason.why == why) {
        Some(reason) => reason.bytes = reason.bytes.saturating_add(bytes),
        None => reasons.push(Reason { why, bytes }),
    }
}
