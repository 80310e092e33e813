//! Name constraints of a path (RFC 5280 sections 4.2.1.10 and 6.1.3 (b) and (c)).
//!
//! Directory names, DNS names, mailboxes, URIs and IP addresses are compared. A constraint on
//! another form, or on a name that can't be compared (a wildcard, a URI without a host), refuses a
//! certificate that has a name of that form; it doesn't touch others.

use super::super::certificate::{Certificate, subtrees};
use super::super::name::GeneralName;
use super::PathFault;

/// Comparisons of one path.
const MAX_COMPARISONS: usize = 1 << 16;

/// Whether every name of a path is within the constraints above it: the anchor first, the signer
/// last.
///
/// The anchor's own constraints count, if its certificate states some. Names of self-issued
/// certificates above the signer don't.
pub(super) fn names_hold<'a>(
    certificates: &[&'a Certificate],
) -> Result<(), (PathFault, &'a Certificate)> {
    let mut above: Vec<[Vec<GeneralName<'_>>; 2]> = Vec::new();
    let mut left = MAX_COMPARISONS;
    for (position, certificate) in (1..).zip(certificates) {
        let signer = position == certificates.len();
        let is_anchor = position == 1;
        if !above.is_empty() && !is_anchor && (signer || !certificate.is_self_issued()) {
            let names = names(certificate);
            let bases: usize = above.iter().flatten().map(Vec::len).sum();
            left = left
                .checked_sub(names.len().saturating_mul(bases))
                .ok_or((PathFault::Limit, *certificate))?;
            if !names.iter().all(|name| above.iter().all(|bases| is_allowed(name, bases))) {
                return Err((PathFault::NameConstraints, certificate));
            }
        }
        above.extend(certificate.name_constraints().and_then(|element| subtrees(&element)));
    }
    Ok(())
}

/// Every name of a certificate: its subject, unless that is empty; the mailboxes in it, which older
/// certificates have there (section 4.2.1.10); its alternative names.
fn names(certificate: &Certificate) -> Vec<GeneralName<'_>> {
    let subject = Some(certificate.subject()).filter(|subject| !subject.is_empty());
    let subject = subject.map(GeneralName::Directory);
    let mailboxes = certificate.mailboxes();
    subject.into_iter().chain(mailboxes).chain(certificate.alternative_names()).collect()
}

fn is_allowed(name: &GeneralName<'_>, [permitted, excluded]: &[Vec<GeneralName<'_>>; 2]) -> bool {
    let of_form = |bases: &[GeneralName<'_>], within: Within| -> Option<Vec<bool>> {
        let bases = bases.iter().filter(|base| base.form() == name.form());
        bases.map(|base| within(name, base)).collect()
    };
    match (of_form(permitted, is_within), of_form(excluded, may_be_within)) {
        (Some(permitted), Some(excluded)) => {
            (permitted.is_empty() || permitted.contains(&true)) && !excluded.contains(&true)
        }
        _ => false,
    }
}

/// Whether a name is in a subtree of its form. `None` if that can't be told.
type Within = fn(&GeneralName<'_>, &GeneralName<'_>) -> Option<bool>;

/// As [`is_within`], but of directory names it is asked whether some reader would find them there: a name
/// leaves an excluded subtree only if it is another one to everybody.
fn may_be_within(name: &GeneralName<'_>, base: &GeneralName<'_>) -> Option<bool> {
    match (name, base) {
        (GeneralName::Directory(name), GeneralName::Directory(base)) => {
            Some(name.may_be_within(base))
        }
        _ => is_within(name, base),
    }
}

/// The strict comparison: what is the same is so to everybody.
fn is_within(name: &GeneralName<'_>, base: &GeneralName<'_>) -> Option<bool> {
    match (name, base) {
        (GeneralName::Directory(name), GeneralName::Directory(base)) => name.is_within(base),
        (GeneralName::Dns(name), GeneralName::Dns(base)) => {
            let (name, base) = (host(name)?, base.strip_suffix('.').unwrap_or(base));
            Some(base.is_empty() || is_subdomain(name, base) || name.eq_ignore_ascii_case(base))
        }
        (GeneralName::Mail(name), GeneralName::Mail(base)) => mail_is_within(name, base),
        (GeneralName::Uri(name), GeneralName::Uri(base)) => {
            let host = uri_host(name)?;
            Some(host_is_within(host, base))
        }
        (GeneralName::Ip(name), GeneralName::Ip(base)) => ip_is_within(name, base),
        _ => None,
    }
}

/// A host name without its final dot. `None` for what isn't one, or stands for several.
fn host(name: &str) -> Option<&str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"-_".contains(&octet))
    };
    name.split('.').all(label).then_some(name)
}

/// Whether `name` is at least one label longer than `base`, which may begin with its dot.
fn is_subdomain(name: &str, base: &str) -> bool {
    let base = base.strip_prefix('.').unwrap_or(base);
    let Some((front, end)) =
        name.len().checked_sub(base.len()).and_then(|length| name.split_at_checked(length))
    else {
        return false;
    };
    end.eq_ignore_ascii_case(base) && front.len() > 1 && front.ends_with('.')
}

