//! What the page in the browser asks, and the answers: JSON in, JSON out.
//!
//! A face like the command, and as thin: every answer comes from the libraries that the command asks, so both say the same.
//! Nothing here needs files, threads or a clock. All of it runs and is tested natively; for the page it is compiled to
//! WebAssembly, where the module `exports` hands texts in and out.
//!
//! ```
//! let answer = tilework_web::Session::new().answer(r#"{"ask":"point","text":"f32[3,5]{1,0:T(2,2)}","offset":"17"}"#, &[]);
//! assert!(answer.contains(r#""index":[2,3]"#));
//! ```

mod audit;
mod check;
#[cfg(target_arch = "wasm32")]
mod exports;
mod layout;
mod point;
mod problem;
mod request;
mod tour;
mod two;

pub use request::Session;
