//! TSTInfo: what a token says (RFC 3161 section 2.4.2).

use core::fmt;

use der::Tag;

use super::algorithm::AlgorithmIdentifier;
use super::element::{Element, Elements, context};
use super::gen_time::GenTime;
use super::nonce::Nonce;
use super::request::{read_nonce, refuse_critical};
use super::{ObjectIdentifier, TimestampError};

/// Octets of the longest serial number: 160 bits.
const MAX_SERIAL_OCTETS: usize = 20;

/// What a token says, as read from the bytes that are signed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TstInfo<'a> {
    /// The policy the token was made under.
    pub policy: ObjectIdentifier,
    /// The algorithm of the imprint; whether it is known or allowed hasn't been looked at.
    pub imprint_algorithm: AlgorithmIdentifier<'a>,
    /// The imprint.
    pub imprint: &'a [u8],
    /// The token's number: big-endian octets of an integer from 0 on, without leading zeros.
    pub serial: &'a [u8],
    /// When.
    pub gen_time: GenTime,
    /// How far genTime may be off. Absent means that nothing is said about it.
    pub accuracy: Option<Accuracy>,
    /// Whether tokens of this authority are ordered by genTime whatever the accuracy.
    pub ordering: bool,
    /// What the request asked to be repeated.
    pub nonce: Option<Nonce>,
    /// The GeneralName of the authority: a hint that identifies nobody.
    pub tsa: Option<Element<'a>>,
}

impl<'a> TstInfo<'a> {
    /// Reads a TSTInfo: the whole of `bytes`, and nothing behind it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TimestampError> {
        let field = |field| TimestampError::TstInfo { field };
        let mut outer = Elements::new(bytes).ok_or(field("TSTInfo"))?;
        let info = outer.next().ok_or(field("TSTInfo"))?;
        if !outer.is_empty() {
            return Err(TimestampError::Trailing { what: "TSTInfo" });
        }
        let mut fields = info.elements_of(Tag::Sequence).ok_or(field("TSTInfo"))?;
        let version = fields.expect(Tag::Integer).and_then(|version| version.small());
        if version.ok_or(field("version"))? != 1 {
            return Err(TimestampError::TstVersion);
        }
        let policy = fields.next().and_then(|policy| policy.oid()).ok_or(field("policy"))?;
        let imprint = fields.next().ok_or(field("messageImprint"))?;
        let (imprint_algorithm, imprint) = read_imprint(&imprint).ok_or(field("messageImprint"))?;
        let serial = fields.expect(Tag::Integer).ok_or(field("serialNumber"))?;
        let serial = serial.unsigned().filter(|octets| octets.len() <= MAX_SERIAL_OCTETS);
        let serial = serial.ok_or(TimestampError::Serial)?;
        let gen_time = fields.expect(Tag::GeneralizedTime).ok_or(TimestampError::GenTime)?;
        let gen_time = GenTime::parse(gen_time.value()).ok_or(TimestampError::GenTime)?;
        let accuracy = match fields.optional(Tag::Sequence) {
            Some(accuracy) => Some(Accuracy::read(&accuracy).ok_or(TimestampError::Accuracy)?),
            None => None,
        };
        let ordering = match fields.optional(Tag::Boolean) {
            // DER leaves the default FALSE out; an authority that doesn't has said the same.
            Some(ordering) => ordering.boolean().ok_or(field("ordering"))?,
            None => false,
        };
        let nonce = match fields.optional(Tag::Integer) {
            Some(nonce) => Some(read_nonce(&nonce).ok_or(field("nonce"))?),
            None => None,
        };
        let tsa = match fields.optional(context(0, true)) {
            Some(tsa) => Some(Element::parse(tsa.value()).ok_or(field("tsa"))?),
            None => None,
        };
        if let Some(extensions) = fields.optional(context(1, true)) {
            refuse_critical(&extensions).map_err(|error| match error {
                TimestampError::Der { .. } => field("extensions"),
                error => error,
            })?;
        }
        if !fields.is_empty() {
            return Err(field("a field that TSTInfo hasn't, or out of its order"));
        }
        Ok(Self {
            policy,
            imprint_algorithm,
            imprint,
            serial,
            gen_time,
            accuracy,
            ordering,
            nonce,
            tsa,
        })
    }
}

