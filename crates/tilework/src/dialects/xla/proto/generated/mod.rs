//! What `cargo xtask proto` writes, by schema. The files are included and not modules, so that no formatter changes them.

#[allow(missing_docs, dead_code, non_camel_case_types, unused_imports, unused_qualifications, clippy::all)]
pub(super) mod xla {
    include!("xla.rs");
}

#[allow(missing_docs, dead_code, non_camel_case_types, unused_imports, unused_qualifications, clippy::all)]
pub(super) mod xla_2018 {
    include!("xla_2018.rs");
}
