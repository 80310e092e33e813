//! Ports that stay ours while a server is down.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// A loopback address that nobody listens on.
///
/// A port the system picks lies in the range from which it also numbers outgoing connections, and may be
/// taken by one of them before a killed server is back on it. These lie below that range; each is handed out
/// once per process, and where this process starts depends on its id.
pub(super) fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(process::id() * 61 % u32::from(COUNT)).unwrap_or(0);
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + start.wrapping_add(step) % COUNT;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port from {FIRST} on is free");
}

const FIRST: u16 = 12_000;
const COUNT: u16 = 18_000;
