//! Addresses of stores that are reached over a network.

use std::fmt::{self, Display};
use std::path::Path;

use tilework::{Error, Result};

/// An address of a store: it is printed and stands in plans, so it holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// How it is reached.
    pub(crate) scheme: Scheme,
    /// The bucket, or the name of the server and its port.
    pub(crate) bucket: String,
    /// The names on the way to the store, without empty ones.
    pub(crate) names: Vec<String>,
}

/// How a store is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// A bucket of S3, or of what speaks like it.
    S3,
    /// Files of a web server.
    Http,
    /// The same, encrypted.
    Https,
}

/// The scheme of a text that is an address: what stands before `://`, in letters and digits.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_word = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric());
    is_word.then_some((scheme, rest))
}

/// Whether a path is an address, and no path of this machine.
///
/// ```
/// use tilework_stores::is_address;
/// assert!(is_address("s3://bucket/a.zarr".as_ref()) && !is_address("s3/bucket/a.zarr".as_ref()));
/// ```
pub fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(|text| scheme(text).is_some())
}

impl Address {
    /// The address that a path is; none for a path of this machine.
    ///
    /// # Errors
    /// Schemes that are not read, and addresses with secrets, queries, or names that no store has.
    pub(crate) fn of(path: &Path) -> Result<Option<Address>> {
        match path.to_str().and_then(|text| Some((text, scheme(text)?))) {
            None => Ok(None),
            Some((text, (scheme, rest))) => Address::new(text, scheme, rest).map(Some),
        }
    }

    fn new(text: &str, scheme: &str, rest: &str) -> Result<Address> {
        const EXAMPLE: &str = "such as s3://bucket/folder/a.zarr, or https://host/a.zarr";
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "s3" | "s3a" | "s3n" => Scheme::S3,
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => return Err(unread(text, other)),
        };
        // Nothing of it is repeated: it may be a password.
        if rest.contains(['?', '#']) || rest.split('/').next().is_some_and(|host| host.contains('@')) {
            return Err(Error::new(format!("an address with {}", if rest.contains(['?', '#']) { "? or #" } else { "@" }))
                .rule("an address is printed and stands in plans, so it holds no password, signature or other secret")
                .accepts(format!("an address without them, {EXAMPLE}; credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")));
        }
        let mut names = rest.trim_end_matches('/').split('/');
        let bucket = names.next().unwrap_or_default().to_owned();
        let names: Vec<String> = names.map(str::to_owned).collect();
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '[' | ']');
        let fail = |found: String| Err(Error::new(found).accepts(EXAMPLE));
        if bucket.is_empty() || !bucket.chars().all(is_host) {
            return fail(format!("{text}: {bucket:?} as a bucket or a host"));
        }
        let is_name = |name: &str| {
            !matches!(name, "" | "." | "..") && !name.contains(|c: char| c == '\\' || c.is_control())
        };
        match names.iter().find(|name| !is_name(name)) {
            Some(name) => fail(format!("{text}: {name:?} between two slashes")),
            None => Ok(Address { scheme, bucket, names }),
        }
    }

    /// The name of the store.
    pub(crate) fn name(&self) -> Option<&str> {
        self.names.last().map(String::as_str)
    }

    /// The folder that it is in; none where this has no name.
    pub(crate) fn folder(&self) -> Option<Address> {
        let (_, folders) = self.names.split_last()?;
        Some(Address { names: folders.to_vec(), ..self.clone() })
    }

    /// The folder and the name of what is to be written here.
    ///
    /// # Errors
    /// A server that takes nothing, and a bucket without a name after it.
    pub(crate) fn to_write(&self) -> Result<(Address, &str)> {
        if self.scheme != Scheme::S3 {
            return Err(Error::new(format!("{self} as a place to write to"))
                .rule("a web server is read, and takes no objects")
                .accepts("s3://BUCKET/NAME, with AWS_ENDPOINT_URL for a server other than AWS; or a path"));
        }
        self.folder().zip(self.name()).ok_or_else(|| {
            Error::new(format!("{self} has no name"))
                .rule("what is written has a name of its own in its bucket")
                .accepts(format!("{self}/NAME"))
        })
    }

    /// Another store beside this one; none where this has no name.
    pub(crate) fn beside(&self, name: &str) -> Option<Address> {
        let mut beside = self.folder()?;
        beside.names.push(name.to_owned());
        Some(beside)
    }

    /// Whether one of two is within the other, or both are the same.
    pub(crate) fn is_apart(&self, other: &Address) -> bool {
        let both = self.names.len().min(other.names.len());
        self.scheme != other.scheme
            || self.bucket != other.bucket
            || self.names[..both] != other.names[..both]
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::S3 => "s3",
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.bucket)?;
        self.names.iter().try_for_each(|name| write!(f, "/{name}"))
    }
}

