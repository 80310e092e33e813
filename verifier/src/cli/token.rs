//! `verifier token`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anchorlog_proto::timestamp::{
    HashAlgorithm, Imprint, ImprintHasher, MAX_RESPONSE_BYTES, Nonce, ObjectIdentifier,
    TimestampRequest, Token, ber,
};

use super::authorities::{EvidenceArgs, Roots, load_trust};
use super::input::Inputs;
use super::output::Answer;
use crate::codes::input::OPEN;
use crate::codes::timestamp::{NOTE, QUORUM};
use crate::finding::Finding;
use crate::report::{Facts, Report, Timestamp};
use crate::timestamp::revocation::RevocationMode;
use crate::timestamp::{
    Expected, MAX_TOKENS, Quorum, Rules, Supplied, TokenFailure, TrustEntry, VerifiedToken,
    token_in, verify_response, verify_token,
};

/// Check RFC 3161 time stamps: that something existed at their time, by authorities you trust.
///
/// A file is a token or a whole response; which one is told by its bytes. Nothing inside it is
/// trusted but what leads to one of the given roots. Certificates have to be good at the time of the
/// token, not today.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  verifier token file.tsr --data file --roots tsa.pem
  verifier token file.tst --digest sha256:2cf24dba… --roots tsa.pem --at 2026-11-30T12:00:00Z
  verifier token file.tsr --request file.tsq --roots tsa.pem --certs signer.pem
  verifier token file.tsr --data file --roots tsa.pem --crl tsa.crl --revocation required
  verifier token a.tsr b.tsr --data file --roots a=a.pem --roots b=b.pem --quorum 2")]
#[command(group(clap::ArgGroup::new("about").required(true)))]
pub(super) struct Args {
    /// The token or response; several for a quorum; - for standard input.
    #[arg(required = true, num_args = 1..=MAX_TOKENS)]
    files: Vec<PathBuf>,
    /// What it has to be over: the hash sha256, sha384, sha512 or sha1, a colon, hexadecimal digits.
    #[arg(long, value_name = "ALG:HEX", group = "about")]
    digest: Option<Imprint>,
    /// The file it has to be over; hashed as the token says.
    #[arg(long, value_name = "FILE", group = "about")]
    data: Option<PathBuf>,
    /// The request that a response has to answer: imprint, nonce, policy and certificates.
    #[arg(long, value_name = "TSQ", group = "about", conflicts_with_all = ["nonce", "policy_oid"])]
    request: Option<PathBuf>,
    /// Roots you trust, PEM or DER; OPERATOR=FILE keeps authorities apart.
    #[arg(long, required = true, value_name = "[OPERATOR=]PEM", num_args = 1..)]
    roots: Vec<Roots>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// The nonce of the request, in hexadecimal.
    #[arg(long, value_name = "HEX")]
    nonce: Option<Nonce>,
    /// The policy it has to be made under.
    #[arg(long, value_name = "OID")]
    policy_oid: Option<ObjectIdentifier>,
    /// What to make of CRLs and OCSP responses; supplied is the default where there are any.
    #[arg(long, value_name = "STANCE", value_parser = ["none", "supplied", "required"])]
    revocation: Option<String>,
    /// How many distinct operators have to say so. Then a token that doesn't hold spoils nothing.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..))]
    quorum: Option<u8>,
}

pub(super) fn run(args: &Args) -> Answer {
    let mut inputs = Inputs::default();
    let report = evaluate(args, &mut inputs)
        .unwrap_or_else(|finding| Report::not_evaluated(COMMAND, vec![finding]));
    Answer::Report { report: Box::new(report), files: inputs.into_files() }
}

