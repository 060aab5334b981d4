//! Who waits for servers, and how long.

use std::future::Future;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use tilework::{Error, Result};
use tokio::runtime::Runtime;

use super::Answer;

/// How often a request is repeated that no answer came to, or that the server was too busy for.
pub(super) const RETRIES: usize = 6;

/// The threads that wait for servers. A process that another was forked into has none of its threads, and starts its own.
pub(super) fn runtime() -> Result<&'static Runtime> {
    static STARTED: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    match *started {
        Some((process, runtime)) if process == std::process::id() => Ok(runtime),
        _ => {
            let made = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let made =
                made.map_err(|error| Error::new(format!("no thread that waits for a server: {error}")))?;
            let runtime: &'static Runtime = Box::leak(Box::new(made));
            *started = Some((std::process::id(), runtime));
            Ok(runtime)
        }
    }
}

/// Waits for what the runtime does, on any thread, also on one of another runtime.
pub(super) fn wait<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = T> + Send + 'static,
) -> Answer<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        let _ = sender.send(work.await); // nobody waits any more
    });
    receiver.recv().map_err(|_| Error::new("the thread that waits for a server has ended").into())
}

pub(super) fn client() -> ClientOptions {
    // Nothing waits for ever: not a connection, not the next bytes, not an answer of a few bytes a minute.
    ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(10))
        .with_read_timeout(Duration::from_secs(60))
        .with_timeout(Duration::from_secs(15 * 60))
}

pub(super) fn retry() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(5),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: RETRIES, retry_timeout: Duration::from_secs(120) }
}
