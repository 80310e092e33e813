//! Reading a receipt: what can't be read, and what can be read and contradicts itself.

use anchorlog_proto::merkle::ProofError;
use anchorlog_proto::receipt::{Receipt, ReceiptError};
use anchorlog_proto::statement::StatementError;
use anchorlog_proto::tlog_proof::TlogProofError;

use crate::codes::log::INDEX;
use crate::finding::Finding;

use super::RECEIPT;

/// Why bytes are no receipt that could be verified.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "exit code 1 or 2: there is no third")]
pub enum ReadFailure {
    /// It can be read, and its parts contradict each other: the receipt does not hold.
    Contradiction(Finding),
    /// It can't be read: nothing can be evaluated.
    Unreadable(Finding),
}

impl ReadFailure {
    /// What was found.
    #[must_use]
    pub const fn finding(&self) -> &Finding {
        match self {
            Self::Contradiction(finding) | Self::Unreadable(finding) => finding,
        }
    }
}

/// Reads a receipt, in any strict JSON spelling.
pub fn read_receipt(bytes: &[u8]) -> Result<Receipt, ReadFailure> {
    Receipt::parse(bytes).map_err(|error| {
        let finding = finding(&error).in_input(RECEIPT);
        if contradicts(&error) {
            ReadFailure::Contradiction(finding)
        } else {
            ReadFailure::Unreadable(finding)
        }
    })
}

/// Whether every part was read and two of them don't go together.
const fn contradicts(error: &ReceiptError) -> bool {
    matches!(
        error,
        ReceiptError::AnchoredWithoutTimestamp
            | ReceiptError::Index { .. }
            | ReceiptError::LeafHash { .. }
            | ReceiptError::Origin { .. }
            | ReceiptError::Proof(TlogProofError::Inclusion(_))
    )
}

fn finding(error: &ReceiptError) -> Finding {
    let coded = Finding::of_format(error.code(), error);
    match error {
        ReceiptError::Json(json) | ReceiptError::Statement(StatementError::Json(json)) => {
            Finding::of_json(json)
        }
        ReceiptError::Statement(_) => coded.at("/statement"),
        ReceiptError::Proof(TlogProofError::Inclusion(ProofError::IndexOutOfRange {
            index,
            size,
        })) => {
            let finding = Finding::new(INDEX, error.to_string()).at("/proof");
            finding.compared(format!("an index below {size}"), index)
        }
        ReceiptError::Proof(_) => coded.at("/proof"),
        ReceiptError::LeafHash { stated, computed } => {
            coded.at("/leaf_hash").compared(computed, stated)
        }
        ReceiptError::Index { stated, proof } => coded.at("/index").compared(proof, stated),
        ReceiptError::Origin { stated, checkpoint } => {
            coded.at("/log").compared(checkpoint, stated)
        }
        ReceiptError::Log(_) => coded.at("/log"),
        ReceiptError::Conflicts => coded.at("/conflicts"),
        ReceiptError::AnchoredWithoutTimestamp => coded.at("/state"),
        ReceiptError::TimestampLength { position, .. } => {
            coded.at(format!("/timestamps/{position}"))
        }
        ReceiptError::TooManyTimestamps { .. } => coded.at("/timestamps"),
        _ => coded,
    }
}