fn read_imprint<'a>(imprint: &Element<'a>) -> Option<(AlgorithmIdentifier<'a>, &'a [u8])> {
    let mut fields = imprint.elements_of(Tag::Sequence)?;
    let algorithm = AlgorithmIdentifier::read(&fields.next()?)?;
    let digest = fields.next()?.octets()?;
    fields.is_empty().then_some((algorithm, digest))
}

/// How far genTime may be off, to both sides. An absent part is 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Accuracy {
    seconds: u64,
    millis: u64,
    micros: u64,
}

impl Accuracy {
    /// The whole of it in microseconds; what can't be counted is the largest number.
    #[must_use]
    pub const fn microseconds(&self) -> u64 {
        self.seconds
            .saturating_mul(1_000_000)
            .saturating_add(self.millis * 1_000)
            .saturating_add(self.micros)
    }

    fn read(accuracy: &Element<'_>) -> Option<Self> {
        let mut fields = accuracy.elements()?;
        let seconds = match fields.optional(Tag::Integer) {
            // What can't be counted is wider than anybody allows.
            Some(seconds) => seconds.unsigned().map(|_| seconds.small().unwrap_or(u64::MAX))?,
            None => 0,
        };
        let millis = read_thousandth(&mut fields, 0)?;
        let micros = read_thousandth(&mut fields, 1)?;
        fields.is_empty().then_some(Self { seconds, millis, micros })
    }
}

/// `[tag] INTEGER (1..999)`; 0 if it isn't there.
fn read_thousandth(fields: &mut Elements<'_>, tag: u32) -> Option<u64> {
    let Some(part) = fields.optional(context(tag, false)) else { return Some(0) };
    let value = match *part.value() {
        [low @ 0..0x80] | [0, low @ 0x80..=0xff] => u64::from(low),
        [high @ 1..0x80, low] => u64::from(high) << 8 | u64::from(low),
        _ => return None,
    };
    (1..=999).contains(&value).then_some(value)
}

