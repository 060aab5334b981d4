//! Servers: S3 and what speaks like it, and files of a web server. The crate `object_store` knows how they are asked, signs the
//! requests, and waits and asks again where a server is busy or a connection breaks.
//!
//! Here are the requests; what a bucket takes to be asked is in `bucket.rs`, what a refusal means in `refused.rs`, who waits in `wait.rs`.

mod bucket;
mod refused;
mod wait;

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryFutureExt, TryStreamExt};
use object_store::http::HttpBuilder;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload};
use tilework::{Error, Result};
use tokio::runtime::Runtime;

use super::address::{Address, Scheme};
use super::bounded::Bounded;
use super::profile::Profile;
use super::{Answer, Body, Failure, Got, Part, Server};

use bucket::s3;
use refused::{causes, refused, shown};
use wait::{client, retry, runtime, wait};

/// Room that an answer gets at once, whatever it says of its length.
const LARGE: usize = 64 << 20;

/// The least bytes of a part; as many parts as a server takes are 10,000.
const PART: usize = 8 << 20;

/// Parts that are under way at a time. An object of no more bytes than these is put in one request.
const PARTS: usize = 4;

/// A store on a server.
#[derive(Debug)]
pub(super) struct Remote {
    address: Address,
    store: Arc<dyn ObjectStore>,
    /// What is before the key of an object.
    prefix: String,
    /// Where requests go, if somebody said it.
    endpoint: Option<String>,
    runtime: &'static Runtime,
}

impl Remote {
    /// Prepares to ask a server. Credentials are those that other tools take: of the environment, of the profile, or of the
    /// machine.
    ///
    /// # Errors
    /// No credentials, and settings that are none.
    pub(super) fn new(address: &Address) -> Result<Remote> {
        // It fails where the program that this is a part of has chosen another.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = runtime()?;
        let fail =
            |error: object_store::Error| Error::new(format!("{address}: {}", causes(&error).join(": ")));
        let (store, prefix, endpoint): (Arc<dyn ObjectStore>, String, Option<String>) = match address.scheme {
            Scheme::S3 => {
                let (builder, endpoint) = s3(address, runtime)?;
                (Arc::new(builder.build().map_err(fail)?), address.names.join("/"), endpoint)
            }
            Scheme::Http | Scheme::Https => {
                let client = client().with_allow_http(address.scheme == Scheme::Http);
                let builder = HttpBuilder::new().with_http_connector(Bounded).with_url(address.to_string());
                let built = builder.with_client_options(client).with_retry(retry()).build();
                (Arc::new(built.map_err(fail)?), String::new(), None)
            }
        };
        Ok(Remote { address: address.clone(), store, prefix, endpoint, runtime })
    }

    /// The key of an object in its bucket.
    fn key(&self, key: &str) -> Answer<Key> {
        let all = match (self.prefix.as_str(), key) {
            ("", key) => key.to_owned(),
            (prefix, "") => prefix.to_owned(),
            (prefix, key) => format!("{prefix}/{key}"),
        };
        Key::parse(&all).map_err(|error| Error::new(format!("{}/{key}: {error}", self.address)).into())
    }

    /// What a request answers; none where there is no object.
    fn ask<T: Send + 'static>(
        &self,
        key: &str,
        work: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Answer<Option<T>> {
        match wait(self.runtime, work)? {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { source, .. })
                if !source.to_string().contains("NoSuchBucket") =>
            {
                Ok(None)
            }
            Err(error) => Err(refused(&self.address, self.endpoint.as_deref(), key, &error)),
        }
    }
}

