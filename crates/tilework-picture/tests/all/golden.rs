//! Figures as they were when somebody last looked at them.
//!
//! After a change that is meant: `UPDATE_FIGURES=1 cargo test -p tilework-picture --test all golden`, and look at them in a browser.

use std::fs;
use std::path::{Path, PathBuf};

use tilework::{Layout, Plan, PlanOptions, Result, Swizzle, dialect};
use tilework_picture::figure::{self, Options, Theme, View};

use crate::read::read;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn layout(text: &str) -> Result<Layout> {
    dialect::read_one(text)?.layout()
}

fn titled(title: &str) -> Options {
    Options { title: title.to_owned(), rows: 8, memory_rows: 5, width: 640, ..Options::default() }
}

/// Every kind of figure, by name.
fn figures() -> Result<Vec<(&'static str, String)>> {
    let mut figures = Vec::new();
    for (name, text) in [
        ("two_tiles", "bf16[4,8]{1,0:T(2,4)(2,1)}"),
        ("ragged", "f32[3,5]{1,0:T(2,2)}"),
        ("uneven_in_one_dimension", "f32[7]{0:T(3)(2)}"),
        ("combined", "f32[4,3,2]{2,1,0:T(*,4)}"),
        ("huge", "f32[1000000,1000000000]{1,0:T(8,128)}"),
        ("backward", "f32[3,4]{strides(-6,1),base(12),size(20)}"),
        ("broadcast", "f32[2,3]{strides(0,1)}"),
        ("half_bytes", "s4[2,3]{1,0:E(4)}"),
        ("blocked", "f32[1,20,2,2] nChw8c"),
        ("scalar", "f32[]{:T(4)}"),
        ("empty", "f32[0,3]"),
    ] {
        figures.push((name, figure::of_layout(&layout(text)?, &titled(text))));
    }
    let ragged = layout("f32[3,5]{1,0:T(2,2)}")?;
    let dark = Options { theme: Theme::Dark, views: vec![View::Array], ..titled("dark") };
    figures.push(("dark", figure::of_layout(&ragged, &dark)));
    let packed = layout("bf16[20,200]{1,0:T(8,128)(2,1)}")?;
    let register = Options { rows: 3, views: vec![View::Registers], ..titled("a register") };
    figures.push(("register", figure::of_layout(&packed, &register)));
    let swizzled = Layout::row_major(&[4, 4], 32)?.swizzled(&Swizzle::new(2, 0, 2)?)?;
    figures.push(("swizzled", figure::of_layout(&swizzled, &titled("S<2,0,2>"))));
    let deep = layout("f32[2,3,2,3,4,5]{5,4,3,2,1,0:T(2,4)}")?;
    let slice = vec![Some(1), None, Some(1), Some(2), Some(3), None];
    let named = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
    let options = Options { slice, names: named, views: vec![View::Array], ..titled("six dimensions") };
    figures.push(("slice", figure::of_layout(&deep, &options)));
    let rows = layout("f32[3,5]")?;
    let texts = ["f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0}"];
    figures.push(("compared", figure::of_two([&ragged, &rows], texts, &titled("A and B"))));
    let plan = Plan::new(&ragged, &rows, &PlanOptions::default())?;
    figures.push(("planned", figure::of_plan(&plan, texts, &titled("A → B"))));
    Ok(figures)
}

#[test]
fn figures_look_as_they_did() -> Result<()> {
    let update = std::env::var_os("UPDATE_FIGURES").is_some();
    let mut names = Vec::new();
    let mut changed = Vec::new();
    for (name, svg) in figures()? {
        read(&svg); // well-formed
        let path = folder().join(format!("{name}.svg"));
        names.push(path.clone());
        if fs::read_to_string(&path).is_ok_and(|before| before.replace("\r\n", "\n") == svg) {
            continue;
        }
        changed.push(name);
        if update {
            fs::create_dir_all(folder()).expect("a folder");
            fs::write(&path, svg).expect("a file");
        }
    }
    for file in fs::read_dir(folder()).expect("there are figures").flatten() {
        assert!(names.contains(&file.path()), "{} is drawn by nobody", file.path().display());
    }
    assert!(update || changed.is_empty(), "changed: {changed:?}; UPDATE_FIGURES=1 writes them");
    Ok(())
}

/// Some of them: code that is not optimised takes a second for each.
#[test]
fn figures_become_the_same_png_each_time() -> Result<()> {
    for (name, svg) in figures()?.into_iter().filter(|(name, _)| ["scalar", "dark"].contains(name)) {
        let png = tilework_picture::png(&svg, 0.5).expect(name);
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let width = u32::from_be_bytes(png[16..20].try_into().expect("four bytes"));
        assert_eq!(width, 320, "{name}");
        assert_eq!(png, tilework_picture::png(&svg, 0.5).expect(name), "{name}");
        // Without its text it is another picture: the font is there.
        let silent: String = svg
            .split("<text")
            .map(|part| part.split_once("</text>").map_or(part, |(_, rest)| rest))
            .collect();
        assert_ne!(png, tilework_picture::png(&silent, 0.5).expect(name), "{name}");
    }
    Ok(())
}
