//! BER where DER is due: around the signed parts, with and without the switch, and within them.

use crate::forge::case::{Form, Switch};
use crate::forge::draft::{Draft, List};
use crate::forge::raw::{
    contents, context, indefinite, join, long_length, octets, oid, sequence, tlv,
};
use crate::forge::token::{SIGNED_DATA, TST_INFO, Token};

pub(super) fn add(list: &mut List<'_>) {
    sound(list);
    refused(list);
    within(list);
    hostile(list);
}

/// `EncapsulatedContentInfo` with eContent in pieces of so many octets, of indefinite length.
fn pieces(token: &Token, size: usize) -> Vec<u8> {
    let content = token.content();
    let parts = content.chunks(size).map(octets);
    let content = indefinite(0x24, join(parts));
    indefinite(0x30, join([oid(TST_INFO), indefinite(0xa0, content)]))
}

/// The token with indefinite lengths on every level that isn't signed.
fn indefinite_token(token: &Token) -> Vec<u8> {
    let mut token = token.clone();
    token.encapsulated = Some(pieces(&token, 50));
    let mut parts = token.signed_data_parts();
    if let Some(bag) = parts.get_mut(3) {
        *bag = indefinite(0xa0, join(token.certificates.clone().unwrap_or_default()));
    }
    let data = indefinite(0x30, join(parts));
    indefinite(0x30, join([oid(SIGNED_DATA), indefinite(0xa0, data)]))
}

/// The token with lengths of four octets outside.
fn long_token(token: &Token) -> Vec<u8> {
    let data = long_length(0x30, 4, join(token.signed_data_parts()));
    long_length(0x30, 4, join([oid(SIGNED_DATA), long_length(0xa0, 4, data)]))
}

fn token(draft: &mut Draft<'_>, bytes: Vec<u8>, allowed: bool) {
    draft.form = Form::Token;
    draft.bytes = Some(bytes);
    if allowed {
        draft.given.allow.push(Switch::Ber);
    }
}

fn sound(list: &mut List<'_>) {
    list.holds(
        "ber-indefinite-allowed",
        "indefinite lengths around the signed parts, with the switch",
        |d| {
            let bytes = indefinite_token(&d.token);
            token(d, bytes, true);
        },
    );
    list.holds(
        "ber-long-lengths-allowed",
        "lengths longer than needed outside, with the switch",
        |d| {
            let bytes = long_token(&d.token);
            token(d, bytes, true);
        },
    );
    list.holds(
        "ber-content-in-pieces-allowed",
        "eContent in pieces of one octet, with the switch",
        |d| {
            d.token.encapsulated = Some(pieces(&d.token, 1));
            d.given.allow.push(Switch::Ber);
            d.form = Form::Token;
        },
    );
    list.holds(
        "ber-response-allowed",
        "a response around a token of indefinite lengths, with the switch",
        |d| {
            let bytes = indefinite_token(&d.token);
            d.bytes = Some(d.response.to_der(&bytes));
            d.given.allow.push(Switch::Ber);
        },
    );
    list.holds("der-with-switch", "DER, with the switch for BER", |d| {
        d.given.allow.push(Switch::Ber);
    });
}

fn refused(list: &mut List<'_>) {
    let reason = "parse.ber";
    list.fails("ber-indefinite", reason, "indefinite lengths, without the switch", |d| {
        let bytes = indefinite_token(&d.token);
        token(d, bytes, false);
    });
    list.fails("ber-long-lengths", reason, "lengths longer than needed, without the switch", |d| {
        let bytes = long_token(&d.token);
        token(d, bytes, false);
    });
    list.fails("ber-content-in-pieces", reason, "eContent in pieces, without the switch", |d| {
        let content = d.token.content();
        let whole = tlv(0x24, join(content.chunks(50).map(octets)));
        d.token.encapsulated = Some(sequence([oid(TST_INFO), context(0, whole)]));
    });
    list.fails(
        "ber-response",
        reason,
        "the response itself has a length longer than needed",
        |d| {
            let parts = d.response.to_der(&d.token.to_der());
            d.bytes = Some(long_length(0x30, 4, contents(&parts)));
        },
    );
}

fn within(list: &mut List<'_>) {
    let reason = "parse.tst-info";
    list.fails(
        "ber-in-info",
        reason,
        "TSTInfo has a length longer than needed: signed, so DER always",
        |d| {
            let info = d.token.info.to_der();
            d.token.content = Some(long_length(0x30, 2, contents(&info)));
            d.given.allow.push(Switch::Ber);
        },
    );
    list.fails("ber-in-info-indefinite", reason, "TSTInfo has an indefinite length", |d| {
        let info = d.token.info.to_der();
        d.token.content = Some(indefinite(0x30, contents(&info)));
        d.given.allow.push(Switch::Ber);
    });
}

fn hostile(list: &mut List<'_>) {
    list.fails(
        "ber-deeply-nested",
        "parse.der",
        "5000 nested indefinite SEQUENCEs, with the switch",
        |d| {
            let bytes = join([[0x30, 0x80].repeat(5000), [0, 0].repeat(5000)]);
            token(d, bytes, true);
        },
    );
    list.fails(
        "ber-never-ends",
        "parse.der",
        "20000 indefinite lengths that nothing ends, with the switch",
        |d| {
            token(d, [0x30, 0x80].repeat(20_000), true);
        },
    );
    list.fails(
        "ber-pieces-deeply-nested",
        "parse.der",
        "eContent in pieces within pieces, 1000 deep",
        |d| {
            let content = octets(d.token.content());
            let nested = (0..1000).fold(content, |inner, _| tlv(0x24, inner));
            d.token.encapsulated = Some(sequence([oid(TST_INFO), context(0, nested)]));
            d.form = Form::Token;
            d.given.allow.push(Switch::Ber);
        },
    );
}
