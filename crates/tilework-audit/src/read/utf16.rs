//! Text in UTF-16, as shells of Windows write what a program prints, read as UTF-8.

use std::io::{self, BufRead, Read};

/// Which of the two bytes of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// A reader of UTF-16 behind its byte order mark. What is no UTF-16 becomes U+FFFD.
pub(crate) struct Utf16<R> {
    input: R,
    order: Order,
    text: Vec<u8>,
    /// How much of the text was read.
    used: usize,
    /// The first half of a pair, whose second half comes next.
    half: Option<u16>,
}

/// Bytes that are decoded at a time.
const PIECE: usize = 1 << 16;

impl<R: BufRead> Utf16<R> {
    pub(crate) fn new(input: R, order: Order) -> Utf16<R> {
        Utf16 { input, order, text: Vec::new(), used: 0, half: None }
    }

    fn decode(&mut self) -> io::Result<()> {
        self.text.clear();
        self.used = 0;
        let mut piece = Vec::with_capacity(PIECE);
        self.input.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
        let (units, rest) = piece.as_chunks::<2>();
        let units = units.iter().map(|&unit| match self.order {
            Order::Little => u16::from_le_bytes(unit),
            Order::Big => u16::from_be_bytes(unit),
        });
        let units: Vec<u16> = self.half.take().into_iter().chain(units).collect();
        let is_first = |unit: &u16| (0xd800..0xdc00).contains(unit);
        let more = piece.len() == PIECE;
        let whole = match units.split_last() {
            Some((last, before)) if more && is_first(last) => {
                self.half = Some(*last);
                before
            }
            _ => &units[..],
        };
        let mut bytes = [0; 4];
        let mut push =
            |character: char| self.text.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
        for character in char::decode_utf16(whole.iter().copied()) {
            push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !rest.is_empty() {
            push(char::REPLACEMENT_CHARACTER);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let text = self.fill_buf()?;
        let count = text.len().min(buffer.len());
        buffer[..count].copy_from_slice(&text[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Utf16<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // A piece that is nothing but the first half of a pair has no text yet.
        while self.used >= self.text.len() {
            self.decode()?;
            if self.text.is_empty() && self.half.is_none() {
                break;
            }
        }
        Ok(&self.text[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used = (self.used + count).min(self.text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &[u8], order: Order) -> String {
        let mut found = String::new();
        Utf16::new(text, order).read_to_string(&mut found).expect("memory is read");
        found
    }

    #[test]
    fn text_is_the_same_in_either_order_and_wherever_a_piece_ends() {
        for shift in 0..3 {
            let text: String = "x".repeat(shift) + &"ab\n𝄞é".repeat(PIECE / 5);
            let bytes = |of: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(of).collect::<Vec<u8>>();
            assert!(decoded(&bytes(u16::to_le_bytes), Order::Little) == text, "{shift}");
            assert!(decoded(&bytes(u16::to_be_bytes), Order::Big) == text, "{shift}");
        }
    }

    #[test]
    fn halves_become_a_mark() {
        assert_eq!(decoded(&[0x34, 0xd8, b'a', 0], Order::Little), "\u{fffd}a");
        assert_eq!(decoded(&[b'a', 0, b'b'], Order::Little), "a\u{fffd}");
        assert_eq!(decoded(&[0xd8, 0x34], Order::Big), "\u{fffd}");
        assert_eq!(decoded(&[], Order::Big), "");
    }
}
