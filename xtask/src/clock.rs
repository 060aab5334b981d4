//! Processor time: unlike time on the wall it says the same whatever else the machine does.

use std::fs;

/// The seconds of processor time of all programs that were started from here and have ended, with those that they started.
/// Nothing where the system does not say it as Linux does.
pub fn processor_seconds() -> Option<f64> {
    ended(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// The same from the text of `/proc/self/stat`, whose 16th and 17th fields are hundredths of seconds.
fn ended(stat: &str) -> Option<f64> {
    // The second field is a name in parentheses, which may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13).map(str::parse::<u64>);
    let (user, system) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some((user + system) as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_ended_programs_are_read_behind_any_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 90 80 0 0 11 12 1300 25 20 0 1 0 99";
        assert_eq!(ended(stat), Some(13.25));
        assert_eq!(ended("7 (a) S 1 7"), None);
    }
}