/// Seconds with as many digits as are needed: `1 s`, `0.5 s`.
impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.microseconds();
        let digits = format!("{:06}", micros % 1_000_000);
        match digits.trim_end_matches('0') {
            "" => write!(f, "{} s", micros / 1_000_000),
            digits => write!(f, "{}.{digits} s", micros / 1_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::HashAlgorithm;
    use super::super::writer::{INTEGER, NULL, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, element};
    use super::*;

    const TIME: &[u8] = b"20250601120000Z";

    fn info(version: u8, serial: &[u8], time: &[u8], rest: &[u8]) -> Vec<u8> {
        let oid = element(OBJECT_IDENTIFIER, &[HashAlgorithm::Sha256.oid().as_bytes()]);
        let algorithm = element(SEQUENCE, &[&oid, &element(NULL, &[])]);
        let imprint = element(SEQUENCE, &[&algorithm, &element(OCTET_STRING, &[&[7; 32]])]);
        let time = element(0x18, &[time]);
        element(
            SEQUENCE,
            &[
                &element(INTEGER, &[&[version]]),
                &element(OBJECT_IDENTIFIER, &[&[0x2a, 3]]),
                &imprint,
                &element(INTEGER, &[serial]),
                &time,
                rest,
            ],
        )
    }

    fn reason(bytes: &[u8]) -> &'static str {
        TstInfo::parse(bytes).unwrap_err().reason()
    }

    #[test]
    fn every_field_is_read() {
        let rest = [
            &[0x30, 10, 2, 1, 1, 0x80, 2, 3, 0xe7, 0x81, 1, 5][..], // accuracy 1 s, 999 ms, 5 us
            &[1, 1, 0xff],                                          // ordering
            &[2, 2, 0, 0x80],                                       // nonce
            &[0xa0, 4, 0x82, 2, b'a', b'b'],                        // tsa: a dNSName
            &[0xa1, 8, 0x30, 6, 6, 2, 0x2a, 3, 4, 0],               // an extension
        ]
        .concat();
        let bytes = info(1, &[0, 0x80], b"20250601120000.25Z", &rest);
        let info = TstInfo::parse(&bytes).unwrap();
        assert_eq!(info.serial, [0x80]);
        assert_eq!(info.gen_time.to_string(), "2025-06-01T12:00:00.25Z");
        assert_eq!(info.accuracy.unwrap().microseconds(), 1_999_005);
        assert_eq!(info.accuracy.unwrap().to_string(), "1.999005 s");
        assert!(info.ordering);
        assert_eq!(info.nonce, Some("80".parse().unwrap()));
        assert_eq!(info.tsa.unwrap().value(), b"ab");
    }

    #[test]
    fn each_rule_has_its_reason() {
        assert!(TstInfo::parse(&info(1, &[0], TIME, &[])).is_ok());
        assert_eq!(reason(&info(2, &[1], TIME, &[])), "version.tst-info");
        assert_eq!(reason(&info(0, &[1], TIME, &[])), "version.tst-info");
        assert_eq!(reason(&info(1, &[0x80], TIME, &[])), "parse.serial");
        assert_eq!(reason(&info(1, &[0, 1], TIME, &[])), "parse.serial");
        assert_eq!(reason(&info(1, &[1; 21], TIME, &[])), "parse.serial");
        assert!(TstInfo::parse(&info(1, &[1; 20], TIME, &[])).is_ok());
        assert_eq!(reason(&info(1, &[1], b"20250601120000", &[])), "parse.gen-time");
        let critical = [0xa1, 11, 0x30, 9, 6, 2, 0x2a, 3, 1, 1, 0xff, 4, 0];
        assert_eq!(reason(&info(1, &[1], TIME, &critical)), "version.critical-extension");
        let good = info(1, &[1], TIME, &[]);
        assert_eq!(reason(&[&good[..], &[0]].concat()), "parse.trailing");
        for end in 0..good.len() {
            assert!(TstInfo::parse(&good[..end]).is_err(), "{end}");
        }
        for bad in [
            &[5, 0][..],            // a strange field
            &[2, 1, 1, 1, 1, 0xff], // nonce before ordering
            &[1, 1, 1],             // a BOOLEAN that BER has
            &[2, 2, 0, 1],          // a nonce that isn't minimal
            &[0xa0, 0],             // no name
            &[0xa1, 2, 5, 0],       // no extension
        ] {
            assert_eq!(reason(&info(1, &[1], TIME, bad)), "parse.tst-info", "{bad:x?}");
        }
    }

    #[test]
    fn accuracy_has_three_parts_in_order() {
        let accuracy = |bytes: &[u8]| {
            let rest = element(SEQUENCE, &[bytes]);
            TstInfo::parse(&info(1, &[1], TIME, &rest))
                .map(|info| info.accuracy.unwrap().microseconds())
                .map_err(|error| error.reason())
        };
        assert_eq!(accuracy(&[]), Ok(0));
        assert_eq!(accuracy(&[2, 1, 1]), Ok(1_000_000));
        assert_eq!(accuracy(&[0x80, 1, 1]), Ok(1_000));
        assert_eq!(accuracy(&[0x81, 2, 0, 0x80]), Ok(128));
        assert_eq!(accuracy(&[2, 7, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Ok(u64::MAX));
        assert_eq!(accuracy(&[2, 8, 1, 0, 0, 0, 0, 0, 0, 0]), Ok(u64::MAX));
        for bad in [
            &[0x80, 1, 0][..],
            &[0x80, 2, 3, 0xe8],
            &[0x80, 1, 0xff],
            &[0x80, 2, 0, 1],
            &[0x80, 0],
            &[2, 1, 0xff],
            &[0x81, 1, 1, 0x80, 1, 1],
            &[5, 0],
        ] {
            assert_eq!(accuracy(bad), Err("parse.accuracy"), "{bad:x?}");
        }
    }
}
