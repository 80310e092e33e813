//! A copy of an audit trail, and what a checkpoint witness signed for it.

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{
    AuditCheckpoint, StatementKind, TrailId, Unsigned, VerifiedStatement, WitnessKey,
    WitnessSigner, WitnessedAt,
};

/// The trail.
pub const TRAIL: TrailId = TrailId::from_bytes([0x3c; 16]);

/// Twelve lines, two of them from before chaining, and statements of every kind: checkpoints of lines 3, 7 and
/// 10, a conflict at line 3 after the second, and a retirement.
pub struct Witnessed {
    /// The lines of the copy, without newlines.
    pub records: Vec<String>,
    /// The statements.
    pub chain: Vec<VerifiedStatement>,
    /// Whose they are.
    pub key: WitnessKey,
}

impl Witnessed {
    /// Always the same.
    pub fn new() -> Self {
        let records = records();
        let signer = WitnessSigner::from_seed(&[7; 32]);
        let checkpoint = |line: u64| {
            let record = &records[usize::try_from(line).unwrap() - 1];
            AuditCheckpoint::new(TRAIL, line, Digest::of(record.as_bytes())).unwrap()
        };
        let refused = AuditCheckpoint::new(TRAIL, 3, Digest::of(b"another")).unwrap();
        let mut chain: Vec<VerifiedStatement> = Vec::new();
        for (index, (kind, checkpoint)) in (0..).zip([
            (StatementKind::Checkpoint, checkpoint(3)),
            (StatementKind::Checkpoint, checkpoint(7)),
            (StatementKind::Conflict, refused),
            (StatementKind::Checkpoint, checkpoint(10)),
            (StatementKind::Retirement, checkpoint(10)),
        ]) {
            let previous = chain.last().map(|last| *last.signature());
            let witnessed_at = WitnessedAt::from_unix_seconds(1_790_000_000 + index).unwrap();
            let unsigned = Unsigned { kind, checkpoint, index, previous, witnessed_at };
            chain.push(unsigned.sign(&signer));
        }
        Self { records, chain, key: signer.key() }
    }

    /// The copy's exact bytes.
    pub fn copy(&self) -> String {
        self.records.iter().map(|line| line.clone() + "\n").collect()
    }

    /// A line of the copy as a holder has it.
    pub fn held(&self, line: u64) -> String {
        let record = &self.records[usize::try_from(line).unwrap() - 1];
        let checkpoint = AuditCheckpoint::new(TRAIL, line, Digest::of(record.as_bytes())).unwrap();
        checkpoint.to_line() + "\n"
    }
}

/// Statements as they are served.
pub fn lines(statements: &[VerifiedStatement]) -> String {
    statements.iter().map(|statement| statement.to_line() + "\n").collect()
}

fn records() -> Vec<String> {
    let mut lines = vec!["{\"kind\":\"old\"}".to_owned(), "{\"kind\":\"older\"}".to_owned()];
    let mut previous = Digest::of(b"{\"kind\":\"old\"}\n{\"kind\":\"older\"}\n");
    for sequence in 3..=12 {
        let line = format!(
            r#"{{"recordVersion":"1","trail":"{TRAIL}","sequence":{sequence},"previous":"{previous}","kind":"evaluation"}}"#
        );
        previous = Digest::of(line.as_bytes());
        lines.push(line);
    }
    lines
}