/// The error for a scheme that is not read, with what would do.
fn unread(text: &str, scheme: &str) -> Error {
    let (rule, accepts) = match scheme {
        "gs" | "gcs" => (
            "Google's buckets are reached as S3's are, with HMAC keys",
            "s3://BUCKET/PATH with AWS_ENDPOINT_URL=https://storage.googleapis.com",
        ),
        "az" | "abfs" | "abfss" | "adl" => {
            ("Azure's containers are not read", "a store in S3, or mounted as a folder (blobfuse2)")
        }
        "hf" => (
            "the Hub is not read",
            "a file that was downloaded (hf download), or an https:// address of a store",
        ),
        "file" => ("files of this machine are given by their paths", "the path alone"),
        _ => ("stores are reached as s3://, https:// or http://", "such as s3://bucket/folder/a.zarr"),
    };
    // What follows may hold a secret.
    let shown = text.split("://").next().unwrap_or_default();
    Error::new(format!("an address that begins with {shown}://")).rule(rule).accepts(accepts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Address>> {
        Address::of(Path::new(text))
    }

    #[test]
    fn an_address_is_printed_as_it_is_read_and_a_path_is_none() {
        for text in ["s3://b/a.zarr", "s3://b", "http://localhost:9000/x/y", "https://h.example/a b.zarr"] {
            let found = read(text).expect("an address").expect("no path");
            assert_eq!(found.to_string(), text);
        }
        assert_eq!(read("s3a://b/a/").expect("read").expect("one").to_string(), "s3://b/a");
        for path in ["a.zarr", "/s3:/b", "s3:/b", "1a://b", "c:\\a", "://b"] {
            assert_eq!(read(path), Ok(None), "{path}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_no_secret_is_repeated() {
        for text in
            ["s3://", "s3:///a", "s3://b//a", "s3://b/../a", "s3://b/./a", "s3://b c/a", "s3://b/a\nb"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        for text in [
            "https://me:hunter2@h/a",
            "s3://b/a?X-Amz-Signature=hunter2",
            "ftp://me:hunter2@h/a",
            "gs://b/a#hunter2",
        ] {
            let error = read(text).expect_err("an error").to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(read("gs://b/a").expect_err("an error").to_string().contains("AWS_ENDPOINT_URL"));
    }

    #[test]
    fn one_store_is_within_another_by_whole_names() {
        let of = |text| read(text).expect("an address").expect("one");
        let a = of("s3://b/x/a.zarr");
        assert!(!a.is_apart(&of("s3://b/x")) && !a.is_apart(&a) && !of("s3://b").is_apart(&a));
        assert!(a.is_apart(&of("s3://b/x/a.zarr2")) && a.is_apart(&of("s3://c/x/a.zarr")));
        assert_eq!(a.beside(".t").map(|beside| beside.to_string()), Some("s3://b/x/.t".to_owned()));
        assert_eq!(of("s3://b").beside("t"), None);
    }
}
