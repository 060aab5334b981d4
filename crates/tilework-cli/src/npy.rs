//! What an npy file says of its array, as a shape.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use tilework::Result;
use tilework_files::{
    element_of,
    npy::{self, Header},
};

/// Bytes that say where the data begin.
const HEAD: u64 = 12;

/// The shape of the array in a file, if it is an npy file. Only the header is read, however large the file is.
pub fn shape(path: &Path) -> Option<Result<String>> {
    // Pipes and devices are not waited for.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let mut file = is_file.then(|| File::open(path).ok())??;
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head).ok()?;
    if !npy::is_npy(&head) {
        return None;
    }
    Some(npy::data_offset(&head).and_then(|end| {
        // A file that ends too early is refused when the header is read.
        let _ = file.take(end.saturating_sub(HEAD)).read_to_end(&mut head);
        let header = Header::read(&head)?;
        let element = element_of(&header.descr, None)?;
        let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let rank = header.shape.len() as u64;
        let order: Vec<u64> =
            if header.fortran_order { (0..rank).collect() } else { (0..rank).rev().collect() };
        Ok(format!("{element}[{}]{{{}}}", list(&header.shape), list(&order)))
    }))
}