impl Server for Remote {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn get(&self, key: &str, part: &Part, most: u64) -> Answer<Option<Got>> {
        let (range, version) = match part {
            Part::Whole => (None, None),
            Part::Bytes(range, version) => (Some(GetRange::Bounded(range.clone())), version.clone()),
            Part::Start(bytes) => (Some(GetRange::Bounded(0..*bytes)), None),
            Part::End(bytes) => (Some(GetRange::Suffix(*bytes)), None),
        };
        let (store, at) = (Arc::clone(&self.store), self.key(key)?);
        let options = GetOptions { range, if_match: version, ..GetOptions::default() };
        let found = self.ask(key, async move {
            let found = store.get_opts(&at, options).await?;
            let (start, len, version) = (found.range.start, found.meta.size, found.meta.e_tag.clone());
            let said = found.range.end.saturating_sub(start);
            let mut bytes = Vec::new();
            if said <= most {
                bytes.reserve_exact(usize::try_from(said).unwrap_or(0).min(LARGE));
                let mut stream = found.into_stream();
                while let Some(next) = stream.next().await {
                    let next = next?;
                    if (bytes.len() + next.len()) as u64 > said {
                        break; // more than it said: too many, which is seen where they are counted
                    }
                    bytes.extend_from_slice(&next);
                }
            }
            Ok((said, Got { bytes, start, len, version }))
        })?;
        match found {
            Some((said, _)) if said > most => {
                Err(Error::new(format!("{}/{key}: {said} bytes", self.address))
                    .rule(format!("it has at most {most}, by what the store says of itself"))
                    .accepts("the object as it was written")
                    .into())
            }
            found => Ok(found.map(|(_, got)| got)),
        }
    }

    fn head(&self, key: &str) -> Answer<Option<(u64, Option<String>)>> {
        let (store, at) = (Arc::clone(&self.store), self.key(key)?);
        self.ask(key, async move { store.head(&at).await.map(|found| (found.size, found.e_tag)) })
    }

    fn folders(&self, key: &str) -> Answer<Option<Vec<String>>> {
        if self.address.scheme != Scheme::S3 {
            return Ok(None);
        }
        let (store, at) = (Arc::clone(&self.store), self.key(key)?);
        let found = self.ask(key, async move { store.list_with_delimiter(Some(&at)).await })?;
        let names = found.map(|found| {
            let names = found.common_prefixes.iter().filter_map(|path| path.filename().map(str::to_owned));
            names.collect::<Vec<String>>()
        });
        Ok(Some(names.unwrap_or_default()))
    }

    fn list(&self, most: usize) -> Answer<Vec<String>> {
        let (store, at) = (Arc::clone(&self.store), self.key("")?);
        let prefix = at.clone();
        let found = self.ask("", async move {
            let keys = store.list(Some(&prefix)).take(most).map_ok(|found| found.location);
            keys.try_collect::<Vec<Key>>().await
        })?;
        let skip = if at.as_ref().is_empty() { 0 } else { at.as_ref().len() + 1 };
        let keys = found.unwrap_or_default().into_iter();
        Ok(keys.filter_map(|key| key.as_ref().get(skip..).map(str::to_owned)).collect())
    }

    fn put(&self, key: &str, body: &Arc<dyn Body>) -> Answer<()> {
        let (store, at, body) = (Arc::clone(&self.store), self.key(key)?, Arc::clone(body));
        let bytes = Bytes::from_owner(Shared(Arc::clone(&body)));
        let put = self.ask(key, async move {
            let len = bytes.len();
            if len <= PART * PARTS {
                store.put(&at, PutPayload::from_bytes(bytes)).await?;
                body.sent(len as u64);
                return Ok(());
            }
            let mut upload = store.put_multipart(&at).await?;
            let step = PART.max(len.div_ceil(10_000));
            let mut parts = Vec::new();
            for start in (0..len).step_by(step) {
                let end = len.min(start + step);
                let part = upload.put_part(PutPayload::from_bytes(bytes.slice(start..end)));
                parts.push(part.map_ok(move |()| end as u64));
            }
            let parts = futures_util::stream::iter(parts).buffered(PARTS);
            let all = parts.map_ok(|end| body.sent(end)).try_collect::<Vec<()>>();
            match all.await {
                Ok(_) => upload.complete().await.map(drop),
                Err(error) => {
                    let _ = upload.abort().await; // the first error is the one that says why
                    Err(error)
                }
            }
        })?;
        put.ok_or_else(|| Error::new(format!("{}/{key}: the server has no such place", self.address)).into())
    }

    fn remove(&self, key: &str) -> Answer<()> {
        let (store, at) = (Arc::clone(&self.store), self.key(key)?);
        self.ask(key, async move { store.delete(&at).await }).map(|_| ())
    }
}

/// Bytes that a request holds as long as it is under way.
struct Shared(Arc<dyn Body>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.all()
    }
}
