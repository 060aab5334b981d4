//! What can be asked.

use serde::{Deserialize, Serialize};
use tilework::Error;
use tilework_explain::link::{Link, decode, encode};

use crate::audit::Auditing;
use crate::check::Check;
use crate::layout::Look;
use crate::problem::Problem;
use crate::{check, layout, point, tour, two};

#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// The picture and the words of a layout.
    Layout {
        text: String,
        #[serde(default)]
        look: Look,
    },
    /// What else there is to say of it, which takes longer: other notations, smaller layouts, all in words.
    Beside { text: String },
    /// The layouts that stand somewhere in a text.
    Find { text: String },
    /// An element by its offset or its index.
    Point { text: String, offset: Option<String>, index: Option<Vec<u64>> },
    /// How two layouts compare, and what moves.
    Two {
        a: String,
        b: String,
        #[serde(default)]
        look: Look,
    },
    /// Which rules descriptors of DirectML break.
    Check(Check),
    /// Forgets what was read for an audit.
    AuditNew {},
    /// Which files of a dropped folder belong to an audit, in the order in which they are best read.
    AuditSelect { names: Vec<String> },
    /// Reads a file, whose bytes come beside the request.
    AuditRead { name: String },
    /// What comes of all that was read.
    AuditPage {
        top: usize,
        #[serde(default)]
        instead: Vec<String>,
    },
    /// What came of it, in words.
    AuditWords { top: usize },
    /// The page of all that was read, which stands alone.
    AuditFile { top: usize },
    /// A step of the tour.
    Step { number: usize },
    /// What a fragment of an address says.
    Open { fragment: String },
    /// The fragment for what is on the page.
    Link(Link),
}

/// An answer, or what is wrong with the request.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer<T> {
    Ok(T),
    Error(Problem),
}

/// What lasts from one request to the next: the files of an audit.
#[derive(Default)]
pub struct Session {
    auditing: Auditing,
}

impl Session {
    /// One that has read nothing.
    pub fn new() -> Session {
        Session::default()
    }

    /// Answers a request: `{"ok": …}` or `{"error": …}`. Nothing that it may say panics.
    pub fn answer(&mut self, request: &str, bytes: &[u8]) -> String {
        let request = match serde_json::from_str(request) {
            Ok(request) => request,
            Err(error) => return json::<()>(Err((Error::new(error.to_string()), String::new()))),
        };
        match request {
            Request::Layout { text, look } => {
                json(layout::answer(&text, &look).map_err(|error| (error, text)))
            }
            Request::Beside { text } => json(layout::beside(&text).map_err(|error| (error, text))),
            Request::Find { text } => json(Ok(layout::found(&text))),
            Request::Point { text, offset, index } => {
                json(point::answer(&text, offset.as_deref(), index.as_deref()).map_err(|error| (error, text)))
            }
            Request::Two { a, b, look } => json(two::answer(&a, &b, &look)),
            Request::Check(asked) => json(check::answer(&asked).map_err(|error| (error, asked.text))),
            Request::AuditNew {} => {
                self.auditing = Auditing::default();
                json(Ok(()))
            }
            Request::AuditSelect { names } => json(Ok(Auditing::select(&names))),
            Request::AuditRead { name } => {
                json(self.auditing.read(&name, bytes).map_err(|error| (error, name)))
            }
            Request::AuditPage { top, instead } => {
                json(self.auditing.page(top, &instead).map_err(|error| (error, String::new())))
            }
            Request::AuditWords { top } => {
                json(self.auditing.words(top).map_err(|error| (error, String::new())))
            }
            Request::AuditFile { top } => {
                json(self.auditing.html(top).map_err(|error| (error, String::new())))
            }
            Request::Step { number } => json(tour::step(number).map_err(|error| (error, String::new()))),
            Request::Open { fragment } => json(decode(&fragment).map_err(|error| (error, fragment))),
            Request::Link(link) => json(encode(&link).map_err(|error| (error, String::new()))),
        }
    }
}

/// The answer as text; an error comes with the text that it is about.
fn json<T: Serialize>(outcome: Result<T, (Error, String)>) -> String {
    let answer = match outcome {
        Ok(answer) => Answer::Ok(answer),
        Err((error, text)) => Answer::Error(Problem::new(&error, &text)),
    };
    // Only a map with keys that are no texts could fail, and there is none.
    serde_json::to_string(&answer).unwrap_or_else(|error| format!("{{\"error\":{{\"found\":\"{error}\"}}}}"))
}
