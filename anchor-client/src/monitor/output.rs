//! Where events go: lines on a stream, a command, a webhook. An event that one of them didn't take waits.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::event::Event;
use crate::retry::{RetryPolicy, is_retryable};
use crate::transport::root_cause;

/// Takes events, one after the other.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// One line each.
    Lines(Lines),
    /// One run of a program each.
    Hook(Hook),
    /// One request each.
    Webhook(Webhook),
}

impl Output {
    /// What its progress is remembered under.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Lines(_) => "lines".to_owned(),
            Self::Hook(hook) => format!("hook {}", hook.program.display()),
            // Its address may hold a secret, which has no place in a state file.
            Self::Webhook(webhook) => {
                let digest = Digest::of(webhook.url.0.as_str().as_bytes()).to_hex();
                format!("webhook {}", digest.get(..16).unwrap_or_default())
            }
        }
    }

    /// Whether telling an event takes longer than keeping that it was told.
    pub(super) const fn is_slow(&self) -> bool {
        matches!(self, Self::Hook(_) | Self::Webhook(_))
    }

    /// Hands over one event. An error means that it has to be handed over again.
    pub(super) async fn take(&mut self, event: &Event) -> Result<(), OutputError> {
        match self {
            Self::Lines(lines) => lines.take(event),
            Self::Hook(hook) => hook.take(event).await,
            Self::Webhook(webhook) => webhook.take(event).await,
        }
    }
}

/// A stream that gets the events as lines.
pub struct Lines(Box<dyn Write + Send>);

impl Lines {
    /// Lines on `stream`; each is flushed.
    #[must_use]
    pub fn new(stream: Box<dyn Write + Send>) -> Self {
        Self(stream)
    }

    fn take(&mut self, event: &Event) -> Result<(), OutputError> {
        let written = self.0.write_all(format!("{}\n", event.line).as_bytes());
        written.and_then(|()| self.0.flush()).map_err(|source| OutputError::Stream { source })
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lines")
    }
}

/// A program that is started for each event, with its line on standard input. No shell is involved.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Hook {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How long it may take; then it is killed and counts as failed.
    pub timeout: Duration,
}

impl Hook {
    async fn take(&self, event: &Event) -> Result<(), OutputError> {
        let (hook, line) = (self.clone(), format!("{}\n", event.line));
        let run = tokio::task::spawn_blocking(move || hook.run(line));
        run.await.unwrap_or_else(|_| {
            Err(OutputError::Ended { program: self.program.clone(), code: None })
        })
    }

    fn run(self, line: String) -> Result<(), OutputError> {
        let failed = |source| OutputError::Start { program: self.program.clone(), source };
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            // Standard output is for events.
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        // Apart, so that a program that reads nothing doesn't hold us up.
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                // Whether it reads is its own business; its exit status tells whether it took the event.
                let _ = stdin.write_all(line.as_bytes());
            });
        }
        match wait(&mut child, self.timeout).map_err(failed)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(OutputError::Ended { program: self.program, code: status.code() }),
            None => Err(OutputError::Slow { program: self.program, after: self.timeout }),
        }
    }
}

