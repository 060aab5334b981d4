//! Files of JSON, record by record.

use std::io::{self, BufRead};

use super::json::Records;
use super::kinds::Json;
use super::pytorch::Trace;
use crate::read::Reading;

impl Reading<'_> {
    /// Reads a file of JSON to its end.
    pub(crate) fn json(&mut self, kind: Json, input: &mut dyn BufRead) -> io::Result<()> {
        let mut records = Records::new(input);
        let mut trace = Trace::default();
        let mut line = 1;
        let outcome = loop {
            if self.store.budget.is_exceeded() {
                break Err(self.store.lack());
            }
            let record = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            line = record.line;
            match kind {
                _ if record.is_long => {
                    self.store.complaints.add(line, "a record of more than 1 MiB, which is skipped");
                }
                Json::TensorRt => self.tensorrt_record(&record),
                Json::Trace => self.trace_record(&mut trace, &record),
            }
        };
        if records.is_cut {
            self.store.complaints.add(line, "the file ends in the middle, or is no JSON from here");
        }
        self.bytes += records.bytes;
        match outcome.is_ok() && !trace.is_empty() {
            true => self.trace_ends(trace),
            false => trace.given_back(&self.store.budget),
        }
        outcome
    }
}
