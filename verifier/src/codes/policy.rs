//! `POLICY.*`: the text of a trust policy, and what it leaves open.

super::family! {
    AMBIGUOUS_KEY: "POLICY.AMBIGUOUS_KEY", Broken, "Two keys with one name and key id",
        "Two keys of the policy have one name and one key id, so a signature line can't be given \
         to either.",
        "Remove one of the keys, or have its owner take another name.",
        "C2SP tlog-policy; C2SP signed-note";
    BYTE: "POLICY.BYTE", Broken, "A byte that a policy can't hold",
        "A policy holds printable characters, spaces, tabs and newlines; carriage returns and \
         other control characters are refused.",
        "Save the policy with Unix line ends.",
        "C2SP tlog-policy";
    FINAL_NEWLINE: "POLICY.FINAL_NEWLINE", Broken, "A policy without a final newline",
        "Every line of a policy ends with a newline; the last one may have been cut.",
        "Check that the policy is complete and end it with a newline.",
        "C2SP tlog-policy";
    GROUPS: "POLICY.GROUPS", Broken, "Too many groups",
        "The policy has more groups than are read.",
        "Remove groups that do not matter to the quorum.",
        "Anchorlog limits";
    KEYWORD: "POLICY.KEYWORD", Broken, "An unknown line",
        "A line of a policy begins with log, witness, group or quorum, or is a comment that begins \
         with #.",
        "Correct the line.",
        "C2SP tlog-policy";
    KEY_ALGORITHM: "POLICY.KEY_ALGORITHM", Broken, "A key of the wrong type",
        "Logs have keys of type 1 and witnesses keys of type 4 (or 1, which stands for it).",
        "Check that logs and witnesses were not mixed up.",
        "C2SP tlog-policy";
    LOGS: "POLICY.LOGS", Broken, "Too many logs",
        "The policy has more logs than are read.",
        "Use one policy per purpose.",
        "Anchorlog limits";
    LOG_DUP: "POLICY.LOG_DUP", Broken, "One log key is listed twice",
        "Two logs of the policy have the same public key.",
        "List every log once.",
        "C2SP tlog-policy";
    MEMBER_TWICE: "POLICY.MEMBER_TWICE", Broken, "A name is in two groups",
        "A witness or group is a member of two groups, or twice of one, and would count twice.",
        "Name it in one group.",
        "C2SP tlog-policy";
    NAME_DUP: "POLICY.NAME_DUP", Broken, "A name is given twice",
        "Witnesses and groups share one name space, and one name stands there twice.",
        "Rename one of them.",
        "C2SP tlog-policy";
    NAME_LENGTH: "POLICY.NAME_LENGTH", Broken, "A name is too long",
        "A name of a policy has at most 255 bytes.",
        "Shorten the name.",
        "Anchorlog limits";
    NO_LOGS: "POLICY.NO_LOGS", Note, "The policy trusts no log",
        "There is no log line, so no checkpoint and no receipt can hold under this policy.",
        "Add the verifier keys of the logs you trust.",
        "C2SP tlog-policy";
    NO_QUORUM: "POLICY.NO_QUORUM", Broken, "A policy without a quorum line",
        "A policy says what it asks of the witnesses, even if that is nothing.",
        "Add a quorum line; quorum none asks for no witness.",
        "C2SP tlog-policy";
    RESERVED_NAME: "POLICY.RESERVED_NAME", Broken, "The name none is reserved",
        "No witness and no group is called none, and none is no member: it stands for the absence \
         of a quorum.",
        "Rename the witness or the group.",
        "C2SP tlog-policy";
    SECOND_QUORUM: "POLICY.SECOND_QUORUM", Broken, "Two quorum lines",
        "A policy has exactly one quorum line.",
        "Remove one; combine quorums with a group.",
        "C2SP tlog-policy";
    THRESHOLD_FORM: "POLICY.THRESHOLD_FORM", Broken, "Not a threshold",
        "The threshold of a group is all, any or a decimal number.",
        "Correct the group line.",
        "C2SP tlog-policy";
    THRESHOLD_RANGE: "POLICY.THRESHOLD_RANGE", Broken, "A threshold that can't be",
        "The threshold of a group is at least 1 and at most its number of members.",
        "Correct the group line.",
        "C2SP tlog-policy";
    TOO_LARGE: "POLICY.TOO_LARGE", Broken, "A policy is too large",
        "The policy is longer than is read of one policy.",
        "Check that it is the right file.",
        "Anchorlog limits";
    UNDEFINED_NAME: "POLICY.UNDEFINED_NAME", Broken, "A name is not defined",
        "Members of groups and the quorum are names of earlier lines.",
        "Define the witness or the group before it is used.",
        "C2SP tlog-policy";
    UNUSED_WITNESS: "POLICY.UNUSED_WITNESS", Note, "A witness that the quorum never asks",
        "The witness is neither the quorum nor in a group that leads to it. Its cosignatures are \
         checked and count for nothing.",
        "Add it to a group of the quorum, or remove it.",
        "C2SP tlog-policy";
    UNWITNESSED: "POLICY.UNWITNESSED", Note, "The policy asks for no witness",
        "With quorum none the log's own signature is enough. The log can then show different trees \
         to different people, and nothing here would tell.",
        "Name witnesses and a quorum, or compare checkpoints with others who use the log.",
        "C2SP tlog-policy";
    WITNESSES: "POLICY.WITNESSES", Broken, "Too many witnesses",
        "The policy has more witnesses than are read.",
        "Remove witnesses that do not matter to the quorum.",
        "Anchorlog limits";
    WORDS: "POLICY.WORDS", Broken, "Not the words of such a line",
        "The line has more or fewer words than lines of its kind.",
        "Compare the line with the specification: log KEY [URL], witness NAME KEY [URL], group \
         NAME K MEMBER…, quorum NAME.",
        "C2SP tlog-policy";
}