/// The host itself, or with a leading dot everything beneath it.
fn host_is_within(host: &str, base: &str) -> bool {
    if base.starts_with('.') { is_subdomain(host, base) } else { host.eq_ignore_ascii_case(base) }
}

fn mail_is_within(name: &str, base: &str) -> Option<bool> {
    let (mailbox, domain) = name.rsplit_once('@')?;
    let domain = host(domain)?;
    Some(match base.rsplit_once('@') {
        Some((base_box, base_host)) => {
            mailbox == base_box && domain.eq_ignore_ascii_case(base_host)
        }
        None => host_is_within(domain, base),
    })
}

/// The host of a URI; `None` if it has none, or an address in its place.
fn uri_host(uri: &str) -> Option<&str> {
    let (_, rest) = uri.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, behind)| behind);
    let name = authority.split_once(':').map_or(authority, |(name, _)| name);
    let last_is_number = |name: &str| {
        name.rsplit('.').next().is_some_and(|label| label.bytes().all(|c| c.is_ascii_digit()))
    };
    host(name).filter(|name| !last_is_number(name))
}

/// Address and mask, of one length each (section 4.2.1.10, last paragraph).
fn ip_is_within(address: &[u8], base: &[u8]) -> Option<bool> {
    if ![4, 16].contains(&address.len()) || ![8, 32].contains(&base.len()) {
        return None;
    }
    let (network, mask) = base.split_at_checked(base.len() / 2)?;
    let same = |((address, network), mask): ((&u8, &u8), &u8)| address & mask == network & mask;
    Some(address.len() == network.len() && address.iter().zip(network).zip(mask).all(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_of_every_form() {
        use GeneralName::{Dns, Ip, Mail, Uri};
        for (name, base, expected) in [
            (Dns("a.example"), Dns("example"), Some(true)),
            (Dns("A.Example."), Dns("a.example"), Some(true)),
            (Dns("a.example"), Dns(".example"), Some(true)),
            (Dns("example"), Dns(".example"), Some(false)),
            (Dns("badexample"), Dns("example"), Some(false)),
            (Dns("a.example"), Dns(""), Some(true)),
            (Dns("example"), Dns("a.example"), Some(false)),
            (Dns("*.example"), Dns("example"), None),
            (Dns("a..example"), Dns("example"), None),
            (Mail("a@b.example"), Mail("a@B.example"), Some(true)),
            (Mail("A@b.example"), Mail("a@b.example"), Some(false)),
            (Mail("a@b.example"), Mail("b.example"), Some(true)),
            (Mail("a@c.b.example"), Mail("b.example"), Some(false)),
            (Mail("a@c.b.example"), Mail(".b.example"), Some(true)),
            (Mail("a@b.example"), Mail(".b.example"), Some(false)),
            (Mail("example"), Mail("example"), None),
            (Uri("https://u@A.example:8/x?@evil"), Uri("a.example"), Some(true)),
            (Uri("https://b.a.example"), Uri("a.example"), Some(false)),
            (Uri("https://b.a.example/"), Uri(".a.example"), Some(true)),
            (Uri("https://192.0.2.1/"), Uri("a.example"), None),
            (Uri("https://[2001:db8::1]/"), Uri("a.example"), None),
            (Uri("urn:a"), Uri("a"), None),
            (Ip(&[192, 0, 2, 7]), Ip(&[192, 0, 2, 0, 255, 255, 255, 0]), Some(true)),
            (Ip(&[192, 0, 3, 7]), Ip(&[192, 0, 2, 0, 255, 255, 255, 0]), Some(false)),
            (Ip(&[0; 16]), Ip(&[0; 8]), Some(false)),
            (Ip(&[0; 16]), Ip(&[0; 32]), Some(true)),
            (Ip(&[0; 4]), Ip(&[0; 7]), None),
            (Dns("a"), Uri("a"), None),
        ] {
            assert_eq!(is_within(&name, &base), expected, "{name:?} {base:?}");
        }
    }

    #[test]
    fn a_permitted_form_excludes_what_isnt_permitted() {
        use GeneralName::{Dns, Mail};
        let only = |permitted: &[&'static str], excluded: &[&'static str]| {
            [permitted, excluded]
                .map(|bases| bases.iter().map(|base| Dns(base)).collect::<Vec<_>>())
        };
        assert!(is_allowed(&Dns("a.example"), &only(&["b.example", "example"], &[])));
        assert!(!is_allowed(&Dns("a.test"), &only(&["b.example", "example"], &[])));
        assert!(!is_allowed(&Dns("a.example"), &only(&["example"], &["a.example"])));
        assert!(is_allowed(&Mail("a@b.test"), &only(&["example"], &[])));
        // What can't be compared is refused by a constraint of its form, whichever kind.
        assert!(!is_allowed(&Dns("*.test"), &only(&[], &["example"])));
        assert!(is_allowed(&Dns("*.test"), &only(&[], &[])));
    }
}
