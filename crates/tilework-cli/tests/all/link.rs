//! `tilework link`: what it prints, and that the page reads it.

use tilework_explain::link::{Link, decode};

use crate::common::{Ran, command, run, run_with};

const SHAPE: &str = "f32[3,5]{1,0:T(2,2)}";

#[test]
fn a_link_opens_what_it_was_made_for() {
    let Ran { stdout, code, .. } =
        run(&["link", SHAPE, "--at", "17", "--base", "https://example.org/page#old"]);
    assert_eq!(code, 0);
    assert_eq!(stdout, "https://example.org/page#1l=f32~3,5$;1,0:T(2,2)@&o=17\n");
    let (_, fragment) = stdout.trim().split_once('#').expect("a fragment");
    let at = Some("17".to_owned());
    assert_eq!(
        decode(fragment).expect("our own"),
        Link::Layout { text: SHAPE.to_owned(), at, slice: Vec::new(), axes: String::new() }
    );
}

#[test]
fn two_layouts_are_a_link_and_braces_take_the_array_of_the_first() {
    let Ran { stdout, code, .. } = run(&["link", SHAPE, "{0,1}"]);
    assert_eq!((stdout.as_str(), code), ("tilework.html#1t=f32~3,5$;1,0:T(2,2)@&b=;0,1@\n", 0));
}

#[test]
fn the_page_is_where_the_environment_says() {
    let mut asked = command(&["link", "f32[2]", "--json"]);
    asked.env("TILEWORK_PAGE", "file:///home/me/tilework.html");
    let Ran { stdout, .. } = run_with(asked, b"");
    assert_eq!(stdout, "{\"link\":\"file:///home/me/tilework.html#1l=f32~2$\"}\n");
}

#[test]
fn what_the_page_could_not_read_has_no_link() {
    let Ran { stdout, stderr, code } = run(&["link", "f32[3,"]);
    assert_eq!((stdout.as_str(), code), ("", 2));
    assert!(stderr.contains("the text ends here"), "{stderr}");
    let long = format!("f32[{}]", vec!["1"; 40_000].join(","));
    assert_eq!(run(&["link", &long]).code, 2);
}
