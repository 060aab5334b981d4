//! Plans that were made before.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use super::{Plan, PlanOptions};
use crate::error::Result;
use crate::kept::Kept;
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
pub struct PlanCache(Kept<u64, Arc<Plan>>);

impl PlanCache {
    /// A cache of up to `room` plans, at least one.
    pub fn new(room: usize) -> PlanCache {
        PlanCache(Kept::new(room))
    }

    /// The plan for these layouts, made now if it is not there.
    ///
    /// # Errors
    /// Those of [`Plan::new`]. An error is not kept.
    pub fn plan(&self, from: &Layout, to: &Layout, options: &PlanOptions) -> Result<Arc<Plan>> {
        let key = BuildHasherDefault::<DefaultHasher>::new().hash_one((from, to, options));
        // Different layouts with one key, which are rare, take each other's place.
        let is_same = |plan: &Arc<Plan>| (&plan.from, &plan.to, &plan.options) == (from, to, options);
        let find = || self.0.find(&key, |plan| is_same(plan).then(|| Arc::clone(plan))).flatten();
        if let Some(plan) = find() {
            return Ok(plan);
        }
        // Made without holding the lock: another thread may make the same plan, and the first to come stays.
        let made = Arc::new(Plan::new(from, to, options)?);
        Ok(find().unwrap_or_else(|| {
            self.0.keep(key, Arc::clone(&made));
            made
        }))
    }

    /// Number of plans that are kept.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no plan is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
