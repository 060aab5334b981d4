//! JSON of which somebody changed something.

use serde_json::{Value, json};

/// Gives the value of this number another one.
pub fn changed(value: &mut Value, number: &mut usize, what: u8, by: u8) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|value| changed(value, number, what, by)),
        Value::Object(all) => all.values_mut().for_each(|value| changed(value, number, what, by)),
        _ => {
            if *number == 0 {
                *value = match what % 12 {
                    0 => json!(i64::MAX),
                    1 => json!(u64::MAX),
                    // Pieces that no disk has room for: smaller ones would fill it.
                    2 => json!(1_u64 << (44 + by % 20)),
                    3 => json!(-1),
                    4 => json!(f64::from(by) / 16.0),
                    5 => json!(1e308),
                    6 => Value::Null,
                    7 => json!(by % 2 == 0),
                    8 => json!([by, 1]),
                    9 => json!(["sources", "targets"][usize::from(by % 2)]),
                    _ => json!(by),
                };
            }
            *number = number.wrapping_sub(1);
        }
    }
}
