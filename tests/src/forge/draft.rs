//! A sound token that a case is about to spoil, and the list that collects the results.

use super::case::{Asked, Case, Expected, Form, Given, Revocation, TrustSpec};
use super::certificate::{Identity, Template};
use super::keys::Hash;
use super::raw::unsigned;
use super::token::{Response, Token};
use super::world::{GEN_TIME, GEN_TIME_TEXT, MESSAGE, NONCE, OPERATOR, World};

/// A case in the making: everything is sound until it is changed.
#[derive(Debug)]
pub struct Draft<'w> {
    /// Whom there is.
    pub world: &'w World,
    /// The token.
    pub token: Token,
    /// The response around it.
    pub response: Response,
    /// Whether the bytes are a response or the bare token.
    pub form: Form,
    /// A change to the finished token.
    pub rewrite_token: fn(Vec<u8>) -> Vec<u8>,
    /// A change to the finished bytes.
    pub rewrite: fn(Vec<u8>) -> Vec<u8>,
    /// The bytes, in place of all of the above.
    pub bytes: Option<Vec<u8>>,
    /// What the verifier is told.
    pub given: Given,
    /// The CA in the bag.
    pub intermediate: Identity,
    /// The root that is trusted.
    pub root: Identity,
    /// By which operator's entry the token holds, if it does.
    pub operator: &'static str,
    /// The genTime to report.
    pub gen_time: &'static str,
}

impl<'w> Draft<'w> {
    /// A granted response with a token of the P-256 TSA, asked for with nonce and certificates.
    #[must_use]
    pub fn new(world: &'w World) -> Self {
        let digest = Hash::Sha256.digest(MESSAGE);
        let mut draft = Self {
            world,
            token: Token::new(&world.tsa, &digest),
            response: Response::default(),
            form: Form::Response,
            rewrite_token: |token| token,
            rewrite: |bytes| bytes,
            bytes: None,
            given: Given {
                digest,
                digest_algorithm: Hash::Sha256.name(),
                request: Some(Asked { nonce: Some(NONCE.to_vec()), policy: None, cert_req: true }),
                trust: vec![entry(OPERATOR, &world.root)],
                other_roots: Vec::new(),
                certificates: Vec::new(),
                crls: Vec::new(),
                ocsp: Vec::new(),
                revocation: Revocation::None,
                at: GEN_TIME + 60,
                skew_s: 60,
                allow: Vec::new(),
            },
            intermediate: world.intermediate.clone(),
            root: world.root.clone(),
            operator: OPERATOR,
            gen_time: GEN_TIME_TEXT,
        };
        draft.fill_bag();
        draft
    }

    /// Lets another TSA sign, the way its key does it.
    pub fn signer(&mut self, signer: &Identity) {
        let fresh = Token::new(signer, &self.given.digest);
        self.token.scheme = fresh.scheme;
        self.token.digest = fresh.digest;
        self.token.signer = fresh.signer;
        self.fill_bag();
    }

    /// Issues the signer's certificate again with a change.
    pub fn leaf(&mut self, change: impl FnOnce(&mut Template)) {
        self.token.signer = self.token.signer.again(&self.intermediate, change);
        self.fill_bag();
    }

    /// Issues the intermediate's certificate again with a change. What it issued itself stays as it is.
    pub fn intermediate(&mut self, change: impl FnOnce(&mut Template)) {
        self.intermediate = self.intermediate.again(&self.root, change);
        self.fill_bag();
    }

    /// Issues the root's certificate again with a change and trusts that one instead.
    pub fn root(&mut self, change: impl FnOnce(&mut Template)) {
        self.root = self.root.again(&self.root, change);
        self.given.trust = vec![entry(OPERATOR, &self.root)];
    }

    /// Stamps another digest of the message.
    pub fn imprint(&mut self, hash: Hash) {
        self.given.digest = hash.digest(MESSAGE);
        self.given.digest_algorithm = hash.name();
        self.token.info.imprint = super::token::imprint(&hash.identifier(), &self.given.digest);
    }

    /// Sets the nonce, in request and token.
    pub fn nonce(&mut self, magnitude: &[u8]) {
        self.asked().nonce = Some(magnitude.to_vec());
        self.token.info.nonce = unsigned(magnitude);
    }

    /// Sets genTime to a text that is sound.
    pub fn time(&mut self, text: &'static str) {
        self.token.info.time(text);
        self.gen_time = text;
    }

    /// The request.
    pub fn asked(&mut self) -> &mut Asked {
        self.given.request.get_or_insert_default()
    }

    /// The one trust entry.
    ///
    /// # Panics
    /// When the entries were taken away.
    #[allow(clippy::expect_used, reason = "the forge knows its own drafts")]
    pub fn trust(&mut self) -> &mut TrustSpec {
        self.given.trust.first_mut().expect("a trust entry")
    }

    /// The bag of certificates.
    pub fn bag(&mut self) -> &mut Vec<Vec<u8>> {
        self.token.certificates.get_or_insert_default()
    }

    /// Puts signer and intermediate, and nothing else, into the bag.
    pub fn fill_bag(&mut self) {
        self.token.certificates = Some(vec![
            self.token.signer.certificate.clone(),
            self.intermediate.certificate.clone(),
        ]);
    }

    /// The bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        if let Some(bytes) = &self.bytes {
            return bytes.clone();
        }
        let token = (self.rewrite_token)(self.token.to_der());
        (self.rewrite)(match self.form {
            Form::Response => self.response.to_der(&token),
            Form::Token => token,
        })
    }
}

/// A trust entry with one root, no window and any policy.
#[must_use]
pub fn entry(operator: &'static str, root: &Identity) -> TrustSpec {
    TrustSpec { operator, roots: vec![root.certificate.clone()], ..TrustSpec::default() }
}

/// The list of cases.
#[derive(Debug)]
pub struct List<'w> {
    world: &'w World,
    cases: Vec<Case>,
}

impl<'w> List<'w> {
    /// An empty list.
    #[must_use]
    pub const fn new(world: &'w World) -> Self {
        Self { world, cases: Vec::new() }
    }

    /// Adds a case that holds.
    pub fn holds(
        &mut self,
        name: &'static str,
        about: &'static str,
        change: impl FnOnce(&mut Draft<'w>),
    ) {
        let mut draft = Draft::new(self.world);
        change(&mut draft);
        let expected = Expected::Holds {
            operator: draft.operator,
            signer: draft.token.signer.certificate.clone(),
            gen_time: draft.gen_time,
        };
        self.push(name, about, &draft, expected);
    }

    /// Adds a case that fails for this reason.
    pub fn fails(
        &mut self,
        name: &'static str,
        reason: &'static str,
        about: &'static str,
        change: impl FnOnce(&mut Draft<'w>),
    ) {
        let mut draft = Draft::new(self.world);
        change(&mut draft);
        self.push(name, about, &draft, Expected::Fails(reason));
    }

    fn push(
        &mut self,
        name: &'static str,
        about: &'static str,
        draft: &Draft<'_>,
        expected: Expected,
    ) {
        self.cases.push(Case {
            name,
            about,
            form: draft.form,
            bytes: draft.to_bytes(),
            given: draft.given.clone(),
            expected,
        });
    }

    /// The cases, in the order they were added.
    #[must_use]
    pub fn into_cases(self) -> Vec<Case> {
        self.cases
    }
}
