//! Pages of audits, whatever stands in a dump: no foreign text becomes a tag, an attribute, a script or an address, and no
//! character is left that a browser or a terminal would obey.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework_audit::Audit;
use tilework_explain::{AuditPage, audit_html, audit_html_part};

/// A dump or a log in which the input stands for names: before it and behind it. None lets the input be all of it.
const FRAMES: [Option<(&str, &str)>; 5] = [
    None,
    Some((
        "HloModule ",
        "\n\nENTRY %main (x: f32[64,300]) -> f32[300,64] {\n  %x = f32[64,300]{1,0} parameter(0)\n  \
         ROOT %c = f32[64,300]{0,1:T(8,128)} copy(%x)\n}\n",
    )),
    Some((
        "HloModule m, is_scheduled=true\n\nENTRY %main (x: f32[64,300]) -> f32[64,300] {\n  %x = f32[64,300]{1,0} parameter(0)\n  \
         ROOT %c = f32[64,300]{0,1:T(8,128)} copy(%x), metadata={op_name=\"",
        "\" source_file=\"a.py\" source_line=3}\n}\n",
    )),
    Some((
        "Ran out of memory in memory space hbm. Used 2.00G of 1.00G hbm.\n\n  Largest program allocations in hbm:\n\n  \
         1. Size: 1.00G\n     Operator: op_name=\"",
        "\"\n     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}\n     Unpadded size: 32.0M\n",
    )),
    Some((
        "onednn_verbose,v1,info,cpu,isa:",
        "\nonednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab::f0 dst:f32:p:blocked:AB8b::f0,,,3x5,0.5\n",
    )),
];

/// The elements of our pages.
const TAGS: [&str; 37] = [
    "html", "head", "meta", "title", "style", "body", "div", "section", "h1", "h2", "h3", "p", "span",
    "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "code", "details", "summary", "svg", "g",
    "rect", "path", "text", "b", "br", "i", "ol", "a", "small", "script",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let text = match &FRAMES[usize::from(first) % FRAMES.len()] {
        None => text.to_vec(),
        Some((before, behind)) => [before.as_bytes(), text, behind.as_bytes()].concat(),
    };
    let mut audit = Audit::new();
    // The name of a file is foreign text as well.
    let name = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned();
    audit.read(&name, &text[..]).expect("memory is read");
    let findings = audit.findings(usize::MAX);
    for base in [None, Some("")] {
        let page = AuditPage { top: 5, base, change: &[] };
        check(&audit_html(&findings, &page));
        check(&audit_html_part(&findings, &page));
    }
});

/// Walks over a page tag by tag.
fn check(page: &str) {
    let control = |c: char| c != '\n' && c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!page.contains(control), "a control character");
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
            // Links lead to parts of the page, or to what it draws: both are behind a `#`.
            let leads_away = key.contains("href") && !pair.get(1).is_some_and(|to| to.starts_with('#'));
            assert!(!key.starts_with("on") && !leads_away && !key.contains("src"), "{}", &tag[..end]);
        }
        let lower = attributes.to_ascii_lowercase();
        assert!(!lower.contains("javascript:") && !lower.contains("url("), "{}", &tag[..end]);
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
