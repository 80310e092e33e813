//! `AUD.*`: what audits of a log show. All are notes: an audit is somebody's word beside the evidence, and
//! changes no status.

super::gad_family! {
    ATTESTATION_LEFT_OUT: "AUD.ATTESTATION_LEFT_OUT", Note, [Note],
        "The log holds an attestation that the envelope doesn't",
        "An attestation about this plan was registered in the log, and no item of the envelope has \
         its digest. It may be an adverse one that was dropped.",
        "Ask whoever gave you the envelope for the attestation with this digest, and for a reason.",
        "Anchorlog audits; GAD 1.3, section 2";
    AUDITOR: "AUD.AUDITOR", Note, [Note], "The audit is signed by nobody you accept",
        "The signature is of no accepted auditor, or it does not verify. Nothing the audit says \
         is looked at.",
        "If you trust who made it, give that key with --auditor; get it from the auditor.",
        "Anchorlog audits";
    COMMITMENT_CONFLICT: "AUD.COMMITMENT_CONFLICT", Note, [Note],
        "A commitment to another plan in the plan's trail",
        "The trail of a plan holds a commitment to something else than the plan. Either somebody \
         else wrote into the trail, or another plan was committed to first.",
        "See who submitted the entries, and which of them came first.",
        "Anchorlog audits; GAD 1.3, section 9";
    ENTRY_DIFFERS: "AUD.ENTRY_DIFFERS", Note, [Note],
        "The audit doesn't list an anchor's entry",
        "An anchor proves an entry at an index that the auditor read, about what the audit is \
         about, and the list has another entry there, or none. The log showed the two of them \
         different trees, or the audit leaves something out.",
        "Compare both checkpoints with `anchor compare`; have the audit made anew.",
        "Anchorlog audits";
    FORM: "AUD.FORM", Note, [Note], "The audit can't be read",
        "It is no audit in canonical form, its checkpoint isn't signed by the log key it names, \
         or its parts contradict each other. Nothing it says is looked at.",
        "Get the audit again from whoever made it.",
        "Anchorlog audits";
    HEAD_SUPERSEDED: "AUD.HEAD_SUPERSEDED", Note, [Note], "A head with a later one in its trail",
        "Later heads of a trail say that its record went on. A record that ends with an earlier \
         one is not all there is.",
        "Nothing, if you have the record up to the later head; otherwise ask for it.",
        "Anchorlog audits; GAD 1.3, section 9";
    INCOMPLETE: "AUD.INCOMPLETE", Note, [Note], "The audit doesn't list everything",
        "The log was read from a later position than its beginning, or the list was too long. \
         What isn't listed may be there all the same.",
        "Have the log read from its beginning, or about less.",
        "Anchorlog audits";
    LATER_HEAD: "AUD.LATER_HEAD", Note, [Note], "The log holds a head that the record doesn't have",
        "A head in the plan's trail is none of the chain in this record. The record was cut off \
         before it, or it is another history of the same plan.",
        "Ask for the record up to that head; a bundle by itself can't show that it is missing.",
        "Anchorlog audits; GAD 1.3, sections 1 and 9";
    LOG_UNKNOWN: "AUD.LOG_UNKNOWN", Note, [Note],
        "The policy doesn't know the audited log by this key",
        "The audit is of a log, or under a key, that the policy doesn't name. That the key is the \
         log's is the auditor's word alone.",
        "If you trust the log, add its key to the policy; else weigh the audit accordingly.",
        "Anchorlog audits; C2SP tlog-policy";
    NOT_COVERED: "AUD.NOT_COVERED", Note, [Note], "The audit ends before an anchor's entry",
        "The anchor's entry lies outside of what the auditor read, so the audit says nothing \
         about what came with it or after it.",
        "Have the log read up to a checkpoint that holds every anchor.",
        "Anchorlog audits";
    NO_CORE_ROOT: "AUD.NO_CORE_ROOT", Note, [Note], "A commitment to a plan, and no root",
        "A plan was committed to, and no core_root stands in its trail. The run still goes on, \
         was given up, or its result was never registered.",
        "Ask the operator what became of the run.",
        "Anchorlog audits; GAD 1.3, Algorithm 1";
    SECOND_CORE_ROOT: "AUD.SECOND_CORE_ROOT", Note, [Note],
        "The log holds another root for this plan",
        "A core_root in the plan's trail differs from the record's, or two of them differ. One \
         plan was run or exported more than once, and somebody chose which record to show.",
        "Ask for the records of all roots, and compare them.",
        "Anchorlog audits; GAD 1.3, section 2";
    SEQUENCE_CONFLICT: "AUD.SEQUENCE_CONFLICT", Note, [Note],
        "Two digests at one position of a trail",
        "Two entries of a trail have the same sequence and different digests. At one position of \
         one history there is one value.",
        "See who submitted the entries; keep both receipts.",
        "Anchorlog audits; Anchorlog statements";
    SUBJECT: "AUD.SUBJECT", Note, [Note], "The audit is not about this plan",
        "Its list is about another plan, another trail or a submitter, so what it leaves out says \
         nothing about this record.",
        "Have the log audited for this plan: anchor audit --plan.",
        "Anchorlog audits";
}
