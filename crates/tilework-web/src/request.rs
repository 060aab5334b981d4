//! What can be asked.

use serde::{Deserialize, Serialize};
use tilework::{Error, Result};
use tilework_explain::link::{Link, decode, encode};

use crate::audit::Auditing;
use crate::layout::Look;
use crate::problem::Problem;
use crate::{audit, check, layout, point, tour, two};

/// A question, by its name in `ask`, with all that any question says. One flat form is a quarter of the code that a form for
/// each is, and the page is loaded with it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Request {
    ask: String,
    /// A layout, a descriptor, or a text in which layouts stand.
    pub(crate) text: String,
    /// Names of its dimensions, such as `N,C,H,W`; empty without.
    pub(crate) axes: String,
    /// How it is drawn.
    look: Look,
    /// A place, in digits, and an element.
    offset: Option<String>,
    index: Option<Vec<u64>>,
    /// Two layouts.
    a: String,
    b: String,
    /// Of a buffer to which a descriptor is bound: where, and how large it is.
    pub(crate) begins: Option<u64>,
    pub(crate) buffer: Option<u64>,
    /// The names of files that were dropped, and the one that is read.
    pub(crate) names: Vec<String>,
    pub(crate) name: String,
    /// Whether what was read is compared with what is read next.
    pub(crate) compare: bool,
    /// How many of each kind an audit lists.
    pub(crate) top: usize,
    /// Layouts that are supposed.
    pub(crate) instead: Vec<String>,
    /// A fragment of an address, or what is on the page.
    fragment: String,
    tab: String,
    at: Option<String>,
    step: usize,
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
    auditing: Option<Box<Auditing>>,
}

impl Session {
    /// One that has read nothing.
    pub fn new() -> Session {
        Session::default()
    }

    /// Answers a request: `{"ok": …}` or `{"error": …}`. Nothing that it may say panics.
    ///
    /// * `layout`: the picture and the words of `text`; `beside`: what else there is to say, which takes longer;
    /// * `find`: the layouts that stand somewhere in `text`;
    /// * `point`: an element by its `offset` or its `index`;
    /// * `two`: how `a` and `b` compare, and what moves;
    /// * `check`: which rules descriptors of DirectML in `text` break;
    /// * `step`: a step of the tour;
    /// * `open`: what `fragment` says; `link`: the fragment for what is on the page;
    /// * `audit-…`: see `audit.rs`.
    pub fn answer(&mut self, request: &str, bytes: &[u8]) -> String {
        let asked: Request = match serde_json::from_str(request) {
            Ok(asked) => asked,
            Err(error) => return json::<()>(Err(Error::new(error.to_string())), ""),
        };
        let text = &*asked.text;
        match &*asked.ask {
            "layout" => match layout::named(text, &asked.axes) {
                Err((error, text)) => json::<()>(Err(error), text),
                Ok(said) => json(layout::answer(&*said, &asked.look), text),
            },
            "beside" => match layout::named(text, &asked.axes) {
                Err((error, text)) => json::<()>(Err(error), text),
                Ok(said) => json(layout::beside(&*said), text),
            },
            "find" => json(Ok(layout::found(text)), text),
            "point" => json(point::answer(text, asked.offset.as_deref(), asked.index.as_deref()), text),
            "two" => match two::answer(&asked.a, &asked.b, &asked.look) {
                Ok(two) => json(Ok(two), ""),
                Err((error, text)) => json::<()>(Err(error), &text),
            },
            "check" => json(check::answer(&asked), text),
            "step" => json(tour::step(asked.step), ""),
            "open" => json(decode(&asked.fragment), &asked.fragment),
            "link" => json(asked.link().and_then(|link| encode(&link)), ""),
            other => match other.strip_prefix("audit-") {
                Some(about) => audit::answer(&mut self.auditing, about, &asked, bytes),
                None => json::<()>(Err(Error::new(format!("no question is called `{other}`"))), ""),
            },
        }
    }
}

impl Request {
    /// What is on the page.
    fn link(&self) -> Result<Link> {
        let (text, at) = (self.text.clone(), self.at.clone());
        Ok(match &*self.tab {
            "layout" => Link::Layout { text, at, slice: self.look.slice.clone(), axes: self.axes.clone() },
            "two" => Link::Two { a: self.a.clone(), b: self.b.clone() },
            "audit" => Link::Audit {},
            "check" => Link::Check { text },
            "learn" => Link::Learn { step: u32::try_from(self.step).unwrap_or(u32::MAX) },
            other => return Err(Error::new(format!("no part of the page is called `{other}`"))),
        })
    }
}

/// The answer as text; an error says where in `text` it is.
pub(crate) fn json<T: Serialize>(outcome: Result<T>, text: &str) -> String {
    let answer = match outcome {
        Ok(answer) => Answer::Ok(answer),
        Err(error) => Answer::Error(Problem::new(&error, text)),
    };
    // Only a map with keys that are no texts could fail, and there is none.
    serde_json::to_string(&answer).unwrap_or_else(|error| format!("{{\"error\":{{\"found\":\"{error}\"}}}}"))
}
