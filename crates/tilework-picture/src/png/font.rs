//! The outlines of characters in our own TrueType font.
//!
//! The font is part of the library, so what is read here is known to be well-formed; whatever is not is a character without an
//! outline.

use super::raster::Point;

/// The width of each character, in parts of the height: the font is monospaced.
pub(super) const ADVANCE: f64 = 1233.0 / 2048.0;

/// The pieces of a curve.
const PIECES: u32 = 6;

/// How deep characters that are made of others go.
const DEPTH: u32 = 4;

pub(super) struct Font<'a> {
    data: &'a [u8],
    glyphs: usize,
    places: usize,
    characters: usize,
    units: f64,
    /// Whether places of glyphs are 4 bytes wide, and not 2.
    are_long: bool,
}

impl<'a> Font<'a> {
    pub(super) fn new(data: &'a [u8]) -> Option<Font<'a>> {
        let count = short(data, 4)?;
        let table = |name: &[u8; 4]| {
            let entries = (0..usize::from(count)).map(|number| 12 + 16 * number);
            let entry = entries.into_iter().find(|&at| data.get(at..at + 4) == Some(name))?;
            Some(long(data, entry + 8)? as usize)
        };
        let (head, cmap) = (table(b"head")?, table(b"cmap")?);
        // The characters of the basic plane, segment by segment.
        let characters = (0..usize::from(short(data, cmap + 2)?)).find_map(|number| {
            let at = cmap + long(data, cmap + 4 + 8 * number + 4)? as usize;
            (short(data, at)? == 4).then_some(at)
        })?;
        Some(Font {
            data,
            glyphs: table(b"glyf")?,
            places: table(b"loca")?,
            characters,
            units: f64::from(short(data, head + 18)?),
            are_long: short(data, head + 50)? == 1,
        })
    }

    pub(super) fn advance(&self) -> f64 {
        ADVANCE
    }

    /// The contours of a character, in parts of its height, upward from its line. One that the font lacks is a box.
    pub(super) fn outline(&self, letter: char) -> Vec<Vec<Point>> {
        let glyph = self.glyph(letter).unwrap_or(0);
        let mut contours = Vec::new();
        self.contours(glyph, (0.0, 0.0), DEPTH, &mut contours);
        for point in contours.iter_mut().flatten() {
            *point = (point.0 / self.units, point.1 / self.units);
        }
        contours
    }

    fn glyph(&self, letter: char) -> Option<u16> {
        let code = u16::try_from(u32::from(letter)).ok()?;
        let (data, at) = (self.data, self.characters);
        let double = usize::from(short(data, at + 6)?);
        let (ends, starts) = (at + 14, at + 16 + double);
        let (deltas, ranges) = (starts + double, starts + 2 * double);
        let segment = (0..double).step_by(2).find(|&segment| short(data, ends + segment) >= Some(code))?;
        let start = short(data, starts + segment)?;
        if code < start {
            return None;
        }
        let delta = short(data, deltas + segment)?;
        let glyph = match short(data, ranges + segment)? {
            0 => code.wrapping_add(delta),
            range => {
                let place = ranges + segment + usize::from(range) + 2 * usize::from(code - start);
                short(data, place)?.wrapping_add(delta)
            }
        };
        (glyph != 0).then_some(glyph)
    }

    fn contours(&self, glyph: u16, shift: Point, depth: u32, contours: &mut Vec<Vec<Point>>) -> Option<()> {
        let glyph = usize::from(glyph);
        let place = |number: usize| match self.are_long {
            true => Some(long(self.data, self.places + 4 * number)? as usize),
            false => Some(2 * usize::from(short(self.data, self.places + 2 * number)?)),
        };
        let (start, end) = (place(glyph)?, place(glyph + 1)?);
        let data = self.data.get(self.glyphs + start..self.glyphs + end).filter(|data| !data.is_empty())?;
        match signed(data, 0)? {
            count @ 0.. => simple(data, count as usize, shift, contours),
            _ if depth > 0 => self.composite(data, shift, depth, contours),
            _ => None,
        }
    }

    /// A character that is made of others at places of their own, such as é.
    fn composite(&self, data: &[u8], shift: Point, depth: u32, contours: &mut Vec<Vec<Point>>) -> Option<()> {
        const WORDS: u16 = 1;
        const SCALES: [(u16, usize); 3] = [(8, 2), (0x40, 4), (0x80, 8)];
        const MORE: u16 = 0x20;
        let mut at = 10;
        loop {
            let (flags, glyph) = (short(data, at)?, short(data, at + 2)?);
            let (x, y, next) = match flags & WORDS {
                0 => (i16::from(*data.get(at + 4)? as i8), i16::from(*data.get(at + 5)? as i8), at + 6),
                _ => (signed(data, at + 4)?, signed(data, at + 6)?, at + 8),
            };
            let moved = (shift.0 + f64::from(x), shift.1 + f64::from(y));
            self.contours(glyph, moved, depth - 1, contours);
            let scales = SCALES.iter().filter(|(flag, _)| flags & flag != 0);
            at = next + scales.map(|(_, bytes)| bytes).sum::<usize>();
            if flags & MORE == 0 {
                return Some(());
            }
        }
    }
}

/// The contours of a character that is made of points.
fn simple(data: &[u8], count: usize, shift: Point, contours: &mut Vec<Vec<Point>>) -> Option<()> {
    const ON: u8 = 1;
    const SHORT: [u8; 2] = [2, 4];
    const SAME: [u8; 2] = [16, 32];
    const AGAIN: u8 = 8;
    let ends: Vec<usize> =
        (0..count).map(|number| short(data, 10 + 2 * number).map(usize::from)).collect::<Option<_>>()?;
    let points = ends.last().map_or(0, |last| last + 1);
    let mut at = 10 + 2 * count;
    at += 2 + usize::from(short(data, at)?); // what the hints would take
    let mut flags = Vec::with_capacity(points);
    while flags.len() < points {
        let flag = *data.get(at)?;
        at += 1;
        let times = if flag & AGAIN != 0 { usize::from(*data.get(at)?) } else { 0 };
        at += usize::from(flag & AGAIN != 0);
        flags.extend(std::iter::repeat_n(flag, times + 1));
    }
    let mut sides = [Vec::with_capacity(points), Vec::with_capacity(points)];
    for (side, values) in sides.iter_mut().enumerate() {
        let mut value = 0.0;
        for flag in &flags[..points] {
            value += match (flag & SHORT[side] != 0, flag & SAME[side] != 0) {
                (true, positive) => {
                    let step = f64::from(*data.get(at)?);
                    at += 1;
                    if positive { step } else { -step }
                }
                (false, true) => 0.0,
                (false, false) => {
                    at += 2;
                    f64::from(signed(data, at - 2)?)
                }
            };
            values.push(value);
        }
    }
    let mut start = 0;
    for end in ends {
        let place = |at: usize| (sides[0][at] + shift.0, sides[1][at] + shift.1);
        let points: Vec<(Point, bool)> = (start..=end).map(|at| (place(at), flags[at] & ON != 0)).collect();
        contours.push(flattened(&points));
        start = end + 1;
    }
    Some(())
}

/// A closed contour of straight pieces. Between two points of curves there is one on the contour, in their middle.
fn flattened(points: &[(Point, bool)]) -> Vec<Point> {
    let middle = |a: Point, b: Point| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return Vec::new() };
    let mut here = match (first.1, last.1) {
        (true, _) => first.0,
        (false, true) => last.0,
        (false, false) => middle(first.0, last.0),
    };
    let begin = here;
    let mut out = vec![here];
    let mut bend: Option<Point> = None;
    for &(point, is_on) in points.iter().chain([&(begin, true)]) {
        let end = match (bend, is_on) {
            (None, true) => {
                out.push(point);
                here = point;
                continue;
            }
            (None, false) => {
                bend = Some(point);
                continue;
            }
            (Some(_), true) => point,
            (Some(before), false) => middle(before, point),
        };
        let control = bend.unwrap_or(end);
        for piece in 1..=PIECES {
            let t = f64::from(piece) / f64::from(PIECES);
            let mix =
                |a: f64, b: f64, c: f64| a * (1.0 - t) * (1.0 - t) + 2.0 * b * t * (1.0 - t) + c * t * t;
            out.push((mix(here.0, control.0, end.0), mix(here.1, control.1, end.1)));
        }
        here = end;
        bend = (!is_on).then_some(point);
    }
    out
}

