//! Plans that were made before.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Plan, PlanOptions};
use crate::error::Result;
use crate::layout::Layout;

/// Keeps the plans that were used last, for whoever moves the same few layouts again and again. It may be shared by
/// threads.
///
/// What counts is the function of a layout, its sizes and its element bits: two layouts that place every element alike
/// share a plan, however they came about. (Where a form is not plain, equal functions may have different forms; then
/// each is planned.) The plan's own [`Plan::from`] and [`Plan::to`] are those it was first made for.
///
/// ```
/// use tilework::{Layout, PlanCache, PlanOptions};
/// let cache = PlanCache::new(64);
/// let rows = Layout::row_major(&[16, 128], 32)?;
/// let columns = Layout::builder(&[16, 128], 32)?.minor_to_major(&[0, 1])?.build()?;
/// let plan = cache.plan(&rows, &columns, &PlanOptions::default())?;
/// // One tile wide, a tiled array is the plain one.
/// let tiled = Layout::builder(&[16, 128], 32)?.tile(&[Some(8), Some(128)])?.build()?;
/// assert!(std::sync::Arc::ptr_eq(&plan, &cache.plan(&tiled, &columns, &PlanOptions::default())?));
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Debug)]
pub struct PlanCache {
    room: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    list: Vec<Entry>,
    /// Counts uses: the entry with the least number was used longest ago.
    now: u64,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    used: u64,
    plan: Arc<Plan>,
}

impl PlanCache {
    /// A cache of up to so many plans, at least one.
    pub fn new(room: usize) -> PlanCache {
        PlanCache { room: room.max(1), entries: Mutex::default() }
    }

    /// The plan for these layouts, made now if it is not there.
    ///
    /// # Errors
    /// Those of [`Plan::new`]. An error is not kept.
    pub fn plan(&self, from: &Layout, to: &Layout, options: &PlanOptions) -> Result<Arc<Plan>> {
        let mut hasher = DefaultHasher::new();
        (from, to, options).hash(&mut hasher);
        let hash = hasher.finish();
        let same = |entry: &Entry| {
            let plan = &entry.plan;
            entry.hash == hash && (&plan.from, &plan.to, &plan.options) == (from, to, options)
        };
        if let Some(plan) = self.entries().touch(same) {
            return Ok(plan);
        }
        // Made without holding the lock: another thread may make the same plan, and the first to come stays.
        let made = Arc::new(Plan::new(from, to, options)?);
        let mut entries = self.entries();
        if let Some(plan) = entries.touch(same) {
            return Ok(plan);
        }
        if entries.list.len() >= self.room
            && let Some(oldest) = (0..entries.list.len()).min_by_key(|&place| entries.list[place].used)
        {
            entries.list.swap_remove(oldest);
        }
        let used = entries.tick();
        entries.list.push(Entry { hash, used, plan: Arc::clone(&made) });
        Ok(made)
    }

    /// Number of plans that are kept.
    pub fn len(&self) -> usize {
        self.entries().list.len()
    }

    /// Whether no plan is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A thread that panicked elsewhere leaves the list as it is: whole.
    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    fn touch(&mut self, same: impl Fn(&Entry) -> bool) -> Option<Arc<Plan>> {
        let now = self.tick();
        let entry = self.list.iter_mut().find(|entry| same(entry))?;
        entry.used = now;
        Some(Arc::clone(&entry.plan))
    }
}
