//! Properties of what a witness of audit trails reads.

use std::sync::LazyLock;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{
    AuditCheckpoint, Chain, ConflictStatement, Decision, Mark, Registration, Statement,
    StatementKind, Submission, TrailId, WitnessSigner, WitnessedAt,
};

static SIGNER: LazyLock<WitnessSigner> = LazyLock::new(|| WitnessSigner::from_seed(&[7; 32]));

const TRAIL: TrailId = TrailId::from_bytes([0xaa; 16]);

/// A chain of two checkpoints, the statements' lines and submissions about it.
static WORLD: LazyLock<(Chain, Vec<String>, Vec<String>)> = LazyLock::new(|| {
    let mut chain = Chain::new();
    let (mut lines, mut submissions) = (Vec::new(), Vec::new());
    for sequence in [10, 20] {
        let checkpoint = checkpoint(sequence);
        submissions.push(checkpoint.to_line() + "\n");
        if let Some(next) = chain.next(StatementKind::Checkpoint, checkpoint, now()) {
            let statement = next.sign(&SIGNER);
            if chain.push(&statement).is_ok() {
                lines.push(statement.to_line());
            }
        }
    }
    submissions.push(submissions.concat());
    submissions.push(submissions[0].replace("\"sequence\":10", "\"sequence\":20"));
    submissions.push(submissions[0].replace("\"sequence\":10", "\"sequence\":15"));
    (chain, lines, submissions)
});

/// Statements and submissions: what is read is written back, and a submission is decided about as what it is.
pub fn statement(bytes: &[u8]) {
    if let Ok(statement) = Statement::read(bytes) {
        let line = statement.to_line();
        assert_eq!(Statement::read(line.as_bytes()), Ok(statement));
        let (chain, lines, _) = &*WORLD;
        if let Ok(verified) = statement.verify(&SIGNER.key()) {
            // Nobody can make up another statement of this key.
            assert!(lines.contains(&line));
            assert!(chain.clone().push(&verified).is_err(), "it is there already");
        }
    }
    let Ok(submission) = Submission::read(bytes) else { return };
    let lines: String = submission.lines().map(|line| line.to_line() + "\n").collect();
    assert_eq!(lines.as_bytes(), bytes);
    let (chain, ..) = &*WORLD;
    let mut chain = chain.clone();
    let before = chain.len();
    let next = match chain.decide(&submission) {
        Decision::Sign => chain.next(StatementKind::Checkpoint, *submission.last(), now()),
        Decision::Conflict { held, conflict: ConflictStatement::First(offered) } => {
            assert!(held < before && submission.lines().any(|line| *line == offered));
            chain.next(StatementKind::Conflict, offered, now())
        }
        Decision::Held { index } => {
            assert!(index < before);
            None
        }
        _ => None,
    };
    if let Some(next) = next
        && submission.trail() == TRAIL
    {
        chain.push(&next.sign(&SIGNER)).expect("what is decided continues the chain");
        assert_ne!(chain.decide(&submission), Decision::Sign, "once is enough");
    }
}

/// Marks and registrations have one spelling: what is read is the line that is written.
pub fn storage(bytes: &[u8]) {
    if let Some(mark) = Mark::read(bytes) {
        assert_eq!(mark.to_line().as_bytes(), bytes);
    }
    if let Some(registration) = Registration::read(bytes) {
        assert_eq!(registration.to_line(), bytes);
        let Registration { trail, issuer, subject, .. } = &registration;
        assert_eq!(Registration::new(*trail, issuer, subject), Some(registration.clone()));
    }
}

/// Seeds of [`statement`] and of [`storage`].
pub fn seeds() -> [Vec<Vec<u8>>; 2] {
    let (_, lines, submissions) = &*WORLD;
    let statements = lines.iter().chain(submissions).map(|text| text.clone().into_bytes());
    let marks = lines.iter().filter_map(|line| Statement::read(line.as_bytes()).ok());
    let marks = marks.map(|statement| Mark::of(&statement).to_line().into_bytes());
    let registrations = Registration::new(TRAIL, "https://issuer.example", "desk \"1\"");
    let registrations = registrations.map(|registration| registration.to_line());
    [statements.collect(), marks.chain(registrations).collect()]
}

fn checkpoint(sequence: u64) -> AuditCheckpoint {
    let digest = Digest::of(&sequence.to_be_bytes());
    AuditCheckpoint::new(TRAIL, sequence, digest).expect("the sequence is in its range")
}

fn now() -> WitnessedAt {
    WitnessedAt::from_unix_seconds(1_900_000_000).expect("the year has four digits")
}
