//! What is said of arrays in pieces by a build without them.

use crate::args::{Args, RechunkArgs, ReshardArgs, RunTasksArgs};
use crate::lacks;
use crate::output::{Output, Stop};

pub fn reshard(_: &ReshardArgs, output: &mut Output) -> Result<(), Stop> {
    output.bad(&lacks("arrays in pieces", "stores"), "reshard", None)
}

pub fn rechunk(_: &RechunkArgs, _: &Args, output: &mut Output) -> Result<(), Stop> {
    output.bad(&lacks("arrays in pieces", "stores"), "rechunk", None)
}

pub fn run_tasks(_: &RunTasksArgs, output: &mut Output) -> Result<(), Stop> {
    output.bad(&lacks("arrays in pieces", "stores"), "run-tasks", None)
}
