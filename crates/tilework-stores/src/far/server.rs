//! Servers: S3 and what speaks like it, and files of a web server. The crate `object_store` knows how they are asked, signs the
//! requests, and waits and asks again where a server is busy or a connection breaks.

use std::future::Future;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, resolve_bucket_region};
use object_store::http::HttpBuilder;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
};
use tilework::{Error, Result};
use tokio::runtime::Runtime;

use super::address::{Address, Scheme};
use super::bounded::Bounded;
use super::profile::Profile;
use super::{Answer, Failure, Got, Part, Server};

/// Objects of more bytes are put in parts.
const LARGE: usize = 64 << 20;

/// The least bytes of a part; as many parts as a server takes are 10,000.
const PART: usize = 16 << 20;

/// Parts that are under way at a time.
const PARTS: usize = 4;

/// How often a request is repeated that no answer came to, or that the server was too busy for.
const RETRIES: usize = 6;

/// Credentials, as a sentence that ends an error.
const CREDENTIALS: &str = "credentials that may do it: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in \
~/.aws/credentials (AWS_PROFILE); AWS_SKIP_SIGNATURE=true for a public bucket";

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

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_yes(name: &str) -> bool {
    env(name).is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
}

/// The threads that wait for servers. A process that another was forked into has none of its threads, and starts its own.
fn runtime() -> Result<&'static Runtime> {
    static STARTED: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    match *started {
        Some((process, runtime)) if process == std::process::id() => Ok(runtime),
        _ => {
            let made = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            let made =
                made.map_err(|error| Error::new(format!("no thread that waits for a server: {error}")))?;
            let runtime: &'static Runtime = Box::leak(Box::new(made));
            *started = Some((std::process::id(), runtime));
            Ok(runtime)
        }
    }
}

/// Waits for what the runtime does, on any thread, also on one of another runtime.
fn wait<T: Send + 'static>(runtime: &Runtime, work: impl Future<Output = T> + Send + 'static) -> Answer<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        let _ = sender.send(work.await); // nobody waits any more
    });
    receiver.recv().map_err(|_| Error::new("the thread that waits for a server has ended").into())
}

fn client() -> ClientOptions {
    // Nothing waits for ever: not a connection, not the next bytes, not an answer of a few bytes a minute.
    ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(10))
        .with_read_timeout(Duration::from_secs(60))
        .with_timeout(Duration::from_secs(15 * 60))
}

