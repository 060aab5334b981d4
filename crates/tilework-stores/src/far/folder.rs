//! A new folder of files on a server: each is sent when it is there, and the index comes last (`stage.rs`).

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use tilework::{Error, Result};
use tilework_files::container::Elsewhere;

use super::{Address, Unfinished, open};

/// A folder whose files are under way.
struct NewFolder(Unfinished);

/// Begins the folder of an address, or goes on where a run of the same job has begun it. What another has begun goes.
///
/// # Errors
/// A path that is no address, one under which something is, one that takes no objects, and what the server answers.
pub fn new_folder(out: &Path, job: &str) -> Result<Box<dyn Elsewhere>> {
    let address = Address::of(out)?.ok_or_else(|| {
        Error::new(format!("{} is no address", out.display())).accepts("s3://BUCKET/FOLDER")
    })?;
    address.to_write()?;
    Ok(Box::new(NewFolder(Unfinished::of_job_alone(open(&address)?, job)?)))
}

impl Elsewhere for NewFolder {
    fn has(&self, name: &str) -> Result<bool> {
        self.0.has(name)
    }

    fn send(&self, name: &str, file: &File, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            // It has the sender for itself, so that nothing is waited for when it ends.
            let sent = scope.spawn(move || {
                let tell = move |bytes| {
                    let _ = tell.send(bytes); // or nobody listens any more
                };
                self.0.send(name, file, Arc::new(tell))
            });
            told.iter().for_each(progress);
            sent.join().unwrap_or_else(|_| Err(Error::new(format!("{name} was not sent"))))
        })
    }

    fn finish(&self, last: Option<(String, String)>) -> Result<()> {
        if let Some((name, text)) = last {
            self.0.put_last(&name, text.into_bytes());
        }
        self.0.finish()
    }
}
