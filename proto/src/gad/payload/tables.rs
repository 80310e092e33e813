//! The tables of section 5 of the formats, for tests: a whole payload per type, and for each of its members
//! what becomes of it when it is absent, of another JSON type, or of a wrong value.

use super::super::entry::EntryType;

/// One member: its path, the codes when absent and when of another JSON type, and wrong values with
/// theirs.
pub(in crate::gad) type Row =
    (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

/// One type: `@D` and `@K` stand for a digest and a key id.
pub(in crate::gad) struct Table {
    pub(in crate::gad) entry_type: EntryType,
    pub(in crate::gad) sample: &'static str,
    pub(in crate::gad) rows: &'static [Row],
}

const M: &str = "J.MISSING_FIELD";
const T: &str = "J.TYPE";
const E: &str = "J.ENUM";
const D: &str = "J.DIGEST_FORM";
/// Read without a defect, as something else: a rule refuses it.
pub(super) const RULE: &str = "rule";

const ID: &[(&str, &str)] = &[(r#""""#, E), (r#""-a""#, E), (r#""a b""#, E), ("null", T)];
const SEQ: &[(&str, &str)] = &[("-1", E), ("null", T)];
const SET: &[(&str, &str)] = &[("[2,1]", E), ("[1,1]", E), ("[-1]", E), (r#"["1"]"#, T)];
const SOME: &[(&str, &str)] = &[("[]", E), ("[2,1]", E), ("[null]", T)];
const DIGEST: &[(&str, &str)] = &[(r#""""#, D), (r#""sha256:00""#, D), (r#""@K""#, D), ("null", T)];
const KEY: &[(&str, &str)] = &[(r#""""#, D), (r#""@D""#, D)];
const DIGEST_OR_NULL: &[(&str, &str)] = &[(r#""SHA256:""#, D)];
const WORD: &[(&str, &str)] = &[(r#""""#, E), (r#""Pass""#, E), ("null", T)];
const UNJUDGED: &[(&str, &str)] = &[(r#""""#, RULE), ("null", RULE), ("[]", RULE)];
const EXIT_CODE: &[(&str, &str)] = &[("256", E), ("-256", E), (r#""0""#, T)];
const NODE_OR_NULL: &[(&str, &str)] = &[(r#""""#, RULE), ("true", RULE)];

pub(in crate::gad) const TABLES: &[Table] = &[
    Table {
        entry_type: EntryType::Freeze,
        sample: r#"{"hash":"@D","plan":{"any":[1]}}"#,
        rows: &[
            ("hash", RULE, RULE, &[(r#""@K""#, RULE), ("null", RULE)]),
            ("plan", RULE, RULE, &[("[]", RULE), ("{}", RULE)]),
        ],
    },
    Table {
        entry_type: EntryType::Dispatch,
        sample: r#"{"executor_identity":{"model":"m","provider":"p","version":"1"},"input":[
            {"desc":"","node":"n1","prior_failure":[3,4]},{"desc":"d","node":"n0","prior_failure":null}],
            "instruction_digest":"@D","instruction_ref":"artifacts/a","nodes":["n1","n0"],
            "precommit_digest":"@D","session_id":"s1","workspace_baseline_digest":"@D"}"#,
        rows: &[
            ("executor_identity", M, T, &[("[]", T)]),
            ("executor_identity/model", M, T, &[(r#""""#, E)]),
            ("executor_identity/provider", M, T, &[(r#""""#, E)]),
            ("executor_identity/version", M, T, &[(r#""""#, E), ("1", T)]),
            ("input", M, T, &[("[]", E), ("[1]", T)]),
            ("input/0/desc", M, T, &[("null", T)]),
            ("input/0/node", M, T, &[(r#""""#, E)]),
            ("input/0/prior_failure", M, T, SET),
            ("instruction_digest", M, T, DIGEST),
            ("instruction_ref", M, T, &[(r#""a/../b""#, E), (r#""""#, E), ("null", T)]),
            (
                "nodes",
                RULE,
                RULE,
                &[
                    ("[]", RULE),
                    (r#"["n1","n1"]"#, RULE),
                    (r#"["n1","n 0"]"#, RULE),
                    (r#""n1""#, RULE),
                ],
            ),
            ("precommit_digest", RULE, T, DIGEST),
            ("session_id", M, T, ID),
            ("workspace_baseline_digest", RULE, T, DIGEST),
        ],
    },
    Table {
        entry_type: EntryType::ExecutorExit,
        sample: r#"{"available_output_digest":"@D","available_output_ref":"artifacts/o","exit_code":0,
            "node":"n1","session_id":"s1","status":"completed"}"#,
        rows: &[
            ("available_output_digest", M, T, &[("null", E), (r#""x""#, D)]),
            ("available_output_ref", M, T, &[("null", E), (r#""/x""#, E)]),
            ("exit_code", M, T, EXIT_CODE),
            ("node", RULE, RULE, NODE_OR_NULL),
            ("session_id", M, T, ID),
            ("status", M, T, WORD),
        ],
    },
    Table {
        entry_type: EntryType::ExecutionResult,
        sample: r#"{"delta_digest":"@D","delta_ref":"artifacts/d","node":null,"output_status":"captured",
            "quiescence":{"outcome":"quiesced"},"session_id":"s1",
            "touched_surface":["a","ext:a registry","src/b"]}"#,
        rows: &[
            ("delta_digest", RULE, RULE, &[("null", RULE), (r#""x""#, RULE)]),
            ("delta_ref", RULE, RULE, &[("null", RULE), (r#""../x""#, RULE)]),
            ("node", RULE, RULE, NODE_OR_NULL),
            ("output_status", M, T, WORD),
            ("quiescence", M, T, &[(r#""quiesced""#, T)]),
            ("quiescence/outcome", M, T, WORD),
            ("session_id", M, T, ID),
            (
                "touched_surface",
                RULE,
                RULE,
                &[
                    (r#"["b","a"]"#, RULE),
                    (r#"["a","a"]"#, RULE),
                    (r#"["ext:"]"#, RULE),
                    (r#"["a/"]"#, RULE),
                    ("[1]", RULE),
                    ("null", RULE),
                ],
            ),
        ],
    },
    Table {
        entry_type: EntryType::Claim,
        sample: r#"{"node":"n1","session_id":"s1","text":""}"#,
        rows: &[("node", M, T, ID), ("session_id", M, T, ID), ("text", M, T, &[("null", T)])],
    },
    Table {
        entry_type: EntryType::Flag,
        sample: r#"{"execution_result_seq":3,"node":"n1","paths":["a/b","ext:x"]}"#,
        rows: &[
            ("execution_result_seq", M, T, SEQ),
            ("node", M, T, ID),
            (
                "paths",
                M,
                T,
                &[
                    ("[]", E),
                    (r#"["b","a"]"#, E),
                    (r#"["a","a"]"#, E),
                    (r#"["a//b"]"#, E),
                    (r#"["ext:"]"#, E),
                    ("[1]", T),
                ],
            ),
        ],
    },
    Table {
        entry_type: EntryType::Remediation,
        sample: r#"{"action":"removal","node":"n1"}"#,
        rows: &[
            ("action", RULE, RULE, &[(r#""succession""#, RULE), (r#""x""#, RULE), ("null", RULE)]),
            ("node", M, T, ID),
        ],
    },
    Table {
        entry_type: EntryType::ScopeClosed,
        sample: r#"{"node":"n1","verdict":"pass"}"#,
        rows: &[("node", M, T, ID), ("verdict", M, T, WORD)],
    },
    Table {
        entry_type: EntryType::Verdict,
        sample: r#"{"capture":"engine_capture","engine_identity":"@K","environment_digest":"@D",
            "execution_result_seq":3,"exit_code":-255,"node":"n1","observation_layers":
            ["authenticated_engine_observation","independently_replayable"],"result":"pass",
            "session_id":"s1","signal_artifact_digest":"@D","signal_kind":"worker_authored_proxy",
            "stderr_digest":"@D","stdout_digest":"@D","subject_artifact_digest":"@D","test_id":"t1",
            "test_spec_digest":"@D"}"#,
        rows: &[
            ("capture", RULE, RULE, UNJUDGED),
            ("engine_identity", RULE, RULE, UNJUDGED),
            ("environment_digest", RULE, T, DIGEST),
            ("execution_result_seq", M, T, SEQ),
            ("exit_code", M, T, EXIT_CODE),
            ("node", M, T, ID),
            (
                "observation_layers",
                RULE,
                RULE,
                &[
                    (r#"["independently_replayable","authenticated_engine_observation"]"#, RULE),
                    (r#"["independently_replayable","independently_replayable"]"#, RULE),
                    (r#"["x"]"#, RULE),
                    ("[1]", RULE),
                    ("null", RULE),
                ],
            ),
            ("result", RULE, RULE, UNJUDGED),
            ("session_id", M, T, ID),
            ("signal_artifact_digest", RULE, T, DIGEST),
            ("signal_kind", RULE, RULE, UNJUDGED),
            ("stderr_digest", RULE, T, DIGEST),
            ("stdout_digest", RULE, T, DIGEST),
            ("subject_artifact_digest", RULE, T, DIGEST),
            ("test_id", M, T, ID),
            ("test_spec_digest", RULE, T, DIGEST),
        ],
    },
    Table {
        entry_type: EntryType::Probe,
        sample: r#"{"demonstrated_result":"fail","environment_digest":"@D","exit_code":1000,
            "induced_defect":"x","output_digest":"@D","restoration":"verified",
            "signal_artifact_digest":"@D","spawned":true,"t":"2026-07-20T10:03:30Z"}"#,
        rows: &[
            ("demonstrated_result", M, T, WORD),
            ("environment_digest", M, T, DIGEST),
            ("exit_code", M, T, &[(r#""1""#, T)]),
            ("induced_defect", M, T, &[(r#""""#, E), ("null", T)]),
            ("output_digest", M, T, DIGEST_OR_NULL),
            ("restoration", M, T, WORD),
            ("signal_artifact_digest", M, T, DIGEST),
            ("spawned", M, T, &[("1", T), ("null", T)]),
            ("t", M, T, &[(r#""2026-07-20T10:03:60Z""#, "J.TIME_FORM"), ("0", T)]),
        ],
    },
    Table {
        entry_type: EntryType::GateRequest,
        sample: r#"{"findings":[],"node":"n1"}"#,
        rows: &[("findings", M, T, SET), ("node", M, T, ID)],
    },
    Table {
        entry_type: EntryType::Approval,
        sample: r#"{"decision":"proceed","findings_ref":[1,2],"node":"n1","request_h":"@D","who":"@K"}"#,
        rows: ANSWER,
    },
    Table {
        entry_type: EntryType::Refusal,
        sample: r#"{"decision":"refuse","findings_ref":[],"node":"n1","request_h":"@D","who":"@K"}"#,
        rows: ANSWER,
    },
    Table {
        entry_type: EntryType::RevisedApprovalRequest,
        sample: r#"{"change_ref":9,"findings":[1],"node":"n1"}"#,
        rows: &[("change_ref", M, T, SEQ), ("findings", M, T, SET), ("node", M, T, ID)],
    },
    Table {
        entry_type: EntryType::Retry,
        sample: r#"{"input_ref":[3],"node":"n1","reason":"session_failed"}"#,
        rows: &[
            (
                "input_ref",
                RULE,
                RULE,
                &[
                    ("[]", RULE),
                    ("[2,1]", RULE),
                    ("[-1]", RULE),
                    (r#"["1"]"#, RULE),
                    ("null", RULE),
                ],
            ),
            ("node", M, T, ID),
            ("reason", M, T, WORD),
        ],
    },
    Table {
        entry_type: EntryType::Trip,
        sample: r#"{"history":[3,4],"node":"n1","reason":"insufficient_bound_evidence"}"#,
        rows: &[("history", M, T, SOME), ("node", M, T, ID), ("reason", M, T, WORD)],
    },
    Table {
        entry_type: EntryType::Checkpoint,
        sample: r#"{"digest_over_range":"@D","head":"@D","range":[0,5]}"#,
        rows: &[
            ("digest_over_range", M, T, DIGEST),
            ("head", M, T, DIGEST),
            (
                "range",
                RULE,
                RULE,
                &[
                    ("[]", RULE),
                    ("[1]", RULE),
                    ("[0,1,2]", RULE),
                    ("[0,-1]", RULE),
                    ("[null,1]", RULE),
                    ("[5,0]", RULE),
                    ("5", RULE),
                ],
            ),
        ],
    },
    Table { entry_type: EntryType::PlanCompleted, sample: "{}", rows: &[] },
    Table {
        entry_type: EntryType::PlanHalted,
        sample: r#"{"unresolved":["n1","n2"]}"#,
        rows: &[("unresolved", M, T, &[(r#"["b","a"]"#, E), (r#"[""]"#, E), ("[1]", T)])],
    },
    Table {
        entry_type: EntryType::PlanSuperseded,
        sample: r#"{"changed_class_floors":[{"from":"proxy","node":"n1","to":"attested"}],
            "changed_fences":[{"from":{"allow":["src/","a"],"kind":"paths"},"node":"n1","to":null}],
            "changed_tests":[{"from":"@D","node":"n1","test_id":"t1","to":null}],"named_authority":"@K",
            "obligation_map":[{"disposition":"carried","node":"n1"}],"predecessor":"@D","reason":"r",
            "successor":"@D"}"#,
        rows: &[
            ("changed_class_floors", RULE, T, &[("[1]", T)]),
            ("changed_class_floors/0/from", M, T, WORD),
            ("changed_class_floors/0/node", M, T, ID),
            ("changed_class_floors/0/to", M, T, WORD),
            ("changed_fences", RULE, T, &[("null", T)]),
            ("changed_fences/0/from", M, T, &[("[]", T)]),
            (
                "changed_fences/0/from/allow",
                M,
                T,
                &[
                    (r#"["a","b","a"]"#, E),
                    (r#"["/"]"#, E),
                    (r#"["a//"]"#, E),
                    (r#"[""]"#, E),
                    ("[1]", T),
                ],
            ),
            ("changed_fences/0/from/kind", M, T, WORD),
            ("changed_fences/0/node", M, T, ID),
            ("changed_fences/0/to", M, M, &[("[]", T)]),
            ("changed_tests", RULE, T, &[("[[]]", T)]),
            ("changed_tests/0/from", M, T, DIGEST_OR_NULL),
            ("changed_tests/0/node", M, T, ID),
            ("changed_tests/0/test_id", M, T, ID),
            ("changed_tests/0/to", M, T, DIGEST_OR_NULL),
            ("named_authority", M, T, KEY),
            ("obligation_map", RULE, T, &[("[1]", T)]),
            ("obligation_map/0/disposition", M, T, WORD),
            ("obligation_map/0/node", M, T, ID),
            ("predecessor", M, T, DIGEST),
            ("reason", RULE, T, &[(r#""""#, E)]),
            ("successor", M, T, DIGEST),
        ],
    },
    Table {
        entry_type: EntryType::NonconformanceNotice,
        sample: r#"{"defects":["b","a"]}"#,
        rows: &[("defects", M, T, &[("[]", E), (r#"[""]"#, E), ("[1]", T)])],
    },
];

const ANSWER: &[Row] = &[
    ("decision", RULE, RULE, UNJUDGED),
    ("findings_ref", M, T, SET),
    ("node", M, T, ID),
    ("request_h", M, T, DIGEST),
    ("who", M, T, KEY),
];

/// Every array, with three elements in it.
pub(super) const ARRAYS: &[(EntryType, &str, &str)] = &[
    (EntryType::Dispatch, "nodes", r#"["a","b","c"]"#),
    (EntryType::Dispatch, "input", "[1,2,3]"),
    (EntryType::Dispatch, "input/0/prior_failure", "[1,2,3]"),
    (EntryType::ExecutionResult, "touched_surface", r#"["a","b","c"]"#),
    (EntryType::Flag, "paths", r#"["a","b","c"]"#),
    (EntryType::Verdict, "observation_layers", r#"["a","b","c"]"#),
    (EntryType::GateRequest, "findings", "[1,2,3]"),
    (EntryType::Approval, "findings_ref", "[1,2,3]"),
    (EntryType::Refusal, "findings_ref", "[1,2,3]"),
    (EntryType::RevisedApprovalRequest, "findings", "[1,2,3]"),
    (EntryType::Retry, "input_ref", "[1,2,3]"),
    (EntryType::Trip, "history", "[1,2,3]"),
    (EntryType::PlanHalted, "unresolved", r#"["a","b","c"]"#),
    (EntryType::PlanSuperseded, "obligation_map", "[1,2,3]"),
    (EntryType::PlanSuperseded, "changed_class_floors", "[1,2,3]"),
    (EntryType::PlanSuperseded, "changed_fences", "[1,2,3]"),
    (EntryType::PlanSuperseded, "changed_fences/0/from/allow", r#"["a","b","c"]"#),
    (EntryType::PlanSuperseded, "changed_tests", "[1,2,3]"),
    (EntryType::NonconformanceNotice, "defects", r#"["a","b","c"]"#),
];
