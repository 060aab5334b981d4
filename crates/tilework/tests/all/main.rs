//! All tests of this crate from outside, in one program: each program more is a link more.

mod common;
mod compare;
mod cute_algebra;
mod dialects;
mod digits;
mod directml_cases;
mod directml_check;
mod directml_random;
mod empty;
mod extremes;
mod jax;
mod known;
mod layouts;
mod measures;
mod mlir;
mod numpy;
mod plan_limits;
mod plan_random;
mod plan_worked;
mod plan_xla_cases;
mod refusals;
mod rules;
mod swizzles;
mod targets;
mod terms;
mod views;
mod xla_bitcast;
mod xla_proto;
#[cfg(feature = "proto")]
mod xla_proto_notations;
mod xla_surgery;
mod xla_text;
mod xla_text_errors;
mod xla_text_random;
mod xla_utilities;
mod xla_utility_stories;
