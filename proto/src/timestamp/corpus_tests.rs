//! Tokens and responses of real authorities, which strangers wrote.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use std::path::Path;

use super::*;
use crate::json::corpus_tests::corpus_directory;

/// Every file below `folder` of the corpus with one of these extensions, with its path.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let Some(corpus) = corpus_directory() else { return Vec::new() };
    let mut folders = vec![corpus.join("rfc3161").join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if ["tsr", "tsq", "der"].iter().any(|end| path.extension() == Some(end.as_ref()))
            {
                files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The token in a response or a token file.
fn token(bytes: &[u8]) -> Result<&[u8], TimestampError> {
    let first = element::Element::parse(bytes).and_then(|outer| outer.elements()?.peek());
    if first == Some(der::Tag::ObjectIdentifier) {
        return Ok(bytes);
    }
    TimestampResponse::parse(bytes).and_then(|response| response.granted())
}

#[test]
fn real_requests_responses_and_tokens_are_read() {
    let mut tokens = 0;
    for (path, bytes) in files("real") {
        if Path::new(&path).extension() == Some("tsq".as_ref()) {
            let request = TimestampRequest::parse(&bytes).expect(&path);
            assert_eq!(request.to_der(), bytes, "{path}");
            continue;
        }
        let expected = match path.rsplit_once('/').unwrap().1 {
            "badAlg.tsr" | "addInfo-text.tsr" => Err("status.rejected"),
            "malformed.tsr" => Err("parse.response"),
            "TimeStampTokenWithTSTInfoVersion2.der" => Err("version.tst-info"),
            "TimeStampTokenWithValidAndInvalidSignerInfos.der" => Err("signers.several"),
            "TimeStampTokenWithoutSigner.der" => Err("signers.none"),
            "TimeStampTokenWithoutSignedAttributes.der" => Err("attributes.absent"),
            _ => Ok(()),
        };
        let read = token(&bytes).and_then(Token::parse);
        assert_eq!(read.as_ref().map(drop).map_err(TimestampError::reason), expected, "{path}");
        tokens += usize::from(read.is_ok());
    }
    assert!(tokens == 0 || tokens > 15, "{tokens}");
}

#[test]
fn no_prefix_of_a_real_token_is_one() {
    for (path, bytes) in files("real") {
        let Ok(token) = token(&bytes) else { continue };
        for end in 0..token.len() {
            assert!(Token::parse(&token[..end]).is_err(), "{path}: {end}");
            assert_eq!(ber::token_to_der(&token[..end]), None, "{path}: {end}");
        }
        assert_eq!(ber::token_to_der(token), None, "{path}");
    }
}
