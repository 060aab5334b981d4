//! Any text, a line, JSON, a dict or code, is read or refused with a place in it; whatever is read is checked, and what is built
//! answers everything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilework::Error;
use tilework::directml::{
    Binding, BufferTensorDesc, Desc, FeatureLevel, Fold, check, read_descs, read_json, remarks,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Desc::parse(text) {
        Ok(desc) => {
            assert_eq!(Desc::parse(&desc.to_string()).as_ref(), Ok(&desc));
            answers(&desc);
        }
        Err(error) => located(&error, text),
    }
    match read_descs(text) {
        Ok(found) => {
            for found in found {
                found.errors.iter().for_each(|error| located(error, text));
                found.check(FeatureLevel::LATEST, Some(&Binding::default()));
                answers(&found.desc);
                if found.errors.is_empty() {
                    let json = found.desc.to_json();
                    let again = read_json(&json).expect("what is printed can be read");
                    // Of code and text a total of 0 is one, and a list of no strides is too; as JSON they are none.
                    let mut wanted = found.desc;
                    wanted.total = wanted.total.filter(|&total| total != 0);
                    wanted.strides = wanted.strides.filter(|strides| !strides.is_empty());
                    assert_eq!(again[0].clone().read().as_ref(), Ok(&wanted), "printed as {json}");
                }
            }
        }
        Err(error) => located(&error, text),
    }
});

fn answers(desc: &Desc) {
    for level in [FeatureLevel::V1_0, FeatureLevel::LATEST] {
        let binding = Binding { offset: desc.alignment, range: desc.total, buffer: desc.total };
        let violations = check(desc, level, Some(&binding));
        assert!(violations.len() <= 16 + 2 * (desc.sizes.len() + desc.strides.iter().flatten().count()));
    }
    if let Ok(built) = desc.build() {
        assert!(built.total_bytes() >= built.minimum_bytes());
        built.size_terms(desc.alignment).to_string();
        let _ = (built.words(), built.layout_names(), remarks(&built, true), built.with_explicit_strides());
        let views = [built.coalesce(), built.squeeze(&[]), built.emulate_64_bit_like_onnx_runtime()];
        for view in views.into_iter().flatten() {
            same(&view, &built);
        }
        for fold in [Fold::Leading, Fold::Trailing] {
            let _ = built.fold(2, fold);
        }
    }
}

/// Views hold as many elements as the original.
fn same(view: &BufferTensorDesc, of: &BufferTensorDesc) {
    assert_eq!(view.elements(), of.elements());
}

/// An error about a text has a place in it, and its report stays small.
fn located(error: &Error, text: &str) {
    let span = error.span().expect("an error about a text says where");
    assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {} bytes", text.len());
    assert!(error.report(text).to_string().len() < 4000);
}
