//! A time-stamp authority by OpenSSL's own hand: root, issuing CA and signer, made with `openssl` in a
//! temporary folder, and `openssl ts` that answers requests with them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anchorlog_verifier::timestamp::{Certificate, read_certificates};
use tempfile::TempDir;

/// What is stamped.
pub(super) const DATA: &[u8] = b"what somebody had";
/// The policy of requests that name none.
pub(super) const DEFAULT_POLICY: &str = "1.3.6.1.4.1.32473.3161.10";
/// A policy that requests can name.
pub(super) const OTHER_POLICY: &str = "1.3.6.1.4.1.32473.3161.11";

/// How an authority is configured to answer: a section of its configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// The section's name.
    pub(super) name: &'static str,
    /// The accuracy it states, in microseconds.
    pub(super) accuracy: Option<u64>,
    /// The digits behind the second in genTime, at most.
    pub(super) digits: u32,
    /// Whether the signer is named by SHA-1.
    pub(super) ess_v1: bool,
    settings: &'static str,
}

/// Every way to answer. Five of them: coprime to the other dimensions of the matrix, in which they take turns.
pub(super) const MANNERS: [Manner; 5] = [
    Manner {
        name: "plain",
        accuracy: None,
        digits: 0,
        ess_v1: false,
        settings: "ess_cert_id_alg = sha256\n",
    },
    Manner {
        name: "seconds",
        accuracy: Some(60_000_000),
        digits: 0,
        ess_v1: false,
        settings: "accuracy = secs:60\ntsa_name = yes\ness_cert_id_alg = sha256\n",
    },
    Manner {
        name: "millis",
        accuracy: Some(1_500_000),
        digits: 3,
        ess_v1: false,
        settings: "accuracy = secs:1, millisecs:500\nclock_precision_digits = 3\ness_cert_id_alg = sha384\n",
    },
    Manner {
        name: "micros",
        accuracy: Some(1_500_100),
        digits: 6,
        ess_v1: false,
        settings: "accuracy = secs:1, millisecs:500, microsecs:100\nclock_precision_digits = 6\nordering = yes\n\
                   tsa_name = yes\ness_cert_id_chain = yes\ness_cert_id_alg = sha512\n",
    },
    Manner {
        name: "older",
        accuracy: Some(100),
        digits: 0,
        ess_v1: true,
        settings: "accuracy = microsecs:100\nordering = yes\ness_cert_id_alg = sha1\n",
    },
];

/// A request, and whether to name things in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query {
    pub(super) hash: &'static str,
    pub(super) certificates: bool,
    pub(super) nonce: bool,
    pub(super) policy: bool,
}

/// Keys, certificates and configuration in a folder.
pub(super) struct Authority {
    folder: TempDir,
}

impl Authority {
    /// Root, issuing CA and signer, all with keys of this kind (arguments of `openssl genpkey`).
    pub(super) fn new(key: &str) -> Self {
        let authority = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(authority.path().join("openssl.cnf"), configuration()).unwrap();
        fs::write(authority.path().join("data"), DATA).unwrap();
        for name in ["root", "issuing", "signer"] {
            authority.openssl(&format!("genpkey {key} -out {name}.key"));
        }
        let fixed = "-config openssl.cnf -subj /O=OpenSSL/CN";
        authority.openssl(&format!(
            "req {fixed}=root -new -x509 -key root.key -extensions root -days 30 -out root.pem"
        ));
        for (number, issuer, name) in [(2, "root", "issuing"), (3, "issuing", "signer")] {
            authority.openssl(&format!("req {fixed}={name} -new -key {name}.key -out {name}.csr"));
            authority.openssl(&format!(
                "x509 -req -in {name}.csr -CA {issuer}.pem -CAkey {issuer}.key -set_serial {number} \
                 -extfile openssl.cnf -extensions {name} -days 30 -out {name}.pem"
            ));
        }
        authority
    }

    /// The folder: `root.pem`, `issuing.pem`, `signer.pem`, `data`, and the last `tsq` and `tsr`.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Request and response.
    pub(super) fn stamp(&self, manner: Manner, digest: &str, query: Query) -> (Vec<u8>, Vec<u8>) {
        let mut ask = format!("ts -query -config openssl.cnf -data data -{} -out tsq", query.hash);
        for (wanted, option) in [(query.certificates, " -cert"), (!query.nonce, " -no_nonce")] {
            ask.push_str(if wanted { option } else { "" });
        }
        if query.policy {
            ask.push_str(" -tspolicy ");
            ask.push_str(OTHER_POLICY);
        }
        self.openssl(&ask);
        self.openssl(&format!(
            "ts -reply -config openssl.cnf -section {} -queryfile tsq -{digest} -out tsr",
            manner.name
        ));
        let read = |name: &str| fs::read(self.path().join(name)).unwrap();
        (read("tsq"), read("tsr"))
    }

    /// The certificate of one of the three.
    pub(super) fn certificate(&self, name: &str) -> Certificate {
        let bytes = fs::read(self.path().join(format!("{name}.pem"))).unwrap();
        read_certificates(&bytes).unwrap().remove(0)
    }

    fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        let ran = command.current_dir(self.path()).args(arguments.split_whitespace()).output();
        let ran = ran.unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "openssl {arguments}: {said}");
    }
}

/// Whether there is an OpenSSL. `ANCHORLOG_REQUIRE_PEERS=1` forbids to go on without.
pub(super) fn openssl_is_there() -> bool {
    let there = Command::new("openssl").arg("version").output().is_ok_and(|o| o.status.success());
    let required = std::env::var_os("ANCHORLOG_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(there || !required, "ANCHORLOG_REQUIRE_PEERS=1, but there is no openssl");
    if !there {
        println!("skipped: there is no openssl");
    }
    there
}

fn configuration() -> String {
    let mut text = format!("default = {DEFAULT_POLICY}\nother = {OTHER_POLICY}\n{CERTIFICATES}");
    for manner in MANNERS {
        let _ = write!(text, "\n[{}]\n{AUTHORITY}{}", manner.name, manner.settings);
    }
    text
}

const CERTIFICATES: &str = "
[req]
distinguished_name = name
[name]
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[issuing]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[signer]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
";

const AUTHORITY: &str = "\
serial = serial
signer_cert = signer.pem
signer_key = signer.key
certs = issuing.pem
default_policy = $default
other_policies = $other
digests = sha256, sha384, sha512
";
