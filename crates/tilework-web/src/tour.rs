//! The tour: from row-major order to swizzles, a layout and a question at each step.
//!
//! What is asked is always where an element is, and the answer is asked of the layout, so no step can be wrong about it.

use serde::Serialize;
use tilework::Result;

use crate::layout::read;

/// A step as it is written.
struct Step {
    title: &'static str,
    words: &'static [&'static str],
    layout: &'static str,
    /// The element that is asked for.
    element: &'static [u64],
    /// What there is to say when it is found.
    found: &'static str,
}

/// A step as it is shown.
#[derive(Serialize)]
pub struct Shown {
    number: usize,
    of: usize,
    title: &'static str,
    words: &'static [&'static str],
    layout: &'static str,
    element: &'static [u64],
    offset: String,
    worked: String,
    found: &'static str,
    titles: Vec<&'static str>,
}

/// A step, counted from 1; the nearest there is.
pub fn step(number: usize) -> Result<Shown> {
    let number = number.clamp(1, STEPS.len());
    let step = &STEPS[number - 1];
    let layout = read(step.layout)?.layout()?;
    Ok(Shown {
        number,
        of: STEPS.len(),
        title: step.title,
        words: step.words,
        layout: step.layout,
        element: step.element,
        offset: layout.offset(step.element)?.to_string(),
        worked: layout.formula_at(step.element)?,
        found: step.found,
        titles: STEPS.iter().map(|step| step.title).collect(),
    })
}

