//! Pages of audits, whatever stands in a dump: no foreign text becomes a tag, an attribute, a script or an address, and no
//! character is left that a browser or a terminal would obey.
#![no_main]

mod markup;

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

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let text = match &FRAMES[usize::from(first) % FRAMES.len()] {
        None => text.to_vec(),
        Some((before, behind)) => [before.as_bytes(), text, behind.as_bytes()].concat(),
    };
    let mut audit = Audit::with_memory(1 << 30);
    // The name of a file is foreign text as well.
    let name = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned();
    audit.read(&name, &text[..]).expect("memory is read");
    let findings = audit.findings(usize::MAX);
    // With links and without, alone and as a part: one of the four, as each takes longer than everything before it.
    let kind = usize::from(first) / FRAMES.len();
    let page = AuditPage { top: 5, base: [None, Some("")][kind % 2], change: &[] };
    markup::check(&if kind / 2 % 2 == 0 {
        audit_html(&findings, &page)
    } else {
        audit_html_part(&findings, &page)
    });
});
