//! What the witness answers.

use std::time::SystemTime;

use anchorlog_proto::merkle::{TreeSize, consistency};
use anchorlog_proto::note::NoteSignature;
use anchorlog_proto::tlog_witness::{
    AddCheckpoint, SIZE_CONTENT_TYPE, write_cosignatures, write_size,
};

use super::{Behaviour, Shared, cosigner};

/// An answer, before it is HTTP.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    fn lines(lines: &[NoteSignature]) -> Self {
        Self { body: write_cosignatures(lines).into_bytes(), ..Self::status(200) }
    }

    fn stale(size: TreeSize) -> Self {
        let headers = vec![("content-type", SIZE_CONTENT_TYPE.to_owned())];
        Self { status: 409, headers, body: write_size(size).into_bytes() }
    }
}

/// Answers a request; whoever is slow has waited already.
pub(super) fn answer(shared: &Shared, behaviour: &Behaviour, request: &AddCheckpoint) -> Answer {
    let text = request.checkpoint.note().text();
    let key = &shared.key;
    let cosign = |offset: i64| {
        let now = now().saturating_add_signed(offset);
        key.cosign(text, now).expect("a checkpoint is cosigned")
    };
    let garbled = |bytes: Vec<u8>| {
        let (name, id) = (key.verifier_key().name().clone(), key.verifier_key().key_id());
        NoteSignature::new(name, id, bytes).expect("a line")
    };
    match behaviour {
        Behaviour::Honest | Behaviour::Slow(_) => honest(shared, request, || cosign(0)),
        Behaviour::ClockOff(seconds) => honest(shared, request, || cosign(*seconds)),
        Behaviour::Status(status) => Answer::status(*status),
        Behaviour::RetryAfter(status, seconds) => Answer {
            headers: vec![("retry-after", seconds.to_string())],
            ..Answer::status(*status)
        },
        Behaviour::Stale(size) => Answer::stale(TreeSize::new(*size).expect("a size")),
        Behaviour::WrongKey => {
            let name = key.verifier_key().name().as_str();
            let line = cosigner(name, "another seed").cosign(text, now());
            Answer::lines(&[line.expect("a checkpoint is cosigned")])
        }
        Behaviour::WrongCosignature => {
            let other = "log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
            Answer::lines(&[key.cosign(other, now()).expect("a checkpoint is cosigned")])
        }
        Behaviour::ForgedLine => {
            let good = cosign(0);
            let mut bytes = good.bytes().to_vec();
            bytes.reverse();
            bytes[0] = 0;
            Answer::lines(&[good, garbled(bytes)])
        }
        Behaviour::LittleEndianTime => {
            let mut bytes = cosign(0).bytes().to_vec();
            bytes[..8].reverse();
            Answer::lines(&[garbled(bytes)])
        }
        Behaviour::ExtraLines => honest_lines(shared, request, || {
            let strange: NoteSignature =
                format!("\u{2014} {} BgAAAAAGBgYG", key.verifier_key().name())
                    .parse()
                    .expect("a line");
            let other = cosigner("somebody.example/else", "else").cosign(text, now());
            vec![strange, cosign(0), other.expect("a checkpoint is cosigned")]
        }),
        Behaviour::EmptyBody => Answer::status(200),
        Behaviour::HugeBody(bytes) => Answer { body: vec![b'a'; *bytes], ..Answer::status(200) },
        Behaviour::Redirect(target) => {
            Answer { headers: vec![("location", target.clone())], ..Answer::status(307) }
        }
    }
}

fn honest(
    shared: &Shared,
    request: &AddCheckpoint,
    line: impl FnOnce() -> NoteSignature,
) -> Answer {
    honest_lines(shared, request, || vec![line()])
}

/// Checks and remembers, and only then cosigns.
fn honest_lines(
    shared: &Shared,
    request: &AddCheckpoint,
    lines: impl FnOnce() -> Vec<NoteSignature>,
) -> Answer {
    let offered = request.checkpoint.checkpoint();
    let mut state = shared.lock();
    let size = state.known.as_ref().map_or(TreeSize::ZERO, |known| known.size);
    if request.old != size {
        return Answer::stale(size);
    }
    let proved = match &state.known {
        None => request.proof.is_empty(),
        Some(known) => consistency::verify(
            known.size,
            offered.size,
            &known.root,
            &offered.root,
            &request.proof,
        )
        .is_ok(),
    };
    if !proved {
        return Answer::status(422);
    }
    state.known = Some(offered.clone());
    Answer::lines(&lines())
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
