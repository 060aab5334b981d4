//! What a bucket takes to be asked: its server, its region, and credentials.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, resolve_bucket_region};
use tilework::{Error, Result};
use tokio::runtime::Runtime;

use super::{Address, Bounded, Profile, causes, client, retry, shown, wait};

/// Credentials, as a sentence that ends an error.
pub(super) const CREDENTIALS: &str = "credentials that may do it: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in \
~/.aws/credentials (AWS_PROFILE); AWS_SKIP_SIGNATURE=true for a public bucket";

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_yes(name: &str) -> bool {
    env(name).is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
}

/// The settings for a bucket, and where its requests go if somebody said it.
pub(super) fn s3(address: &Address, runtime: &Runtime) -> Result<(AmazonS3Builder, Option<String>)> {
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
pub(super) fn none(why: &str) -> Error {
    Error::new(format!("no credentials for S3, {why}"))
        .rule("they are taken from the environment, from a profile, or from a machine of AWS")
        .accepts(CREDENTIALS)
}
