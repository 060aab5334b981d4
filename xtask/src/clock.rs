//! Processor time: unlike time on the wall it says the same whatever else the machine does.

use std::fs;

/// The seconds of processor time of this program and of all that it started and that have ended, with those that they started.
/// Nothing where the system does not say it as Linux does.
pub fn processor_seconds() -> Option<f64> {
    seconds(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// The same of another program, which may have ended but was not waited for.
pub fn processor_seconds_of(program: u32) -> Option<f64> {
    seconds(&fs::read_to_string(format!("/proc/{program}/stat")).ok()?)
}

/// The same from the text of `/proc/self/stat`, whose 14th to 17th fields are hundredths of seconds.
fn seconds(stat: &str) -> Option<f64> {
    // The second field is a name in parentheses, which may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let times: Vec<u64> =
        fields.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum::<u64>() as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 90 80 0 0 100 0 1300 25 20 0 1 0 99";
        assert_eq!(seconds(stat), Some(14.25));
        assert_eq!(seconds("7 (a) S 1 7"), None);
    }
}
