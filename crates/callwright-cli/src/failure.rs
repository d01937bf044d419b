//! Why a run ends badly: one sentence for a person, one exit code for a program.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use callwright_store::StoreError;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The answer was given, and it is a refusal.
    Refused,
    /// A file, or standard input, cannot be read.
    Read(PathBuf, io::Error),
    /// A file cannot be opened for writing.
    Record(PathBuf, io::Error),
    /// No gateway answers at this address.
    NoGateway(SocketAddr, io::Error),
    /// Nothing can be served at this address.
    Listen(SocketAddr, io::Error),
    /// The output cannot be written.
    Write(io::Error),
    /// The input is not UTF-8 from this byte on.
    NotUtf8(PathBuf, usize),
    /// The input looks like UTF-16.
    Utf16(PathBuf),
    /// Tool definitions or a schema that cannot be used, and why.
    Definitions(PathBuf, String),
    /// So many lines could not be used.
    Lines(usize),
    /// The input is longer than this many bytes.
    TooLong(PathBuf, usize),
    /// The configuration cannot be used, and why.
    Config(String),
    /// No upstream answers, so there is no model to be asked, and why.
    NoModel(String),
    /// The gateway of an agent has ended before the agent, and why.
    GatewayEnded(String),
    /// A server or client of MCP cannot be talked to, and why.
    Mcp(String),
    /// The store cannot be used.
    Store(StoreError),
    /// Nothing is kept of a session of this name.
    NoSession(String),
    /// A run has ended otherwise than done, and has said why; the code is that of its end.
    Ended(u8),
}

impl Failure {
    /// 2 is not among them: wrong usage is found before there is anything to fail.
    pub(crate) fn code(&self) -> u8 {
        match self {
            // The reader has gone: `callwright … | head` has all that it wanted.
            Failure::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Refused => 1,
            // As where there is a session of the name already: something else has to be asked for.
            Failure::Store(StoreError::Held(..)) => 8,
            Failure::Read(..)
            | Failure::Record(..)
            | Failure::NoGateway(..)
            | Failure::Listen(..)
            | Failure::Write(_)
            | Failure::GatewayEnded(_)
            | Failure::Mcp(_)
            | Failure::Store(_)
            | Failure::NoSession(_) => 3,
            Failure::NotUtf8(..) | Failure::Utf16(_) => 4,
            Failure::Definitions(..) => 5,
            Failure::Lines(_) => 6,
            Failure::TooLong(..) => 7,
            Failure::Config(_) => 8,
            Failure::NoModel(_) => 10,
            Failure::Ended(code) => *code,
        }
    }

    /// Returns whether there is nothing more to say.
    pub(crate) fn is_quiet(&self) -> bool {
        self.code() <= 1 || matches!(self, Failure::Ended(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused => f.write_str("refused"),
            Failure::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Failure::Record(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Failure::NoGateway(addr, error) => write!(f, "no gateway answers at {addr}: {error}"),
            Failure::Listen(addr, error) if error.kind() == io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "cannot listen on {addr}: {error}; --listen {}:0 takes any port that is free",
                    addr.ip()
                )
            }
            Failure::Listen(addr, error) => write!(f, "cannot listen on {addr}: {error}"),
            Failure::Write(error) => write!(f, "cannot write: {error}"),
            Failure::NotUtf8(path, at) => write!(f, "{} is not UTF-8 at byte {at}", path.display()),
            Failure::Utf16(path) => {
                write!(f, "{} looks like UTF-16: save it as UTF-8", path.display())
            }
            Failure::Definitions(path, why) => write!(f, "cannot use {}: {why}", path.display()),
            Failure::Lines(1) => f.write_str("1 line could not be used; its answer says why"),
            Failure::Lines(n) => write!(f, "{n} lines could not be used; their answers say why"),
            Failure::Config(why) | Failure::Mcp(why) => f.write_str(why),
            Failure::GatewayEnded(why) => write!(f, "the gateway has ended{why}; the agent was ended, too"),
            Failure::NoModel(why) => write!(f, "no model can be asked: {why}"),
            Failure::Store(error) => write!(f, "{error}"),
            Failure::Ended(_) => f.write_str("the run did not finish"),
            Failure::NoSession(id) => write!(f, "there is no session {id}"),
            Failure::TooLong(path, max) => write!(f, "{} is longer than {max} bytes", path.display()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}