fn retry() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(5),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: RETRIES, retry_timeout: Duration::from_secs(120) }
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
            Err(error) => Err(self.failure(key, &error)),
        }
    }

    /// The error for what a server refused, with what would do.
    fn failure(&self, key: &str, error: &object_store::Error) -> Failure {
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
        let place = self.endpoint.as_deref().unwrap_or(match self.address.scheme {
            Scheme::S3 => "AWS, as AWS_ENDPOINT_URL names no other server",
            _ => "the host of the address",
        });
        let is_s3 = self.address.scheme == Scheme::S3;
        let of = |rule: String, accepts: &str| {
            Error::new(format!("{}/{key}: {found}", self.address)).rule(rule).accepts(accepts)
        };
        if all.contains("/latest/api/token") || all.contains("/security-credentials") {
            return none(&format!("the machine has none: {found}")).into();
        }
        let error = match (status, code.as_str()) {
            (_, "NoSuchBucket") => of(
                format!("requests go to {place}"),
                "the name of a bucket there, or another AWS_ENDPOINT_URL",
            ),
            (Some(301 | 307), _) | (_, "AuthorizationHeaderMalformed" | "PermanentRedirect") => of(
                "a bucket is asked in its own region".to_owned(),
                "AWS_REGION with the region of the bucket",
            ),
            (Some(401 | 403), _) if is_s3 => of(format!("requests go to {place}"), CREDENTIALS),
            (Some(401 | 403), _) => of(
                "files of a web server are read without a password".to_owned(),
                "a store that everybody may read",
            ),
            (Some(412), _) => of(
                "nobody changes a store while it is read".to_owned(),
                "the store as it was when it was opened",
            ),
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
}

/// What a server or a library says, so that it can be printed: one line that is not long.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

/// What an error is, and what it comes from.
fn causes(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect()
}

/// The settings for a bucket, and where its requests go if somebody said it.
fn s3(address: &Address, runtime: &Runtime) -> Result<(AmazonS3Builder, Option<String>)> {
    let profile = Profile::read(&env)?;
    // The client first: settings of the environment change it.
    let mut builder = AmazonS3Builder::new().with_http_connector(Bounded).with_client_options(client());
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && name.starts_with("AWS_")
            && !value.is_empty()
            && let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>()
            && key != AmazonS3ConfigKey::Bucket
        {
            builder = builder.with_config(key, value);
        }
    }
    builder = builder.with_bucket_name(&address.bucket).with_retry(retry());
    let value = |builder: &AmazonS3Builder, key| builder.get_config_value(&key);
    let endpoint = value(&builder, AmazonS3ConfigKey::S3Endpoint)
        .or_else(|| value(&builder, AmazonS3ConfigKey::Endpoint))
        .or_else(|| profile.value("endpoint_url").map(str::to_owned));
    if let Some(endpoint) = &endpoint {
        if endpoint.contains('@') {
            return Err(Error::new("an endpoint with @")
                .rule("an endpoint is printed, so it holds no password")
                .accepts("AWS_ENDPOINT_URL=https://HOST"));
        }
        // Whoever writes http:// wants it; a signature shows no secret.
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    let is_public = is_yes("AWS_SKIP_SIGNATURE") || is_yes("AWS_NO_SIGN_REQUEST");
    if is_public {
        builder = builder.with_skip_signature(true);
    } else if value(&builder, AmazonS3ConfigKey::AccessKeyId).is_none() {
        builder = with_credentials(builder, &profile)?;
    }
    if let Some(token) = profile.value("aws_session_token")
        && profile.value("aws_access_key_id") == value(&builder, AmazonS3ConfigKey::AccessKeyId).as_deref()
        && value(&builder, AmazonS3ConfigKey::Token).is_none()
    {
        builder = builder.with_token(token);
    }
    let said = value(&builder, AmazonS3ConfigKey::Region)
        .filter(|_| env("AWS_REGION").or_else(|| env("AWS_DEFAULT_REGION")).is_some());
    if said.is_none() {
        let region = match (profile.value("region"), &endpoint) {
            (Some(region), _) => region.to_owned(),
            (None, Some(_)) => "us-east-1".to_owned(),
            // AWS says where a bucket is.
            (None, None) => {
                let bucket = address.bucket.clone();
                let asked = async move { resolve_bucket_region(&bucket, &client()).await };
                wait(runtime, asked).map_err(|failure| failure.error)?.map_err(|error| {
                    Error::new(format!(
                        "{address}: {}",
                        shown(causes(&error).last().map_or("", String::as_str))
                    ))
                    .rule("AWS is asked for the region of a bucket, as AWS_REGION does not say it")
                    .accepts("the name of a bucket, AWS_REGION, or AWS_ENDPOINT_URL of another server")
                })?
            }
        };
        builder = builder.with_region(region);
    }
    Ok((builder, endpoint))
}

/// The credentials of the profile, or else those of the machine, if it has some.
fn with_credentials(builder: AmazonS3Builder, profile: &Profile) -> Result<AmazonS3Builder> {
    if let (Some(key), Some(secret)) =
        (profile.value("aws_access_key_id"), profile.value("aws_secret_access_key"))
    {
        return Ok(builder.with_access_key_id(key).with_secret_access_key(secret));
    }
    if let Some(way) = profile.other_way() {
        return Err(Error::new(format!("a profile with {way}, and no keys"))
            .rule("keys are read from profiles, and no other program is asked for them")
            .accepts("eval \"$(aws configure export-credentials --format env)\" before the command"));
    }
    let of_machine = [
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_METADATA_ENDPOINT",
    ];
    if of_machine.iter().any(|name| env(name).is_some()) {
        return Ok(builder);
    }
    // A machine of AWS answers at once there, and on any other one would wait for nothing.
    let metadata = SocketAddr::from(([169, 254, 169, 254], 80));
    let answers = || TcpStream::connect_timeout(&metadata, Duration::from_secs(1)).is_ok();
    if !is_yes("AWS_EC2_METADATA_DISABLED") && answers() {
        return Ok(builder);
    }
    Err(none("neither the environment nor a profile has some"))
}

/// The error where nobody has credentials.
fn none(why: &str) -> Error {
    Error::new(format!("no credentials for S3, {why}"))
        .rule("they are taken from the environment, from a profile, or from a machine of AWS")
        .accepts(CREDENTIALS)
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

    fn put(&self, key: &str, bytes: &Arc<Vec<u8>>) -> Answer<()> {
        let (store, at) = (Arc::clone(&self.store), self.key(key)?);
        let bytes = Bytes::from_owner(Shared(Arc::clone(bytes)));
        let put = self.ask(key, async move {
            if bytes.len() <= LARGE {
                return store.put(&at, PutPayload::from_bytes(bytes)).await.map(drop);
            }
            let mut upload = store.put_multipart(&at).await?;
            let step = PART.max(bytes.len().div_ceil(10_000));
            let mut parts = Vec::new();
            for start in (0..bytes.len()).step_by(step) {
                let end = bytes.len().min(start + step);
                parts.push(upload.put_part(PutPayload::from_bytes(bytes.slice(start..end))));
            }
            let all = futures_util::stream::iter(parts).buffered(PARTS).try_collect::<Vec<()>>().await;
            match all {
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
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
