//! Pictures as files: what is written where, and what is refused.

use std::fs;
use std::path::Path;

use crate::common::files::Folder;
use crate::common::run;

const TILED: &str = "f32[3,5]{1,0:T(2,2)}";

#[test]
fn a_picture_is_written_and_nothing_is_said() {
    let folder = Folder::new();
    let file = folder.at("tiles.svg");
    let plan = ["plan", TILED, "f32[3,5]", "--svg", &file];
    let compare = ["compare", TILED, "f32[3,5]", "--svg", &file];
    for (words, code) in [(&["show", TILED, "--svg", &file][..], 0), (&plan, 0), (&compare, 1)] {
        let ran = run(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (code, "", ""), "{words:?}");
        let svg = fs::read_to_string(&file).expect("a file");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains(" width=\"800\""));
        assert!(svg.contains("data-o=\"17\" data-i=\"2,3\""), "{words:?}");
        fs::remove_file(&file).expect("it is ours");
    }
    assert!(folder.names().is_empty());
}

#[test]
fn a_picture_has_the_width_theme_views_and_slice_that_were_asked_for() {
    let ran =
        run(&["show", "f32[2,3,4]", "--svg", "-", "--width", "500", "--theme", "dark", "--views", "array"]);
    assert!(ran.stdout.contains(" width=\"500\"") && ran.stdout.contains("var(--tw-paper,#0d1117)"));
    assert!(ran.stdout.contains("class=\"array\"") && !ran.stdout.contains("class=\"memory\""));
    assert!(ran.stdout.contains("data-i=\"0,2,3\"") && !ran.stdout.contains("data-i=\"1,2,3\""));
    let ran = run(&["show", "f32[2,3,4]", "--svg", "-", "--views", "array", "--slice", "1,:,:"]);
    assert!(ran.stdout.contains("data-i=\"1,2,3\"") && !ran.stdout.contains("data-i=\"0,2,3\""));
    let ran = run(&["show", "f32[2,3]", "--axes", "rows,c<b>", "--svg", "-"]);
    assert!(ran.code == 2 || ran.stdout.contains(">rows \\ "), "{}", ran.stderr);
    let ran = run(&["show", "f32[2,3]", "--axes", "rows,columns", "--svg", "-"]);
    assert!(ran.stdout.contains(">rows \\ columns</text>"), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_written_is_an_error_and_leaves_no_file() {
    let folder = Folder::new();
    let old = folder.write("old.svg", b"old");
    let (none, other) = (folder.at("none/x.svg"), folder.at("x.svg"));
    for (words, error) in [
        (&["show", TILED, "--svg", &none][..], "a folder that exists"),
        (&["show", "f32[3,5]{0,0}", "--svg", &old], "error: "),
        (&["show", "(f32[2], f32[3])", "--svg", &old], "tuple"),
        (&["show", TILED, "--svg", "-", "--png", "-"], "standard output"),
        (&["show", TILED, "--theme", "dark"], "--svg"),
        (&["show", TILED, "--svg", &other, "--json"], "--json"),
        (&["show", TILED, "--svg", &other, "--slice", "x"], "such as 0,:,:"),
        (&["show", TILED, "--png", &other, "--scale", "99"], "0.1 to 16"),
    ] {
        let ran = run(words);
        assert!(ran.code == 2 && ran.stderr.contains(error), "{words:?}: {} {}", ran.code, ran.stderr);
    }
    assert_eq!(folder.read("old.svg"), b"old");
    assert_eq!(folder.names(), ["old.svg"]);
    // Two pictures cannot have one name: the first has it.
    let ran = run(&["show", TILED, "f32[2]", "--svg", &other]);
    assert!(ran.code == 2 && ran.stderr.contains("more than one picture"), "{}", ran.stderr);
    assert!(fs::read_to_string(&other).expect("a file").contains("data-i=\"2,3\""));
}

#[test]
fn a_png_is_as_many_times_as_large() {
    let folder = Folder::new();
    let (svg, png) = (folder.at("x.svg"), folder.at("x.png"));
    let ran = run(&["show", TILED, "--png", &png, "--svg", &svg, "--width", "400", "--scale", "1.5"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    assert_eq!(folder.read("x.png")[16..20], 600_u32.to_be_bytes());
    assert!(Path::new(&svg).is_file());
    let ran = run(&["show", TILED, "--png", &png, "--width", "8000", "--scale", "16"]);
    assert!(ran.code == 2 && ran.stderr.contains("a smaller --scale or --width"), "{}", ran.stderr);
    assert_eq!(folder.read("x.png")[16..20], 600_u32.to_be_bytes());
}

/// The pictures of the documents, each with the words that draw it.
const PICTURES: [(&str, &[&str]); 1] =
    [("docs/tiles.svg", &["show", "bf16[4,8]{1,0:T(2,4)(2,1)}", "--width", "640", "--svg", "-"])];

#[test]
fn the_pictures_of_the_documents_are_those_of_today() {
    for (file, words) in PICTURES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let ran = run(words);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            fs::write(&path, &ran.stdout).expect("a file");
        }
        let stored = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert_eq!(stored, ran.stdout, "UPDATE_DOCUMENTS=1 draws {file} again");
    }
}
