//! What the refusal of a server means, and what would do.

use tilework::Error;

use super::bucket::{CREDENTIALS, none};
use super::wait::RETRIES;
use super::{Address, Failure, Scheme};

/// The error for what a server refused, with what would do; requests go to `endpoint`, if somebody said it.
pub(super) fn refused(
    address: &Address,
    endpoint: Option<&str>,
    key: &str,
    error: &object_store::Error,
) -> Failure {
    let causes = causes(error);
    let all = causes.join(": ");
    let status = all.split_once("status code: ").and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    let tagged = |tag: &str| {
        let (_, rest) = all.split_once(&format!("<{tag}>"))?;
        Some(shown(rest.split_once(&format!("</{tag}>"))?.0))
    };
    let code = tagged("Code").unwrap_or_default();
    let found = match status {
        // What a server writes for people may be anything.
        Some(status) => match (code.as_str(), tagged("Message")) {
            ("", _) => format!("the server answered {status}"),
            (code, Some(message)) => format!("the server answered {status} {code}: {message}"),
            (code, None) => format!("the server answered {status} {code}"),
        },
        None => shown(causes.last().map_or("", String::as_str)),
    };
    let place = endpoint.unwrap_or(match address.scheme {
        Scheme::S3 => "AWS, as AWS_ENDPOINT_URL names no other server",
        _ => "the host of the address",
    });
    let is_s3 = address.scheme == Scheme::S3;
    let of = |rule: String, accepts: &str| {
        Error::new(format!("{address}/{key}: {found}")).rule(rule).accepts(accepts)
    };
    if all.contains("/latest/api/token") || all.contains("/security-credentials") {
        return none(&format!("the machine has none: {found}")).into();
    }
    let error = match (status, code.as_str()) {
        (_, "NoSuchBucket") => {
            of(format!("requests go to {place}"), "the name of a bucket there, or another AWS_ENDPOINT_URL")
        }
        (Some(301 | 307), _) | (_, "AuthorizationHeaderMalformed" | "PermanentRedirect") => {
            of("a bucket is asked in its own region".to_owned(), "AWS_REGION with the region of the bucket")
        }
        (Some(401 | 403), _) if is_s3 => of(format!("requests go to {place}"), CREDENTIALS),
        (Some(401 | 403), _) => of(
            "files of a web server are read without a password".to_owned(),
            "a store that everybody may read",
        ),
        (Some(412), _) => {
            of("nobody changes a store while it is read".to_owned(), "the store as it was when it was opened")
        }
        (None, _) => of(
            format!("requests go to {place}"),
            "a server that answers there, and a network that reaches it",
        ),
        (Some(_), _) => of(
            format!("requests go to {place}"),
            "the same command again, when the server is well; what is there stays",
        ),
    };
    // What broke behind the first bytes of an answer; all else was tried again until there was no use in it.
    Failure { error, again: status.is_none() && !all.contains(&format!("after {RETRIES} retries")) }
}

/// What a server or a library says, so that it can be printed: one line that is not long.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

/// What an error is, and what it comes from.
pub(super) fn causes(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect()
}
