//! `R1.*`: integrity, issuers, coverage and sealing; `R1.ENV.*` is the envelope's half of it.

super::gad_family! {
    ARTIFACT_REF_ABSENT: "R1.ARTIFACT.REF_ABSENT", Unmet, [R1],
        "A referenced artifact is not there",
        "An entry refers to an artifact by its path, and the record has no such member. What the \
         entry says about it can't be looked at.",
        "Ask the operator for the artifact; if it still exists, export the record again from its \
         sources.",
        "GAD 1.3, section 2 (execution result, executor exit); gad-bytes/1, entries";
    ARTIFACT_REF_DIGEST: "R1.ARTIFACT.REF_DIGEST", Broken, [R1],
        "A referenced artifact is another one",
        "An entry states path and digest of an artifact, and the member at that path has another \
         digest. The file was exchanged after the entry was written, or the entry is about \
         something else.",
        "Find the file with the stated digest; until then, don't rely on this artifact.",
        "GAD 1.3, section 2 (execution result, executor exit); gad-bytes/1, entries";
    ARTIFACT_UNBOUND: "R1.ARTIFACT.UNBOUND", Note, [Note],
        "Nothing in plan or witness names this artifact",
        "The manifest lists the artifact, but no digest in the plan or in an entry is its. \
         Whoever makes a new manifest could exchange it without any entry noticing; only an \
         anchor over the root holds it.",
        "Have entries name the digest of every artifact that matters, and judge this one as an \
         enclosure.",
        "gad-bytes/1, artifacts";
    CHAIN_COUNT: "R1.CHAIN.COUNT", Broken, [R1], "The witness has another number of entries",
        "The manifest states how many entries the witness has, and there are more or fewer. \
         Entries were cut off or added after the manifest was written.",
        "Get the whole record from the operator and compare its root with an anchor.",
        "GAD 1.3, Algorithm 2, R1; gad-bytes/1, core manifest";
    CHAIN_EMPTY: "R1.CHAIN.EMPTY", Unmet, [R1], "The witness is empty",
        "There is not a single entry, so there is nothing that could show that anything was \
         governed.",
        "Get the whole record from the operator.",
        "GAD 1.3, section 1, equation (1)";
    CHAIN_HASH: "R1.CHAIN.HASH", Broken, [R1], "An entry's hash does not fit the chain",
        "The hash stored with an entry is not that of its body and of the hash before it. The \
         entry, or one before it, was changed, removed or put elsewhere after it was written.",
        "Compare with another copy of the record: from the first entry reported on, this one \
         isn't the original.",
        "GAD 1.3, Algorithm 2, R1; section 1, equation (1)";
    CHAIN_HEAD: "R1.CHAIN.HEAD", Broken, [R1], "The last hash is not the one in the manifest",
        "The manifest states the hash of the last entry, and the witness ends with another one. \
         Witness and manifest don't belong together.",
        "Get witness and manifest of one export.",
        "GAD 1.3, Algorithm 2, R1; gad-bytes/1, core manifest";
    CHAIN_NONCANONICAL: "R1.CHAIN.NONCANONICAL", Broken, [R1],
        "A line of the witness is not in its one form",
        "Every line of core/witness.jsonl is the canonical form of one entry and a line feed. \
         Here is a blank line, other white space, another order of members, a carriage return, or \
         a last line without its line feed.",
        "Use the file as the engine wrote it; editors and version control that change line ends \
         spoil it.",
        "gad-bytes/1, stored form; GAD 1.3, section 9 (export determinism)";
    CHAIN_SEQ_GAP: "R1.CHAIN.SEQ_GAP", Broken, [R1],
        "The numbers of the entries do not follow each other",
        "An entry's number is not that of the entry before it and one: something is missing, \
         repeated or in another order. A witness has no gaps, whatever happened.",
        "Ask the operator for the entries between; if they don't exist, the record has been \
         tampered with or written wrongly.",
        "GAD 1.3, Algorithm 2, R1 (contiguous)";
    CHAIN_SEQ_START: "R1.CHAIN.SEQ_START", Broken, [R1], "The first entry is not number 0",
        "A witness begins with entry 0. One that begins later lacks its beginning.",
        "Get the whole witness from the operator.",
        "GAD 1.3, section 1, equation (1)";
    CKPT_COVERS_SELF: "R1.CKPT.COVERS_SELF", Broken, [R1],
        "A checkpoint does not end right before itself",
        "A checkpoint signs the entries up to the one just before it: neither itself, nor what \
         comes later, nor fewer. The range of this one ends elsewhere.",
        "Have the engine's checkpoints corrected; this record can't be repaired.",
        "GAD 1.3, section 2 (checkpoint); Algorithm 2, R1";
    CKPT_DIGEST: "R1.CKPT.DIGEST", Broken, [R1], "A checkpoint signs other entries",
        "The digest or the head in a checkpoint is not that of the entries in its range as they \
         stand here. The entries were changed after the engine had signed them, or the checkpoint \
         is of another record.",
        "Compare with another copy of the record; what the checkpoint covers isn't what was \
         signed.",
        "GAD 1.3, Algorithm 1 (SEALING); Algorithm 2, R1";
    CKPT_GAP: "R1.CKPT.GAP", Broken, [R1], "Entries lie between two checkpoints",
        "A checkpoint's range begins later than where the one before it left off, so that entries \
         between them are signed by neither.",
        "Have the engine's checkpoints corrected: each begins at the place of the one before it, \
         the first at entry 0.",
        "GAD 1.3, Algorithm 2, R1 (contiguous)";
    CKPT_NONE: "R1.CKPT.NONE", Unmet, [R1], "There is no checkpoint",
        "Most entries carry no signature of their own; a checkpoint's signature is what makes \
         them the engine's. Without one, anybody could have written them.",
        "Have the engine write checkpoints, at least one before every export.",
        "GAD 1.3, Algorithm 2, R1; section 2 (issuer table)";
    CKPT_NOT_AT_HEAD: "R1.CKPT.NOT_AT_HEAD", Unmet, [R1], "The last entry is not a checkpoint",
        "What stands after the last checkpoint is signed by nobody: it can be cut off, or be \
         somebody else's addition.",
        "Export up to the last checkpoint as a snapshot, or have the engine sign a last one and \
         seal again.",
        "GAD 1.3, Algorithm 2, R1";
    CKPT_NO_FINAL: "R1.CKPT.NO_FINAL", Unmet, [R1], "No checkpoint after the end of the run",
        "The entry that ends the run has to be followed by a checkpoint that covers it. Otherwise \
         the end itself isn't the engine's word.",
        "Have the engine append its final checkpoint and export again.",
        "GAD 1.3, Algorithm 2, R1; section 2 (checkpoint)";
    CKPT_OVERLAP: "R1.CKPT.OVERLAP", Broken, [R1], "Two checkpoints overlap",
        "A checkpoint's range begins before the place of the one before it. The record declares \
         that ranges do not overlap.",
        "Have the engine's checkpoints corrected: each begins at the place of the one before it.",
        "GAD 1.3, Algorithm 2, R1 (non-overlapping)";
    CKPT_POLICY: "R1.CKPT.POLICY", Unsupported, [R1], "An unknown scheme of checkpoints",
        "The manifest declares a scheme of coverage or a rule for overlaps that this evaluator \
         does not know, so it can't tell which entries are covered.",
        "Use an evaluator that knows the scheme, or have the record exported with the scheme \
         checkpoint and overlap none.",
        "GAD 1.3, Algorithm 2, R1 (declared policy)";
    CKPT_RANGE_FORM: "R1.CKPT.RANGE_FORM", Broken, [R1], "The range of a checkpoint is none",
        "A range is two entry numbers, the first not above the second. This one names no entries.",
        "Have the engine's checkpoints corrected; this record can't be repaired.",
        "GAD 1.3, section 2 (checkpoint)";
    CKPT_UNCOVERED: "R1.CKPT.UNCOVERED", Unmet, [R1], "An unsigned entry is in no valid checkpoint",
        "The entry carries no signature of its own, and no checkpoint that holds covers it. \
         Nothing shows that the engine wrote it.",
        "Look first at the findings about checkpoints: a broken one leaves all its entries \
         uncovered.",
        "GAD 1.3, Algorithm 2, R1; section 2 (issuer table)";
    ENV_ITEM_ABSENT: "R1.ENV.ITEM_ABSENT", Unmet, [R1e],
        "A listed anchor or attestation is not there",
        "The envelope's manifest lists an anchor or an attestation that the bundle does not hold.",
        "Get the file from whoever made the envelope.",
        "GAD 1.3, Algorithm 2, R1";
    ENV_ITEM_HASH: "R1.ENV.ITEM_HASH", Broken, [R1e],
        "A listed anchor or attestation is another one",
        "The file's digest is not the one in the envelope's manifest: it was changed or exchanged \
         after the envelope had been made.",
        "Get the file with the listed digest, or the envelope that lists this file.",
        "GAD 1.3, Algorithm 2, R1";
    ENV_ITEM_UNLISTED: "R1.ENV.ITEM_UNLISTED", Broken, [R1e],
        "A file that the envelope does not list",
        "A file stands in the bundle, outside core/, and the envelope's manifest does not name \
         it. Nobody vouches for its being part of the evidence.",
        "Remove the file, or make a further envelope that lists it.",
        "GAD 1.3, Algorithm 2, R1";
    ENV_LAYERS_UNDECLARED: "R1.ENV.LAYERS_UNDECLARED", Broken, [R1e],
        "The envelope does not declare its layers",
        "An envelope has to say on what its claim to be true history rests: signed entries, \
         commitments before dispatch, witnessed checkpoints, an inspection, an attested machine. \
         This one says nothing.",
        "Have the operator make an envelope that declares its provenance layers.",
        "GAD 1.3, section 1 (boundary)";
    ENV_LINEAGE_DROPPED: "R1.ENV.LINEAGE_DROPPED", Broken, [R1e],
        "Something of the envelope before is gone",
        "The envelope names a predecessor, and an anchor or attestation of that predecessor is \
         missing here or has another digest, or its core or the operator's seal is another one. An \
         envelope only grows: an attestation that displeases can't be left out.",
        "Ask why it was left out, and look at the predecessor itself.",
        "GAD 1.3, section 2 (core bundle and evidence envelope)";
    ENV_MISSING: "R1.ENV.MISSING", Unmet, [R1e], "There is no envelope",
        "The bundle holds a core without envelope.json. Anchors and attestations have no place \
         without it.",
        "Evaluate the folder core/ if only the record is meant; otherwise get the envelope, or \
         make one with `anchor envelope`.",
        "GAD 1.3, Algorithm 2, R1";
    ENV_PREDECESSOR_FORM: "R1.ENV.PREDECESSOR_FORM", Broken, [R1e],
        "The predecessor is neither a digest nor null",
        "An envelope names the one before it by its root, or null if it is the first. This member \
         is something else.",
        "Have the envelope made anew.",
        "GAD 1.3, Algorithm 2, R1; gad-bytes/1, envelope manifest";
    ENV_PREDECESSOR_MISMATCH: "R1.ENV.PREDECESSOR_MISMATCH", Broken, [R1e],
        "The predecessor supplied is another envelope",
        "The manifest that was supplied as the predecessor's does not hash to the root that this \
         envelope names. The two are not of one line.",
        "Supply the manifest of the envelope that is named; if it is the right one, it was \
         changed since.",
        "GAD 1.3, Algorithm 2, R1; section 2 (core bundle and evidence envelope)";
    ENV_ROOT_CORE: "R1.ENV.ROOT_CORE", Broken, [R1e], "The envelope is around another core",
        "The root in the envelope's manifest is not the one recomputed from the core that lies in \
         the bundle. Envelope and core don't belong together.",
        "Get the core with the stated root, or the envelope of this core.",
        "GAD 1.3, Algorithm 2, R1";
    ENV_ROOT_ENVELOPE: "R1.ENV.ROOT_ENVELOPE", Broken, [R1e], "Not the envelope that was expected",
        "The caller stated the root of the envelope to be evaluated, and this envelope has \
         another one.",
        "Check where the expected root comes from, and get the envelope with that root.",
        "GAD 1.3, Algorithm 2, R1";
    ENV_SELF: "R1.ENV.SELF", Broken, [R1e], "The envelope's manifest lists itself",
        "No file can hold its own digest, so the entry for envelope.json in its own list says \
         nothing true.",
        "Have the envelope made anew without it.",
        "GAD 1.3, Algorithm 2, R1 (excludes itself)";
    ISSUER_ALG: "R1.ISSUER.ALG", Broken, [R1], "A registered key is of another algorithm",
        "The plan registers a key that is not of Ed25519. No signature by it can be verified in \
         this byte profile.",
        "Register an Ed25519 key in a successor plan.",
        "gad-bytes/1, principals";
    ISSUER_BODY_TYPE: "R1.ISSUER.BODY_TYPE", Broken, [R1],
        "The signature is over an entry of another type",
        "A signed body names its own type, and it is not that of the entry it stands in. A \
         signature made for one purpose is being used for another.",
        "Treat the signature as misused; ask who wrote the entry.",
        "gad-bytes/1, signed objects";
    ISSUER_KEY_ID: "R1.ISSUER.KEY_ID", Broken, [R1], "A key id does not derive from its key",
        "A key's id is computed from algorithm and public key. The registered id is another one, \
         so that one key could pass for another.",
        "Correct the registry in a successor plan, and ask how the id came about.",
        "gad-bytes/1, key ids; GAD 1.3, section 12A (REG-14)";
    ISSUER_KEY_UNREGISTERED: "R1.ISSUER.KEY_UNREGISTERED", Broken, [R1],
        "Signed with a key that the plan does not register",
        "The plan froze whose signatures count before any work began. The key named in this entry \
         is not among them, so the signature is nobody's.",
        "Find out whose key it is. A new key needs a succession with a new registry.",
        "GAD 1.3, section 2 (plan, issuer table)";
    ISSUER_RUN_BINDING: "R1.ISSUER.RUN_BINDING", Broken, [R1],
        "The signature belongs to another plan",
        "A signed body names the plan it is for, and this one names another. A signature from \
         another run has been put here.",
        "Treat the entry as not signed; look for the run it was taken from.",
        "gad-bytes/1, signed objects";
    ISSUER_SIG: "R1.ISSUER.SIG", Broken, [R1], "A signature does not verify",
        "The signature in the entry was not made over this body with the key it names. The body \
         was changed after signing, or somebody without the key wrote it.",
        "Compare with another copy of the record; if they are equal, ask the owner of the key.",
        "GAD 1.3, section 2 (signed objects)";
    ISSUER_UNKNOWN_TYPE: "R1.ISSUER.UNKNOWN_TYPE", Unsupported, [R1], "An unknown type of entry",
        "The issuer table has no such entry type, so it is not known who may write it or what it \
         means. Entries about key rotation are among these: no version implements them yet.",
        "Use an evaluator that knows the type, if there is one; a compromised key is handled by \
         succession.",
        "GAD 1.3, section 2 (issuer table)";
    ISSUER_UNSIGNED: "R1.ISSUER.UNSIGNED", Unmet, [R1], "An entry that has to be signed is not",
        "Entries of this type carry a signature of their own: verdicts, probes, closures, \
         checkpoints, notices, answers of humans, successions. This one has none, so it is \
         nobody's word.",
        "Have the engine or the person sign entries of this type; this one counts for nothing.",
        "GAD 1.3, section 2 (issuer table)";
    ISSUER_WEAK_KEY: "R1.ISSUER.WEAK_KEY", Broken, [R1], "A public key that anybody can sign for",
        "The registered key is of small order or not encoded in its one form. Under such keys a \
         signature can be made without any secret.",
        "Replace the key by a properly generated one in a successor plan; don't rely on what it \
         signed.",
        "gad-bytes/1, principals; RFC 8032";
    ISSUER_WRONG_ROLE: "R1.ISSUER.WRONG_ROLE", Broken, [R1],
        "Signed by somebody whose role this is not",
        "The key is registered, but not for the role that issues entries of this type: engines \
         sign verdicts and checkpoints, approvers answer gates, succession authorities end plans.",
        "Ask the owner of the key; correct roles in a successor plan if the registry is wrong.",
        "GAD 1.3, section 2 (issuer table)";
    MANIFEST_ABSENT_MEMBER: "R1.MANIFEST.ABSENT_MEMBER", Unmet, [R1],
        "A listed member is not there",
        "The core's manifest lists a file that the core does not hold.",
        "Get the file from the operator, or have the record exported again from its sources.",
        "GAD 1.3, Algorithm 2, R1";
    MANIFEST_DUP: "R1.MANIFEST.DUP", Broken, [R1], "The core's manifest lists a path twice",
        "Two rows are about one file. Whatever they say, it can't be told which one counts.",
        "Have the record exported again.",
        "GAD 1.3, Algorithm 2, R1; gad-bytes/1, core manifest";
    MANIFEST_HASH: "R1.MANIFEST.HASH", Broken, [R1], "A member of the core was changed",
        "A file's digest is not the one in the core's manifest: its bytes are not those that were \
         exported.",
        "Get the file with the listed digest; until then, don't rely on it.",
        "GAD 1.3, Algorithm 2, R1 (every hash matches)";
    MANIFEST_MISSING: "R1.MANIFEST.MISSING", Unmet, [R1],
        "There is no core manifest that can be read",
        "Without core/manifest.json it is not known what the record consists of and in which \
         version it is written. Nothing else of the core can be evaluated.",
        "Check that it is a bundle or a core folder; get the manifest from the operator.",
        "GAD 1.3, Algorithm 2, R1";
    MANIFEST_ROLE_MISSING: "R1.MANIFEST.ROLE_MISSING", Unmet, [R1],
        "Plan, witness or operator record is missing from the manifest",
        "A core has one plan, one witness and one operator record, each at its place. One of them \
         is not listed, listed twice or listed for another file.",
        "Have the record exported again from its sources.",
        "GAD 1.3, section 2 (core bundle, operator record)";
    MANIFEST_SELF: "R1.MANIFEST.SELF", Broken, [R1], "The core's manifest lists itself",
        "No file can hold its own digest, so the row for manifest.json says nothing true.",
        "Have the record exported again without it.",
        "GAD 1.3, Algorithm 2, R1 (except itself)";
    MANIFEST_SIZE: "R1.MANIFEST.SIZE", Broken, [R1], "A member of the core has another size",
        "A file is longer or shorter than the core's manifest says: bytes were added or lost.",
        "Get the file as it was exported.",
        "GAD 1.3, Algorithm 2, R1; gad-bytes/1, core manifest";
    MANIFEST_UNLISTED_MEMBER: "R1.MANIFEST.UNLISTED_MEMBER", Broken, [R1],
        "A file in the core that its manifest does not list",
        "The file is under core/ without being part of what the root stands for. It could have \
         been added by anybody.",
        "Remove it; if it belongs to the record, have the record exported again.",
        "GAD 1.3, Algorithm 2, R1 (lists every member)";
    PROFILE_KEYED: "R1.PROFILE.KEYED", Unsupported, [R1], "The chain is keyed",
        "The hashes of the chain were made with a secret. Only who has the secret can check them, \
         so the record carries no public claim of integrity.",
        "Ask for a record in public mode; keyed ones are for the operator alone.",
        "GAD 1.3, section 1, equation (1)";
    PROFILE_UNSUPPORTED: "R1.PROFILE.UNSUPPORTED", Unsupported, [R1],
        "A version that is not known here",
        "The record names a schema, byte profile, canonical form, hash, table or specification \
         version that this evaluator does not implement. It does not guess.",
        "Use an evaluator that knows the version.",
        "gad-bytes/1, versions; GAD 1.3, Algorithm 2 (fails closed)";
    ROOT_CORE: "R1.ROOT_CORE", Broken, [R1], "Not the record that was expected",
        "The caller stated the root of the record to be evaluated, and this core has another one.",
        "Check where the expected root comes from, and get the record with that root.",
        "GAD 1.3, Algorithm 2, R1";
    SEAL_MODE: "R1.SEAL.MODE", Broken, [R1], "The seal does not fit the end of the record",
        "The manifest calls a record final that no entry ends, or calls one a snapshot that is \
         ended.",
        "Have the record exported again with the seal that fits.",
        "GAD 1.3, section 3; Algorithm 2, R1";
    SEAL_UNSEALED: "R1.SEAL.UNSEALED", Unmet, [R1], "The record is not sealed",
        "No entry ends the run, and the last entry is not a checkpoint either: this is neither a \
         sealed record nor a snapshot of one. It may have been cut anywhere.",
        "Have the engine seal the run or take a snapshot, and export that.",
        "GAD 1.3, Algorithm 2, R1 and OUTCOME";
}
