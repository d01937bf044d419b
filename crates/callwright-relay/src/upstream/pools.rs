//! Connections by thread: a request goes over a connection that its own thread has opened.
//!
//! The runtime that opened a connection drives it. In the gateway each thread has a runtime of its own. A request over another
//! thread's connection would wake that thread, and be woken by it, for each piece in either direction. Two threads then answer
//! hardly more than one.

use std::sync::{PoisonError, RwLock};
use std::thread::{self, ThreadId};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::{Client, ResponseFuture};

use super::connect::Connector;

/// The pools of one upstream.
pub(super) struct Pools {
    make: Box<dyn Fn() -> Pool + Send + Sync>,
    of_threads: RwLock<Vec<(ThreadId, Pool)>>,
}

type Pool = Client<Connector, Full<Bytes>>;

/// The most threads with a pool of their own. Any more use the first one's.
const MOST_THREADS: usize = 64;

impl Pools {
    /// Makes pools when they are needed.
    pub(super) fn new(make: impl Fn() -> Pool + Send + Sync + 'static) -> Pools {
        Pools { make: Box::new(make), of_threads: RwLock::default() }
    }

    /// Sends `request` over one of this thread's connections.
    pub(super) fn request(&self, request: Request<Full<Bytes>>) -> ResponseFuture {
        let own = thread::current().id();
        {
            let pools = self.of_threads.read().unwrap_or_else(PoisonError::into_inner);
            let is_full = MOST_THREADS <= pools.len();
            let found = pools.iter().find(|(thread, _)| *thread == own);
            if let Some((_, pool)) = found.or_else(|| pools.first().filter(|_| is_full)) {
                return pool.request(request);
            }
        }
        let pool = (self.make)();
        let response = pool.request(request);
        // Many threads may come at once: the bound is passed by as many at most, and holds for later ones.
        self.of_threads.write().unwrap_or_else(PoisonError::into_inner).push((own, pool));
        response
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use http_body_util::BodyExt;
    use hyper_util::rt::TokioExecutor;

    use super::*;

    #[test]
    fn each_thread_keeps_a_connection_of_its_own() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("http://{}/", listener.local_addr().unwrap());
        let n_connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_connections);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    let mut request = [0; 1024];
                    while stream.read(&mut request).is_ok_and(|n| n != 0) {
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
                    }
                });
            }
        });
        let connector = Connector::new(Arc::default(), Duration::from_secs(5));
        let make = move || Client::builder(TokioExecutor::new()).build(connector.clone());
        let pools = Arc::new(Pools::new(make));
        let turn = Arc::new(Mutex::new(()));
        let ask = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            for _ in 0..3 {
                // One after the other: a connection that is shared would be free.
                let _turn = turn.lock().unwrap();
                let request = Request::get(&*uri).body(Full::default()).unwrap();
                runtime.block_on(async {
                    let answer = pools.request(request).await.unwrap();
                    assert_eq!(&answer.into_body().collect().await.unwrap().to_bytes()[..], b"ok");
                    // The connection goes back to its pool on a turn of its own.
                    tokio::task::yield_now().await;
                });
            }
        };
        let threads: Vec<_> = (0..2).map(|_| thread::spawn(ask.clone())).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(n_connections.load(Ordering::SeqCst), 2);
    }
}
