//! Arguments that several devices have alike.

use std::cmp::Reverse;
use tilework::InOrder;

use crate::audit::Audit;
use crate::find::judged::Replica;
use crate::program::Program;
use crate::shapes::ShapeId;

/// Smaller arguments are not worth it.
const WORTH: u64 = 1 << 12;

impl Audit {
    /// Arguments whose elements more than one device has; those first that would spare the most if each had its own.
    pub(crate) fn replicas(&self, program: &Program) -> Vec<Replica> {
        let elements = |shape: ShapeId| {
            let array = self.store.shapes.known(shape).shape.as_array()?.lower().ok()?;
            Some(u128::from(array.len())).filter(|&elements| elements > 0)
        };
        let replica = |parameter: &crate::program::Parameter| {
            let whole = *program.whole.get(&parameter.number)?;
            let (all, own) = (elements(whole)?, elements(parameter.shape)?);
            // Parts may be a little larger than they need be, where sizes do not divide.
            let copies = (u128::from(program.devices) * own + all / 2) / all;
            let copies =
                u64::try_from(copies).ok().filter(|&copies| (2..=program.devices).contains(&copies))?;
            let bytes = self.store.shapes.known(parameter.shape).cost?.allocated;
            let name = self.argument_name(program, parameter.name)?;
            let (whole, shape) = (self.shape(whole), self.shape(parameter.shape));
            let spares = bytes - bytes.div_ceil(copies);
            Some(Replica { name, number: parameter.number, whole, shape, bytes, copies, spares })
        };
        let mut found: Vec<Replica> = program.parameters.iter().filter_map(replica).collect();
        found.retain(|each| each.bytes >= WORTH);
        found.order_by_key(|each| (Reverse(each.spares), each.number));
        found
    }
}
