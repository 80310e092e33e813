//! The judge of Anchorlog: bytes and a policy in, a report out.
//!
//! What it is: the checks that tell whether evidence of a transparency log, or of a time-stamping
//! authority, holds. [`receipt::verify_receipt`] is one front door: a receipt, a policy and what the
//! caller expects give a [`receipt::VerifiedReceipt`] or the findings that stand against it.
//! [`timestamp::verify_token`] is the other: an RFC 3161 token and the authorities the caller trusts.
//! [`proof`] checks bare Merkle proofs, [`checkpoint`] signed checkpoints. Everything found has a
//! stable [`codes::Code`].
//!
//! What it is not: there is no network here, no clock and no async runtime, and nothing is trusted
//! but the policy and the roots it is handed. It does not fetch evidence; `anchorlog-client` does.
//!
//! On the way of the data: receipts and checkpoints come in through the formats of
//! [`anchorlog_proto`]; reports go to people, to `anchorlog-client`, and to the exit code of the
//! `verifier` program.
//!
//! A receipt, whole, and what it takes to believe it:
//!
//! ```
//! use anchorlog_proto::Digest;
//! use anchorlog_verifier::receipt::{Expectations, read_receipt, verify_receipt};
//! use anchorlog_verifier::trust::Trust;
//!
//! let trust = Trust::from_policy(
//!     b"log log.example/test+fae20353+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c
//! witness w1 witness1.example+5fcae608+BGa+fjMsekUzMr2dCn99sFX1xe8aBq2mbZizn7aBDEc6
//! quorum w1
//! ",
//! )?;
//!
//! let receipt = r#"{
//!   "schema": "anchorlog.receipt/1",
//!   "log": "log.example/test",
//!   "index": 0,
//!   "leaf_hash": "sha256:1434617daafa0cdef20666ada243cfbe968f59de44b3ce75fbe5824323f89c56",
//!   "statement": {
//!     "schema": "anchorlog.statement/1",
//!     "kind": "digest",
//!     "digest": "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
//!   },
//!   "proof": "c2sp.org/tlog-proof@v1\nindex 0\n\nlog.example/test\n1\nFDRhfar6DN7yBmatokPPvpaPWd5Es851++WCQyP4nFY=\n\n— log.example/test +uIDU42rp0swt8yzN4LV1gl8F9ksfKz1cZRLumDdA+3S9VzmuZtzR6gv95hj+TiVQ52LTgYu1svNojPYYrkZhso4cw4=\n— witness1.example X8rmCAAAAABrSdIAcjonP2PS/RNm5LM5rlj3UkWZTBkuJwiUREUpNvpXEmr+i8yxinNt7/+QoJ4Z5g2CcdSdt669WQC8j2Uq+suXAQ==\n",
//!   "timestamps": [],
//!   "state": "witnessed"
//! }"#;
//!
//! let receipt = read_receipt(receipt.as_bytes()).map_err(|failure| failure.finding().clone())?;
//! let expect = Expectations { digest: Some(Digest::of(b"hello")), ..Default::default() };
//! let verified = verify_receipt(&receipt, &trust.policy, &expect).expect("it holds");
//! assert_eq!(verified.witnesses()[0].unix_seconds, 1_800_000_000);
//!
//! let expect = Expectations { digest: Some(Digest::of(b"goodbye")), ..Default::default() };
//! let failure = verify_receipt(&receipt, &trust.policy, &expect).unwrap_err();
//! assert_eq!(failure.findings()[0].code.as_str(), "LOG.LEAF");
//! # Ok::<(), anchorlog_verifier::finding::Finding>(())
//! ```

pub mod checkpoint;
#[doc(hidden)]
pub mod cli;
pub mod codes;
pub mod finding;
pub mod gad;
pub mod jp;
pub mod keys;
pub mod proof;
pub mod receipt;
pub mod report;
pub mod timestamp;
pub mod trust;
pub mod workflow;