/// Waits for the end of a process; one that takes too long is killed.
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let give_up = Instant::now() + timeout;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= give_up {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The address of a webhook. It may hold a secret and is never shown whole.
#[derive(Clone, Eq, PartialEq)]
pub struct WebhookUrl(Url);

impl FromStr for WebhookUrl {
    type Err = WebhookUrlError;

    fn from_str(text: &str) -> Result<Self, WebhookUrlError> {
        let url = Url::parse(text).ok();
        let web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        url.filter(web).map(Self).ok_or(WebhookUrlError)
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/…", self.0.scheme(), self.0.host_str().unwrap_or_default())
    }
}

/// Not the address of a webhook.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a webhook is an address that begins with http:// or https://")]
pub struct WebhookUrlError;

/// A server that gets every event as a POST of its JSON, with its id as `Idempotency-Key`.
#[derive(Debug)]
pub struct Webhook {
    url: WebhookUrl,
    client: Client,
    retry: RetryPolicy,
}

impl Webhook {
    /// Prepares to post. Nothing is sent yet.
    pub fn new(
        url: WebhookUrl,
        timeout: Duration,
        retry: RetryPolicy,
    ) -> Result<Self, OutputError> {
        let builder = Client::builder()
            .user_agent(concat!("anchorlog-client/", env!("CARGO_PKG_VERSION")))
            .timeout(timeout)
            .redirect(Policy::none());
        let builder = if url.0.scheme() == "https" { builder } else { builder.tls_certs_only([]) };
        let client = builder.build().map_err(|source| OutputError::Unreachable {
            host: format!("{url:?}"),
            cause: root_cause(&source),
        })?;
        Ok(Self { url, client, retry })
    }

    async fn take(&self, event: &Event) -> Result<(), OutputError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let (error, temporary) = match self.post(event).await {
                Ok(status) if (200..300).contains(&status) => return Ok(()),
                Ok(status) => {
                    let host = format!("{:?}", self.url);
                    (OutputError::Refused { host, status }, status == 500 || is_retryable(status))
                }
                Err(error) => (error, true),
            };
            let delay = if temporary { self.retry.delay(tried, None) } else { None };
            let Some(delay) = delay else { return Err(error) };
            tokio::time::sleep(delay).await;
        }
    }

    async fn post(&self, event: &Event) -> Result<u16, OutputError> {
        let request = self
            .client
            .post(self.url.0.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", &event.id)
            .body(event.line.clone());
        match request.send().await {
            Ok(response) => Ok(response.status().as_u16()),
            Err(source) => Err(OutputError::Unreachable {
                host: format!("{:?}", self.url),
                cause: root_cause(&source.without_url()),
            }),
        }
    }
}

/// Why an event wasn't taken. It waits and will be handed over again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The hook said no, or was killed.
    #[error("hook {}: ended with {}", program.display(), code.map_or("a signal".to_owned(), |code| format!("code {code}")))]
    Ended {
        /// The program.
        program: PathBuf,
        /// Its exit code; none after a signal.
        code: Option<i32>,
    },
    /// The webhook said no.
    #[error("webhook {host}: HTTP {status}")]
    Refused {
        /// Scheme and host.
        host: String,
        /// The HTTP status.
        status: u16,
    },
    /// The hook took too long and was killed.
    #[error("hook {}: did not end within {} seconds", program.display(), after.as_secs())]
    Slow {
        /// The program.
        program: PathBuf,
        /// The limit.
        after: Duration,
    },
    /// The hook can't be started.
    #[error("hook {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Nobody reads the lines any more.
    #[error("events can't be written: {source}")]
    Stream {
        /// The operating system's reason.
        source: io::Error,
    },
    /// The webhook gave no answer.
    #[error("webhook {host}: {cause}")]
    Unreachable {
        /// Scheme and host.
        host: String,
        /// The reason.
        cause: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        Event { number: 0, id: "e".to_owned(), line: r#"{"a":1}"#.to_owned() }
    }

    fn hook(script: &str, timeout: Duration) -> Hook {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        Hook { program: "sh".into(), arguments, timeout }
    }

    #[tokio::test]
    async fn a_hook_takes_the_line_or_fails() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out");
        let long = Duration::from_secs(30);
        hook(&format!("cat > {}", path.display()), long).take(&event()).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"{\"a\":1}\n");
        let error = hook("exit 7", long).take(&event()).await.unwrap_err();
        assert!(matches!(error, OutputError::Ended { code: Some(7), .. }), "{error}");
        let error = hook("sleep 60", Duration::from_millis(50)).take(&event()).await.unwrap_err();
        assert!(matches!(error, OutputError::Slow { .. }), "{error}");
        let nothing = Hook { program: "/nowhere".into(), arguments: Vec::new(), timeout: long };
        assert!(matches!(nothing.take(&event()).await, Err(OutputError::Start { .. })));
        // One that reads nothing has taken it when it says so.
        hook("exec 0<&-; exit 0", long).take(&event()).await.unwrap();
    }

    #[test]
    fn a_webhook_address_keeps_its_secret() {
        let url: WebhookUrl = "https://hooks.example/T0/secret?token=x".parse().unwrap();
        assert_eq!(format!("{url:?}"), "https://hooks.example/…");
        for text in ["", "hooks.example", "file:///etc/passwd", "mailto:a@b.example"] {
            assert_eq!(text.parse::<WebhookUrl>(), Err(WebhookUrlError), "{text}");
        }
    }
}
