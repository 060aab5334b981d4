//! Scenes say what the layout says, whatever is cut away.

use tilework::{Layout, Place, Result};
use tilework_picture::{Border, Content, Grid, Head, Look, Room, Scene, terminal};

const ALL: Room = Room { rows: 1000, columns: 1000 };

/// Layouts of one and two dimensions in all kinds of tiles; every small combination.
fn layouts() -> Result<Vec<Layout>> {
    let mut layouts = Vec::new();
    for dims in [vec![7], vec![1], vec![3, 5], vec![6, 4], vec![1, 9], vec![8, 8]] {
        let tiles: Vec<Vec<Option<u64>>> =
            vec![vec![], vec![Some(3)], vec![Some(2), Some(4)], vec![Some(4), Some(1)], vec![None, Some(4)]];
        for first in &tiles {
            for second in &tiles {
                for order in [true, false] {
                    let mut builder = Layout::builder(&dims, 32)?;
                    if order && dims.len() == 2 {
                        builder = builder.minor_to_major(&[0, 1])?;
                    }
                    for tile in [first, second].into_iter().filter(|tile| !tile.is_empty()) {
                        builder = builder.tile(tile)?;
                    }
                    layouts.push(builder.build()?);
                }
            }
        }
    }
    Ok(layouts)
}

#[test]
fn every_element_stands_in_its_row_and_column_with_its_offset() -> Result<()> {
    for layout in layouts()? {
        for room in [ALL, Room { rows: 5, columns: 6 }, Room { rows: 2, columns: 3 }] {
            let grid = Grid::array(&layout, room).expect("there are elements");
            let mut elements = 0;
            for (row, row_lane) in grid.rows.iter().enumerate() {
                for (column, column_lane) in grid.columns.iter().enumerate() {
                    let index: Option<Vec<u64>> = [row_lane.head, column_lane.head][2 - layout.rank()..]
                        .iter()
                        .map(|head| if let Head::Index(at) = head { Some(*at) } else { None })
                        .collect();
                    let content = &grid.cell(row, column).expect("a cell").content;
                    match index {
                        Some(index) => assert_eq!(*content, Content::Offset(layout.offset(&index)?)),
                        None => assert!(matches!(content, Content::Padding(_) | Content::Cut)),
                    }
                    elements += u64::from(matches!(content, Content::Offset(_)));
                }
            }
            assert!(!grid.is_cut() || room != ALL);
            if !grid.is_cut() {
                assert_eq!(elements, layout.len());
                if grid.combined.is_empty() && layout.rank() == 2 {
                    // Every allocated place has its cell, padding included, unless a tile added a dimension.
                    let cells = (grid.rows.len() * grid.columns.len()) as u64;
                    assert!(
                        cells == layout.size() || layout.size() % cells == 0,
                        "{cells} of {}",
                        layout.size()
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_place_of_memory_has_what_locate_says() -> Result<()> {
    for layout in layouts()? {
        for room in [ALL, Room { rows: 3, columns: 7 }] {
            let grid = Grid::memory(&layout, room).expect("something is allocated");
            let mut next = 0;
            for (row, lane) in grid.rows.iter().enumerate() {
                let Head::Offset(start) = lane.head else { continue };
                for column in 0..grid.columns.len() {
                    let content = &grid.cell(row, column).expect("a cell").content;
                    if grid.is_cut() {
                        if let (0, Content::Index(index)) = (column, content) {
                            assert_eq!(layout.offset(index)?, start);
                        }
                        continue;
                    }
                    let inside = start + (column as u64) < layout.size();
                    assert_eq!(inside, *content != Content::Nothing);
                    match content {
                        Content::Index(index) => {
                            assert_eq!(layout.locate(next)?, Place::Element(index.clone()))
                        }
                        Content::Padding(cause) => {
                            let Place::Padding(padding) = layout.locate(next)? else {
                                panic!("an element at {next}")
                            };
                            assert_eq!(*cause, Some(padding));
                        }
                        _ => continue,
                    }
                    next += 1;
                }
            }
            assert!(grid.is_cut() || next == layout.size());
        }
    }
    Ok(())
}

#[test]
fn a_border_stands_exactly_between_different_tiles() -> Result<()> {
    for layout in layouts()? {
        let grid = Grid::array(&layout, ALL).expect("there are elements");
        for row in 0..grid.rows.len() {
            for column in 1..grid.columns.len() {
                let (before, here) = (grid.cell(row, column - 1), grid.cell(row, column));
                let (Some(before), Some(here)) = (before, here) else { panic!("a cell is missing") };
                if let (Content::Offset(_), Content::Offset(_)) = (&before.content, &here.content) {
                    assert_eq!(before.tile != here.tile, here.left == Border::Tile, "{layout:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn nothing_is_drawn_of_nothing() -> Result<()> {
    let empty = Layout::row_major(&[0, 3], 32)?;
    let scene = Scene::new(&empty, ALL, ALL);
    assert!(scene.array.is_none() && scene.memory.is_none());
    assert!(terminal::picture(&empty, 80, Look::default()).is_empty());
    // All padding: no elements, but memory.
    let padded = Layout::builder(&[0, 3], 32)?.padded(&[2, 3])?.build()?;
    let scene = Scene::new(&padded, ALL, ALL);
    assert!(scene.array.is_none());
    assert_eq!(padded.size() > 0, scene.memory.is_some());
    Ok(())
}

#[test]
fn views_are_drawn_like_what_they_show() -> Result<()> {
    let layout = Layout::builder(&[6, 8], 32)?.tile(&[Some(2), Some(4)])?.build()?;
    for view in [
        layout.slice(0, 1..6, 2)?,
        layout.flip(1)?,
        layout.permute(&[1, 0])?,
        layout.reshape(&[48])?,
        layout.reshape(&[3, 2, 8])?,
        Layout::row_major(&[3], 32)?.broadcast(&[2, 3])?,
    ] {
        let grid = Grid::array(&view, ALL).expect("there are elements");
        let offsets = grid.cells.iter().filter(|cell| matches!(cell.content, Content::Offset(_))).count();
        assert!(offsets > 0 && !terminal::picture(&view, 80, Look::default()).is_empty());
    }
    Ok(())
}
