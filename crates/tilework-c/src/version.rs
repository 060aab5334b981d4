//! Which library a program runs with.

/// The version that this header describes: 10000 times the major number, 100 times the minor one and the patch.
pub const TILEWORK_VERSION: u32 = 100;

const _: () = assert!(
    TILEWORK_VERSION
        == 10000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
            + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
            + number(env!("CARGO_PKG_VERSION_PATCH")),
    "TILEWORK_VERSION is the version of the package"
);

const fn number(digits: &str) -> u32 {
    match u32::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("a version is made of numbers"),
    }
}

/// The version of the library that the program runs with, as TILEWORK_VERSION has it.
///
/// While the major number is 0, every minor number may change the interface: a program runs with the library if
/// `tilework_version() / 100 == TILEWORK_VERSION / 100`.
#[unsafe(no_mangle)]
pub extern "C" fn tilework_version() -> u32 {
    TILEWORK_VERSION
}
