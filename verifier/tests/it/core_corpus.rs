//! The evaluation corpus of Core 0.2.0-draft, every row, and what the corpus leaves out of it: who contributed.

use std::fs;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::AuditRecord;
use anchorlog_proto::jp::canon::{canon, literal};
use anchorlog_proto::jp::core_pack::{Pack, PackLimits};
use anchorlog_proto::jp::json::{Bounds, Value, read};
use anchorlog_verifier::jp::core::{Availability, Limits, evaluate, evaluate_admitted};

use crate::corpus::corpus_folder;

/// The contributors of each row, read off the packs by hand.
const CREDITS: [(&str, &str); 20] = [
    ("not-applicable-request-type", "no outcome"),
    ("applicability-unknown", "no outcome"),
    ("decline-hard-appropriateness-failure", "rule decline-hard-appropriateness-failure"),
    ("clarify-incomplete", "rule clarify-incomplete-or-not-evaluable"),
    ("clarify-appropriateness-pending", "rule clarify-incomplete-or-not-evaluable"),
    ("proceed-complete-and-appropriate", "rule proceed-complete-and-appropriate"),
    ("required-evidence-unknown", "no outcome"),
    ("required-evidence-absent", "no outcome"),
    ("forced-outcome-embargo", "forcing-exception embargoed-information-to-unauthorized"),
    ("conflict-decline-and-clarify", "no outcome"),
    ("omitted-evidence-document", "no outcome"),
    ("inert-unreferenced-decimal-fact", "rule proceed-complete-and-appropriate"),
    ("exception-fact-missing", "no outcome"),
    ("handoff-trigger-subset", "no outcome"),
    ("retained-reason-without-a-trigger", "no outcome"),
    ("no-match-without-a-fallback", "no outcome"),
    ("direct-exception-escalation-without-configuration", "no outcome"),
    ("ordered-comparison-below-threshold", "rule reduced-fee-below-threshold"),
    ("ordered-comparison-ignores-decimal-scale", "rule standard-fee-at-or-above-threshold"),
    ("ordered-comparison-refuses-a-json-number", "no outcome"),
];

#[test]
fn every_row_of_the_evaluation_corpus_agrees() {
    let Some(folder) = corpus_folder("judgment-pack") else { return };
    let folder = folder.join("core");
    let manifest = fs::read(folder.join("evaluation-manifest.json")).unwrap();
    let manifest = read(&manifest, &Bounds::FOREIGN).unwrap();
    assert_eq!(text(&manifest, "suiteVersion"), "0.2.0-draft");
    let cases = manifest.get("cases").unwrap().as_array().unwrap();
    assert_eq!(cases.len(), CREDITS.len());
    for (case, (id, credit)) in cases.iter().zip(CREDITS) {
        assert_eq!(text(case, "id"), id);
        let pack = text(case, "pack").replace("packs/", "pack.");
        let pack = fs::read(folder.join(pack)).unwrap();
        let facts = literal(case.get("facts").unwrap());
        let evidence = case.get("evidenceAvailability").map(literal);
        assert!(case.get("supportedExtensions").unwrap().as_array().unwrap().is_empty());
        let evaluation =
            evaluate(&pack, &facts, evidence.as_deref(), &[], &Limits::DEFAULT).unwrap();
        let expected = canon(case.get("expectedDisposition").unwrap()).unwrap();
        let got = evaluation.disposition.to_canonical();
        assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&expected), "{id}");
        assert_eq!(evaluation.credit.to_string(), credit, "{id}");
    }
}

#[test]
fn every_pack_of_the_corpus_is_read() {
    let Some(folder) = corpus_folder("judgment-pack") else { return };
    let mut seen = 0;
    for entry in fs::read_dir(folder.join("core")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("pack.") || name.starts_with("valid.") {
            let pack = Pack::read(&fs::read(&path).unwrap(), &PackLimits::DEFAULT);
            assert!(pack.is_ok(), "{name}: {}", pack.unwrap_err());
            seen += 1;
        }
    }
    assert_eq!(seen, 7);
}

#[test]
fn recorded_runs_evaluate_the_same_again() {
    let Some(folder) = corpus_folder("judgment-pack") else { return };
    let folder = folder.join("runner");
    let pack = fs::read(folder.join("pack.data-request-intake-triage.editionAB.json")).unwrap();
    let digest = Digest::of(&pack);
    let pack = Pack::read(&pack, &PackLimits::DEFAULT).unwrap();
    let mut replayed = 0;
    for name in ["no-mapping-run", "v1-file-mapping-run", "mapping-v2-before-run-chain"] {
        let line = fs::read(folder.join(format!("{name}.audit-record.jsonl"))).unwrap();
        let record = AuditRecord::read(&line).unwrap();
        if record.pack != digest {
            continue;
        }
        let evidence = record.evidence.as_ref().map(|value| Availability::read(value, &pack));
        let evidence = evidence.map_or_else(Availability::default, Result::unwrap);
        let again = evaluate_admitted(&pack, &record.facts, &evidence, &[], &Limits::DEFAULT);
        assert_eq!(again.unwrap().disposition, record.disposition, "{name}");
        replayed += 1;
    }
    assert!(replayed >= 1);
}

fn text<'v>(value: &'v Value<'_>, name: &str) -> &'v str {
    value.get(name).unwrap().as_str().unwrap()
}