const STEPS: [Step; 15] = [
    Step {
        title: "Memory is a line",
        words: &[
            "An array has rows and columns. Memory has neither: it is one long line of places, numbered from 0. The number of a \
             place is called its offset.",
            "A layout says which element goes to which place. f32[3,5]{1,0} is an array of 3 rows and 5 columns. {1,0} lists \
             the dimensions from the one that changes fastest: columns (1), then rows (0). So rows follow one another. That \
             is row-major order.",
        ],
        layout: "f32[3,5]{1,0}",
        element: &[2, 3],
        found: "Two whole rows of 5 come before it, and 3 elements of its own row: 2 · 5 + 3.",
    },
    Step {
        title: "The other order",
        words: &[
            "{0,1} begins with dimension 0: now going down a column is going through memory one place at a time. That is \
             column-major order, as in Fortran.",
            "Same array, same 15 elements. Only their places differ.",
        ],
        layout: "f32[3,5]{0,1}",
        element: &[2, 3],
        found: "Three whole columns of 3 come before it, and 2 elements of its own column.",
    },
    Step {
        title: "Strides",
        words: &[
            "How far is it to the next row? That number is the stride of dimension 0. Here it is 8, although a row has only 5 \
             elements: 3 places behind each row hold nothing. They are padding.",
            "DirectML, NumPy and PyTorch say every layout by its strides.",
        ],
        layout: "f32[3,5]{strides(8,1)}",
        element: &[1, 0],
        found: "One step down is 8 places, whatever stands between.",
    },
    Step {
        title: "A stride of 0",
        words: &[
            "With a stride of 0, the next row is at the same place. One row in memory looks like three: that is broadcasting, \
             and it copies nothing.",
        ],
        layout: "f32[3,4]{strides(0,1)}",
        element: &[2, 1],
        found: "The row does not matter: 0 · 2 + 1.",
    },
    Step {
        title: "Tiles",
        words: &[
            "T(2,2) cuts the array into tiles of 2 × 2. A whole tile lies together in memory, then comes the next one. Within \
             a tile the order is row-major again.",
            "3 rows do not fill tiles of 2, nor do 5 columns. So 3 becomes 4 and 5 becomes 6, and 24 places hold 15 elements.",
        ],
        layout: "f32[3,5]{1,0:T(2,2)}",
        element: &[2, 3],
        found: "It is in the tile of row 1 and column 1: 4 tiles of 4 places come before it. In its tile it is the second: 16 + 1.",
    },
    Step {
        title: "What tiles cost",
        words: &[
            "A TPU likes tiles of 8 × 128. An array whose last dimension is 4 has 124 places of padding for every 4 elements: \
             32 times its size.",
            "Such arrays are why programs run out of memory. Another order of the dimensions, {0,2,1}, would take a 32nd of it. \
             The memory audit of this page finds them in the dump of a program.",
        ],
        layout: "s32[64,8,4]{2,1,0:T(8,128)}",
        element: &[1, 0, 0],
        found: "One whole tile of 8 · 128 places comes before it, and 992 of them are empty.",
    },
    Step {
        title: "Tiles in tiles",
        words: &[
            "A second tile cuts each tile again. In T(2,4)(2,1), tiles of 2 × 4 are cut into tiles of 2 × 1: two elements, one \
             above the other.",
            "So the two rows of a tile are interleaved: column 0 of both rows, then column 1 of both rows. A machine that works \
             on 32 bits at a time gets two 16-bit numbers at once. Walk through memory and watch the zigzag.",
        ],
        layout: "bf16[4,8]{1,0:T(2,4)(2,1)}",
        element: &[1, 2],
        found: "Columns 0 and 1 of both rows come first, then the element above it.",
    },
    Step {
        title: "The real thing",
        words: &[
            "bf16 on a TPU: tiles of 8 × 128, cut into pairs of rows. It is the step before, only larger. The picture shows the \
             ends and leaves out the middle.",
        ],
        layout: "bf16[16,256]{1,0:T(8,128)(2,1)}",
        element: &[1, 0],
        found: "Row 1 is interleaved with row 0, so its first element is the second in memory.",
    },
    Step {
        title: "Tiles of tiles",
        words: &[
            "A second tile with four numbers cuts the grid of the tiles, too. In T(2,4)(2,1,1,1) the first 2 says that tiles are \
             taken in pairs, one above the other.",
        ],
        layout: "f32[8,8]{1,0:T(2,4)(2,1,1,1)}",
        element: &[6, 5],
        found: "The lower half of the array, then its right pair of tiles, then the lower tile of the pair: 32 + 16, and 3 of the pair.",
    },
    Step {
        title: "Combined dimensions",
        words: &[
            "A * in a tile takes a dimension together with the next one. In T(*,2,2), dimensions 0 and 1 are first put together: \
             [2,3,4] is tiled as if it were [6,4].",
            "So a tile may hold the last row of one plane and the first of the next, and less is padded. XLA's document does this with              f32[2,7,8,11,10] and T(*,*,2,*,3), which is tiled as if it were [112,110].",
        ],
        layout: "f32[2,3,4]{2,1,0:T(*,2,2)}",
        element: &[1, 0, 0],
        found: "As a row of [6,4] it is row 3, the second row of the second row of tiles: 8 places for the first, then 2.",
    },
    Step {
        title: "Padding by number",
        words: &[
            "XLA's layouts once said the padded sizes directly: padded_dimensions. pad(3,5) makes 2 × 3 elements take 3 × 5 \
             places, here in column-major order.",
        ],
        layout: "s32[2,3]{0,1:pad(3,5)=zero}",
        element: &[0, 1],
        found: "A column takes 3 places, and the last of them is padding.",
    },
    Step {
        title: "The same idea elsewhere",
        words: &[
            "oneDNN writes nChw16c: blocks of 16 channels lie together. Capital C is the number of the block, 16c the channel \
             in it. That is a tile of one dimension that became the most minor one.",
            "20 channels fill two blocks of 16, so 12 channels of padding are allocated.",
        ],
        layout: "f32[1,20,2,2] nChw16c",
        element: &[0, 16, 0, 0],
        found: "Channel 16 begins the second block. The first has 2 · 2 · 16 places.",
    },
    Step {
        title: "DirectML",
        words: &[
            "A descriptor has sizes in the order N, C, H, W, and strides for each. Strides of [48,1,12,3] put the 3 channels of a \
             pixel side by side: NHWC. The sizes do not move; the strides do.",
        ],
        layout: "FLOAT32 [1,3,4,4] strides [48,1,12,3]",
        element: &[0, 2, 1, 0],
        found: "2 for the channel, 12 for the row: the dot product of the index and the strides.",
    },
    Step {
        title: "CuTe",
        words: &[
            "CuTe writes a tile as a dimension of two digits. (2,2) in the sizes is a dimension of 4 that counts as two digits of 2, and each \
             digit has its own stride behind the colon.",
        ],
        layout: "f32 ((2,2),(2,3)):((2,12),(1,4))",
        element: &[2, 3],
        found: "Row 2 is the digits 0 and 1: 12. Column 3 is the digits 1 and 1: 1 + 4.",
    },
    Step {
        title: "Swizzles",
        words: &[
            "A GPU's shared memory has banks. In a row-major tile, a whole column falls into one bank, and reading it takes turns. \
             A swizzle exchanges places, differently in each row, so that a column meets all banks.",
            "Here the 3 lower bits of the column are flipped by the bits of the row. Point at a column and watch where it goes.",
        ],
        layout: "f32 Sw<3,0,3> o 0 o (8,8):(8,1)",
        element: &[1, 0],
        found: "Without the swizzle it would be at 8; row 1 flips the lowest bit.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_layout_with_the_element_that_it_asks_for() {
        for number in 1..=STEPS.len() {
            let step = step(number).unwrap_or_else(|error| panic!("step {number}: {error}"));
            assert!(step.worked.ends_with(&step.offset), "step {number}");
        }
    }

    #[test]
    fn what_the_terms_of_a_formula_come_to_adds_up() {
        let texts = [
            "f32[3,5]{1,0:T(2,2)}",
            "bf16[64,300]{1,0:T(8,128)(2,1)}",
            "f32[9,10]{0,1:T(3,2)(2,1)}",
            "f32[2,3,4]{2,1,0:T(*,2,2)}",
            "f32[2,3]{strides(-5,1),base(5),size(8)}",
            "f32[1,20,2,2] nChw16c",
        ];
        for text in texts {
            let layout = read(text).and_then(|said| said.layout()).expect(text);
            for place in 0..layout.size().min(2000) {
                let Ok(tilework::Place::Element(index)) = layout.locate(place) else { continue };
                let worked = layout.formula_at(&index).expect("an element");
                let steps: Vec<&str> = worked.split(" = ").collect();
                let sum = |step: &str| {
                    let terms = step.replace(" − ", " + −").replace('−', "-");
                    terms.split(" + ").map(|term| term.parse::<i64>()).sum::<Result<i64, _>>()
                };
                for step in &steps[1..] {
                    assert_eq!(sum(step), Ok(place.cast_signed()), "{text}: {worked}");
                }
            }
        }
    }

    #[test]
    fn answers_are_those_that_the_steps_explain() {
        let offsets: Vec<String> =
            (1..=STEPS.len()).map(|number| step(number).map_or(String::new(), |step| step.offset)).collect();
        let worked_by_hand =
            ["13", "11", "8", "1", "17", "1024", "5", "1", "51", "10", "3", "64", "14", "17", "9"];
        assert_eq!(offsets, worked_by_hand);
    }
}