fn short(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn signed(data: &[u8], at: usize) -> Option<i16> {
    Some(i16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the area within a contour, with the sign of its direction.
    fn area(contour: &[Point]) -> f64 {
        let next = contour.iter().cycle().skip(1);
        contour.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum()
    }

    #[test]
    fn every_character_that_figures_write_has_an_outline() {
        let font = Font::new(super::super::FONT).expect("a font");
        let boxed = font.outline('\u{e000}');
        assert!(!boxed.is_empty());
        for letter in ('!'..='~').chain("·×→−…⌊⌋≤≥é�".chars()) {
            let outline = font.outline(letter);
            assert!(!outline.is_empty() && outline != boxed, "{letter}");
            for &(x, y) in outline.iter().flatten() {
                assert!((-0.1..=0.75).contains(&x) && (-0.4..=1.1).contains(&y), "{letter}: {x} {y}");
            }
        }
        assert!(font.outline(' ').is_empty() && font.outline('\u{a0}').is_empty());
        assert_eq!(font.outline('😀'), boxed);
    }

    #[test]
    fn outlines_have_the_holes_of_their_letters() {
        let font = Font::new(super::super::FONT).expect("a font");
        for (letter, contours) in [('l', 1), ('i', 2), ('o', 2), ('8', 3), ('B', 3), ('é', 3), ('%', 5)] {
            let outline = font.outline(letter);
            assert_eq!(outline.len(), contours, "{letter}");
        }
        let o = font.outline('o');
        let (one, other) = (area(&o[0]), area(&o[1]));
        assert!(one * other < 0.0 && one.abs() != other.abs(), "{one} {other}");
    }

    #[test]
    fn what_is_no_font_is_none() {
        for data in [&b""[..], b"OTTO", &[0; 400]] {
            assert!(Font::new(data).is_none());
        }
        // A font that ends too early has characters without an outline.
        let cut = &super::super::FONT[..super::super::FONT.len() / 2];
        if let Some(font) = Font::new(cut) {
            for letter in '!'..='~' {
                font.outline(letter);
            }
        }
    }
}
