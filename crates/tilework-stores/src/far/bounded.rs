//! Answers that are held whole. Nothing says how long a list of names is, what a server writes with an error, or how often a list
//! goes on, so there is a limit to each. Objects come piece by piece, and whoever asks for one counts its bytes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};

/// The most bytes of an answer that is held whole. A page of a list has a thousand names.
const PAGE: usize = 16 << 20;

/// The most bytes of what comes with an error; what is longer is cut, as nobody reads all of it.
const ERROR: usize = 64 << 10;

/// The most bytes of all lists that one opened store asks for: some million names.
const LISTS: u64 = 1 << 30;

/// What a page of a list counts at least, so that pages of nothing end too.
const LEAST: u64 = 64 << 10;

/// Connects to servers whose answers have limits.
#[derive(Debug)]
pub(super) struct Bounded;

impl HttpConnector for Bounded {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Service { client, left: Arc::new(AtomicU64::new(LISTS)) }))
    }
}

#[derive(Debug)]
struct Service {
    client: HttpClient,
    /// How many bytes of lists there may still be.
    left: Arc<AtomicU64>,
}

/// What the trait returns.
type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Service {
    fn call<'own, 'answer>(&'own self, request: HttpRequest) -> Answer<'answer>
    where
        'own: 'answer,
        Self: 'answer,
    {
        Box::pin(async move {
            let is_list = request.uri().query().is_some_and(|query| query.contains("list-type=2"));
            let is_object = !is_list && request.method() == "GET";
            let response = self.client.execute(request).await?;
            let is_well = response.status().is_success();
            if is_object && is_well {
                return Ok(response);
            }
            let (head, body) = response.into_parts();
            let mut stream = body.bytes_stream();
            let mut held = Vec::new();
            while let Some(next) = stream.next().await {
                let next = next?;
                let most = if is_well { PAGE } else { ERROR };
                if next.len() > most - held.len() {
                    if is_well {
                        return Err(too_long(format!("an answer of more than {most} bytes")));
                    }
                    break;
                }
                held.extend_from_slice(&next);
            }
            if is_list && is_well {
                let page = (held.len() as u64).max(LEAST);
                let take = |left: u64| left.checked_sub(page);
                if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                    return Err(too_long(format!("lists of more than {LISTS} bytes")));
                }
            }
            Ok(HttpResponse::from_parts(head, held.into()))
        })
    }
}

fn too_long(what: String) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::other(what))
}

#[cfg(test)]
mod tests {
    use object_store::client::{HttpRequestBody, HttpResponseBody};

    use super::*;

    /// A server whose every answer has this status and this number of bytes.
    #[derive(Debug)]
    struct Long(u16, usize);

    impl HttpService for Long {
        fn call<'own, 'answer>(&'own self, _: HttpRequest) -> Answer<'answer>
        where
            'own: 'answer,
            Self: 'answer,
        {
            Box::pin(async move {
                let mut response = HttpResponse::new(HttpResponseBody::from(vec![b'x'; self.1]));
                *response.status_mut() = self.0.try_into().expect("a status");
                Ok(response)
            })
        }
    }

    /// How many bytes of the last of `times` requests for an address come through.
    fn asked(server: Long, address: &str, times: u64) -> Result<usize, String> {
        let service = Service { client: HttpClient::new(server), left: Arc::new(AtomicU64::new(LISTS)) };
        let ask = async move {
            let mut last = 0;
            for _ in 0..times {
                let mut request = HttpRequest::new(HttpRequestBody::empty());
                *request.uri_mut() = address.parse().expect("an address");
                let answer = service.call(request).await;
                let bytes = answer.map_err(|error| format!("{:?}", std::error::Error::source(&error)))?;
                last = bytes.into_body().bytes().await.map_err(|error| error.to_string())?.len();
            }
            Ok(last)
        };
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads").block_on(ask)
    }

    #[test]
    fn lists_and_errors_have_limits_and_objects_have_those_of_their_chunks() {
        let (list, object) = ("http://h/b?list-type=2&prefix=a", "http://h/b/a");
        assert_eq!(asked(Long(200, PAGE), list, 1), Ok(PAGE));
        assert!(asked(Long(200, PAGE + 1), list, 1).is_err_and(|why| why.contains("an answer of more than")));
        assert_eq!(asked(Long(200, PAGE + 1), object, 1), Ok(PAGE + 1));
        assert_eq!([ERROR, ERROR + 1].map(|len| asked(Long(500, len), object, 1)), [Ok(ERROR), Ok(0)]);
    }

    #[test]
    fn a_list_that_goes_on_for_ever_ends() {
        let (list, pages) = ("http://h/b?list-type=2&continuation-token=x", LISTS / LEAST);
        assert_eq!(asked(Long(200, 0), list, pages), Ok(0));
        assert!(asked(Long(200, 0), list, pages + 1).is_err_and(|why| why.contains("lists of more than")));
    }
}
