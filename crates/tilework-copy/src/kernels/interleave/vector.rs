//! What the networks ask of a vector register, so that they are written once.

/// A permutation of up to 64 bytes: byte `t` of the result is byte `table[t]`. Registers made of 16-byte lanes use the
/// first 16 entries, the same for every lane.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Table(pub [u8; 64]);

/// Bytes of a lane, made when the code is compiled: to make one of bits takes the compiler a loop for each place that has one.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(super) struct Mask {
    /// The first 16, as a register wants them: 0xff or 0.
    pub bytes: [u8; 16],
    /// A bit for each.
    pub bits: u64,
}

impl Mask {
    pub(super) const fn of(bits: u64) -> Self {
        let mut bytes = [0; 16];
        let mut i = 0;
        while i < 16 {
            bytes[i] = if bits >> i & 1 == 1 { 0xff } else { 0 };
            i += 1;
        }
        Self { bytes, bits }
    }
}

/// A register, seen as one or two *lanes* inside which bytes can be permuted.
///
/// # Safety
///
/// The methods are unsafe because they are instructions: the machine must have them. Those that take a pointer read or
/// write exactly the bytes that they name. They are inlined into functions that enable the instructions.
pub(super) trait Vector: Copy {
    /// Bytes in the register.
    const BYTES: usize;
    /// Bytes in a lane.
    const LANE: usize;

    /// `BYTES` bytes from `from`.
    unsafe fn load(from: *const u8) -> Self;
    /// `BYTES` bytes to `to`.
    unsafe fn store(self, to: *mut u8);
    /// The same past the caches; `to` is a multiple of `BYTES`.
    unsafe fn stream(self, to: *mut u8);
    /// Each lane's bytes, permuted.
    unsafe fn permute(self, table: &Table) -> Self;
    /// The bytes of `other` that are in `mask`, else those of `self`; the same for each lane.
    unsafe fn select(self, other: Self, mask: &Mask) -> Self;
    /// `WAYS` whole lanes in a row for each lane of the register: lane `n` of `result[i]` is lane `n * WAYS + i` of the
    /// `WAYS * BYTES` bytes at `from`.
    unsafe fn read_lanes<const WAYS: usize>(from: *const u8) -> [Self; WAYS];
    /// The way back: to `WAYS * BYTES` bytes at `to`, past the caches if `STREAM` (then `to` is a multiple of `BYTES`).
    unsafe fn write_lanes<const WAYS: usize, const STREAM: bool>(lanes: [Self; WAYS], to: *mut u8);
}
