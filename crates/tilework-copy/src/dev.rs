#![allow(missing_docs)]
use crate::exec::Buffers;
use crate::pool::Threads;
use crate::program::Program;
pub struct Dev(Program, usize);
pub fn plan(bytes: usize, ext: &[i64], ss: &[i64], ds: &[i64], threads: usize) -> Dev {
    let loops =
        (0..ext.len()).map(|k| tilework::Loop { extent: ext[k] as u64, from: ss[k], to: ds[k] }).collect();
    let nest = tilework::Nest { starts: smallvec::smallvec![(0, 0)], loops };
    let total = nest.elements() as usize * bytes;
    let setting = crate::choose::Setting::new(crate::kernels::InstructionSet::detect(), total);
    let p = Program::of(&[nest], (&[], false, 0), bytes as u32 * 8, None, setting);
    if std::env::var("TW_SHOW").is_ok() {
        eprintln!("{p:#?}");
    }
    Dev(p, threads)
}
pub unsafe fn run(d: &Dev, source: *const u8, destination: *mut u8) {
    unsafe { d.0.run(&Threads::new(d.1), Buffers { source, destination }, 0..d.0.total()) }
}
