//! What holds for every page and picture, whatever foreign text is in it.

/// The elements of our pages and pictures.
const TAGS: [&str; 42] = [
    "html", "head", "meta", "title", "style", "body", "div", "section", "h1", "h2", "h3", "p", "span",
    "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code", "details", "summary", "svg", "g",
    "rect", "path", "text", "b", "br", "i", "ol", "a", "small", "script", "defs", "pattern", "circle",
    "line", "tspan",
];

/// Walks over a page tag by tag: no foreign text has become a tag, an attribute, a script or an address, and no character is left
/// that a browser or a terminal would obey.
pub fn check(page: &str) {
    is_harmless(page);
    let mut rest = page.strip_prefix("<!doctype html>").unwrap_or(page);
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        assert!(!text.contains('>'), "a > that is not escaped in {text:?}");
        let end = end_of(tag);
        let inside = tag[1..end].trim_start_matches('/').trim_end_matches('/');
        let (name, attributes) = inside.split_once([' ', '\n']).unwrap_or((inside, ""));
        assert!(TAGS.contains(&name), "the tag {name:?} in {}", &tag[..end]);
        let pieces: Vec<&str> = attributes.split('"').collect();
        for pair in pieces.chunks(2) {
            let key = pair[0].trim().trim_end_matches('=').to_ascii_lowercase();
            let to = pair.get(1).copied().unwrap_or_default();
            // Links lead to parts of the page, or to what it draws: both are behind a `#`.
            let leads_away = key.contains("href") && !to.starts_with('#');
            assert!(!key.starts_with("on") && !leads_away && !key.contains("src"), "{}", &tag[..end]);
            // What fills a shape is a pattern of the picture.
            let to = to.to_ascii_lowercase();
            assert!(
                !to.contains("javascript:") && !to.replace("url(#", "").contains("url("),
                "{}",
                &tag[..end]
            );
        }
        rest = &tag[end + 1..];
        if name == "style" && !tag.starts_with("</") {
            let end = rest.find("</style>").expect("styles end");
            assert!(!rest[..end].contains('<'), "a tag in the styles");
            rest = &rest[end..];
        }
        // The one script is ours, and the last thing of a page.
        if name == "script" && !tag.starts_with("</") {
            rest = &rest[rest.find("</script>").expect("scripts end")..];
            assert_eq!(rest.trim_end(), "</script>\n</body></html>");
        }
    }
}

/// No character is there that a browser or a terminal would obey.
pub fn is_harmless(text: &str) {
    let control = |c: char| c != '\n' && c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(control), "a control character in {text:?}");
}

/// Where a tag ends: at the first > outside of quotes.
fn end_of(tag: &str) -> usize {
    let mut quoted = false;
    for (at, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return at,
            _ => {}
        }
    }
    panic!("a tag that does not end: {:?}", &tag[..tag.len().min(80)]);
}
