//! What `cargo xtask proto` writes. The file is included and no module, so that no formatter changes it.

#[allow(missing_docs, dead_code, non_camel_case_types, unused_imports, unused_qualifications, clippy::all)]
pub(super) mod xla_hlo {
    include!("xla_hlo.rs");
}
