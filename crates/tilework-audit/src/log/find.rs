//! Concludes from a log: sums, pairs of formats, moves one by one.

use std::cmp::Reverse;
use tilework::InOrder;

use super::cycle::cycle;
use super::logged::{BankConflict, Cycle, LogArray, LogMove, Logged, PaddedArray, Pair, Saving, Way, Work};
use super::{ArrayId, Log};
use crate::audit::Audit;
use crate::find::listing::Listing;
use crate::hash::Map;
use crate::texts::Text;

impl Audit {
    /// What the logs say, the one with the dearest moves first; at most `top` of each list.
    pub(crate) fn logged(&self, top: usize, listing: &Listing) -> Vec<Logged> {
        let mut logs: Vec<Logged> = self.logs.iter().map(|log| self.of_log(log, top, listing)).collect();
        logs.retain(|log| log.all.count > 0);
        logs.order_by_key(|log| Reverse((log.moved.cost(), log.all.cost())));
        logs
    }

    fn of_log(&self, log: &Log, top: usize, listing: &Listing) -> Logged {
        let mut all = Work::default();
        for runs in &log.runs {
            all.add(&runs.work());
        }
        let told = (log.times_told > 1)
            .then(|| Cycle { operations: all.count / log.times_told, times: log.times_told });
        let cycle = told.or_else(|| cycle(&log.sequence));
        let mut through_memory = 0;
        let (mut moved, mut converted) = (Work::default(), Work::default());
        let mut pairs: Map<[Text; 4], (Work, u64)> = Map::default();
        let mut moves = Vec::with_capacity(log.moves.len());
        for (key, runs) in &log.moves {
            let Some((from, to)) = log.steps[key.step as usize].moves else { continue };
            let work = log.work(key.step, runs);
            moved.add(&work);
            if matches!(log.steps[key.step as usize].way, Some(Way::SharedMemory | Way::Blocks)) {
                through_memory += runs.count;
            }
            if !log.is_of_layout(from, to) && log.array_of(from).element != log.array_of(to).element {
                converted.add(&work);
            }
            let (from, to) = (log.array_of(from), log.array_of(to));
            let pair = [from.element, from.format, to.element, to.format];
            let (sum, line) = pairs.entry(pair).or_insert((Work::default(), runs.line));
            sum.add(&work);
            *line = runs.line.min(*line);
            moves.push((key, runs, work));
        }
        for work in [moved.data, moved.touched, moved.waste].iter().zip([
            &mut all.data,
            &mut all.touched,
            &mut all.waste,
        ]) {
            *work.1 = *work.0;
        }
        moves.order_by_key(|(key, runs, work)| {
            (
                Reverse((log.steps[key.step as usize].loops, work.cost())),
                runs.line,
                key.step,
                key.role,
                key.before,
                key.after,
                key.place,
            )
        });
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.order_by_key(|(pair, (work, line))| (Reverse(work.cost()), *line, *pair));
        let moves = moves.into_iter().take(top).map(|(key, runs, work)| {
            let (from, to) = log.steps[key.step as usize].moves.unwrap_or_default();
            LogMove {
                from: self.log_array(log, from),
                to: self.log_array(log, to),
                role: key.role,
                way: log.steps[key.step as usize].way,
                loops: log.steps[key.step as usize].loops,
                before: self.name(key.before),
                after: self.name(key.after),
                place: self.name(key.place),
                name: self.name(runs.name),
                work,
                line: runs.line,
            }
        });
        let pairs = pairs.into_iter().take(top).map(|([from_element, from, to_element, to], (work, _))| {
            Pair { from: self.format_words(from_element, from), to: self.format_words(to_element, to), work }
        });
        let savings = log.savings(cycle).into_iter().map(|(remedy, work, arrays)| Saving {
            remedy,
            work,
            formats: arrays.into_iter().map(|array| self.log_array(log, array).format_words()).collect(),
        });
        Logged {
            name: log.name.clone(),
            kind: log.kind,
            writer: self.name(log.writer),
            all,
            moved,
            converted,
            created: log.created.work(),
            cycle,
            pairs: listing.of(pairs),
            moves: listing.of(moves),
            savings: savings.collect(),
            padded: self.padded(log, top, listing),
            conflicts: self.conflicts(log, top, listing),
            conflict_count: log.conflicts.len() as u64,
            through_memory,
            idle: log.idle,
            open: log.open.iter().map(|&name| self.store.texts.text(name).to_owned()).collect(),
            overflowed: log.overflowed,
        }
    }

    /// Arrays with padding that other operations than moves read and write.
    fn padded(&self, log: &Log, top: usize, listing: &Listing) -> Vec<PaddedArray> {
        let mut padded: Map<(ArrayId, Text), (u64, u64)> = Map::default();
        for (step, runs) in log.steps.iter().zip(&log.runs).filter(|(step, _)| step.moves.is_none()) {
            for &(_, array) in &step.arrays {
                if log.array_of(array).data_and_waste().1 > 0 {
                    let (count, line) = padded.entry((array, step.operation)).or_insert((0, runs.line));
                    *count += runs.count;
                    *line = runs.line.min(*line);
                }
            }
        }
        let mut padded: Vec<_> = padded.into_iter().collect();
        padded.order_by_key(|&((array, operation), (_, line))| {
            (Reverse(log.array_of(array).data_and_waste().1), line, array, operation)
        });
        let told = padded.into_iter().take(top).map(|((array, operation), (count, _))| PaddedArray {
            array: self.log_array(log, array),
            operation: self.store.texts.text(operation).to_owned(),
            count,
            waste: log.array_of(array).data_and_waste().1,
        });
        listing.of(told)
    }

    /// Accesses of shared memory that conflict, those in loops first.
    fn conflicts(&self, log: &Log, top: usize, listing: &Listing) -> Vec<BankConflict> {
        let mut conflicts: Vec<_> = log.conflicts.iter().collect();
        conflicts.order_by_key(|conflict| {
            (Reverse((conflict.loops, conflict.ways)), conflict.line, conflict.step)
        });
        let told = conflicts.into_iter().take(top).map(|conflict| BankConflict {
            operation: self.store.texts.text(log.steps[conflict.step as usize].operation).to_owned(),
            from: self.log_array(log, conflict.from),
            to: self.log_array(log, conflict.to),
            vector: conflict.vector,
            ways: conflict.ways,
            loops: conflict.loops,
            place: log.places.get(&conflict.step).and_then(|&place| self.name(place)),
            line: conflict.line,
        });
        listing.of(told)
    }

    fn log_array(&self, log: &Log, array: ArrayId) -> LogArray {
        let array = log.array_of(array);
        LogArray {
            format: self.store.texts.text(array.format).to_owned(),
            element: self.name(array.element),
            sizes: self.name(array.sizes),
            data: array.bytes.map(|bytes| bytes.0),
            allocated: array.bytes.map(|bytes| bytes.1),
        }
    }

    fn format_words(&self, element: Text, format: Text) -> String {
        let format = self.store.texts.text(format).to_owned();
        LogArray { format, element: self.name(element), sizes: None, data: None, allocated: None }
            .format_words()
    }
}