fn evaluate(args: &Args, inputs: &mut Inputs) -> Result<Report, Finding> {
    let limit = u64::try_from(MAX_RESPONSE_BYTES).unwrap_or(u64::MAX);
    let mut tokens = Vec::new();
    for file in &args.files {
        tokens.push(inputs.read(TOKEN, file, limit)?);
    }
    let judge = Judge {
        trust: load_trust(&args.roots, inputs)?,
        supplied: args.evidence.load(inputs)?,
        rules: rules(args),
        request: match &args.request {
            Some(path) => Some(read_request(path, inputs)?),
            None => None,
        },
    };
    let mut findings = Vec::new();
    let mut outcomes = Vec::new();
    for bytes in &tokens {
        let outcome = judge.judge(args, bytes)?;
        match &outcome {
            Ok(token) => findings.extend(notes(token)),
            Err(failure) if args.quorum.is_none() => findings.push(failure.finding()),
            Err(failure) => findings.push(failure.not_counted()),
        }
        outcomes.push(outcome);
    }
    let mut findings: Vec<_> = findings.into_iter().map(|one| one.in_input(TOKEN)).collect();
    let quorum = Quorum::of(outcomes);
    if let Some(asked) = args.quorum
        && !quorum.reaches(usize::from(asked))
    {
        let finding = Finding::new(QUORUM, "too few authorities' tokens hold");
        findings.push(finding.compared(asked, quorum.operators().len()));
    }
    let rows = tokens.iter().zip(quorum.into_outcomes());
    let timestamps = rows.map(|(bytes, outcome)| Timestamp::judged(bytes, outcome)).collect();
    Ok(Report::evaluated(COMMAND, Facts { timestamps, ..Facts::default() }, findings))
}

/// What every token of one command is judged with.
struct Judge {
    trust: Vec<TrustEntry>,
    supplied: Supplied,
    rules: Rules,
    request: Option<TimestampRequest>,
}

impl Judge {
    fn judge(
        &self,
        args: &Args,
        bytes: &[u8],
    ) -> Result<Result<VerifiedToken, TokenFailure>, Finding> {
        let Self { trust, supplied, rules, request } = self;
        let token = match token_in(bytes, rules) {
            Ok(token) => token,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(request) = request {
            // A bare token has no status and answers nothing: it is held against the request's words.
            if token != bytes {
                return Ok(verify_response(bytes, request, trust, supplied, rules));
            }
            let expected = Expected::answering(request);
            return Ok(verify_token(bytes, &expected, trust, supplied, rules));
        }
        let imprint = match (&args.digest, &args.data) {
            (Some(imprint), _) => imprint.clone(),
            (None, Some(data)) => imprint_of(data, algorithm_of(&token))?,
            (None, None) => return Err(super::usage("give --digest, --data or --request")),
        };
        let expected = Expected { imprint, nonce: args.nonce.clone(), policy: args.policy_oid };
        Ok(verify_token(&token, &expected, trust, supplied, rules))
    }
}

fn rules(args: &Args) -> Rules {
    let mut rules = args.evidence.rules();
    match args.revocation.as_deref() {
        Some("required") => rules.revocation.mode = RevocationMode::Required,
        Some("supplied") => rules.revocation.mode = RevocationMode::Supplied,
        Some(_) => rules.revocation.mode = RevocationMode::None,
        None => {}
    }
    rules
}

fn notes(token: &VerifiedToken) -> impl Iterator<Item = Finding> {
    let finding =
        |note: &crate::timestamp::Note| Finding::new(NOTE, note.text()).because(note.as_str());
    token.notes().iter().map(finding)
}

fn read_request(path: &Path, inputs: &mut Inputs) -> Result<TimestampRequest, Finding> {
    let limit = u64::try_from(anchorlog_proto::timestamp::MAX_REQUEST_BYTES).unwrap_or(u64::MAX);
    let bytes = inputs.read(REQUEST, path, limit)?;
    TimestampRequest::parse(&bytes)
        .map_err(|error| Finding::of_format(error.code(), &error).in_input(REQUEST))
}

/// The hash that a token says it is over. Where none can be read, the verification says why.
fn algorithm_of(token: &[u8]) -> HashAlgorithm {
    let rewritten = ber::token_to_der(token);
    let read = Token::parse(rewritten.as_deref().unwrap_or(token));
    let stated =
        read.ok().and_then(|token| HashAlgorithm::from_oid(&token.info.imprint_algorithm.oid));
    stated.unwrap_or(HashAlgorithm::Sha256)
}

/// Hashes a file of any size.
fn imprint_of(path: &Path, algorithm: HashAlgorithm) -> Result<Imprint, Finding> {
    File::open(path).and_then(|file| hash(file, algorithm)).map_err(|error| {
        Finding::new(OPEN, format!("{} can't be read: {error}", path.display())).in_input(DATA)
    })
}

fn hash(mut file: File, algorithm: HashAlgorithm) -> io::Result<Imprint> {
    let mut hasher = ImprintHasher::new(algorithm);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(piece @ [_, ..]) => hasher.update(piece),
            _ => return Ok(hasher.finish()),
        }
    }
}

const COMMAND: &str = "token";
const TOKEN: &str = "token";
const REQUEST: &str = "request";
const DATA: &str = "data";
