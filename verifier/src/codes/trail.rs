//! `TRAIL.*`: the records of an audit trail, held to checkpoints.

super::family! {
    BEYOND: "TRAIL.BEYOND", Broken, "The copy ends before a checkpoint",
        "A checkpoint was signed or held for a line that the copy does not have: the copy was cut short, or is older. \
         Reason checkpoint-beyond-trail.",
        "Ask for the whole trail. Lines that somebody's checkpoint names existed.",
        "Gateway decision 0013, determination 5; checkpoints of the Judgment Pack runtime";
    COVERAGE: "TRAIL.COVERAGE", Unmet, "Records that nobody witnessed",
        "The records up to the line that is asked for are not all covered: the latest checkpoint that counts is of an \
         earlier line, or none counts. The reason is countersigned-coverage-missing where a witness was asked for, and \
         checkpoint-coverage-missing where only a holder was.",
        "Wait for a later checkpoint, or ask for less. Nothing can be said of the records in between.",
        "Gateway decision 0013, determination 6";
    DISCONTINUITY: "TRAIL.DISCONTINUITY", Broken, "A repair that is none",
        "A record says that the line before it is the rest of an incomplete write, and it has not the form, names \
         another line, one that can't be damage, or one with other bytes. The reasons are discontinuity-malformed and \
         discontinuity-mismatch.",
        "Ask the trail's operator what happened there.",
        "Audit trails of the Judgment Pack runtime";
    HELD: "TRAIL.HELD", Broken, "Not a file of checkpoint lines",
        "The file of a holder is empty, or one of its lines is not a checkpoint line exactly as it is printed. Nothing \
         was checked.",
        "Give the lines as they were handed over, each ended by a newline.",
        "Gateway specification, section 8.1";
    IDENTITY: "TRAIL.IDENTITY", Broken, "A record of another trail",
        "A chained record names another trail than the one asked for, or than the chained record before it. Reason \
         trail-mismatch.",
        "Check that it is a copy of the right trail.",
        "Audit trails of the Judgment Pack runtime";
    INCOMPLETE: "TRAIL.INCOMPLETE", Note, "The last line is incomplete",
        "Bytes follow the last newline: a write that did not complete, or a copy made while one was going on. No \
         checkpoint covers them. Reason incomplete-last-line.",
        "Nothing is wrong with what is covered. Copy the trail again to have the whole line.",
        "Audit trails of the Judgment Pack runtime";
    LINE: "TRAIL.LINE", Broken, "A line is too long",
        "A line is longer than 8,388,608 bytes, so it was not read, and whether it is chained can't be told. Reason \
         line-too-long.",
        "No runtime writes such a line; ask the trail's operator.",
        "Anchorlog limits";
    NOT_CHAINED: "TRAIL.NOT_CHAINED", Broken, "A checkpoint of a line that is no chained record",
        "The line that a checkpoint names has no trail, sequence and previous, or was given up as damage. Reason \
         checkpoint-not-chained.",
        "Compare the copy with the one that the checkpoint was made of.",
        "Checkpoints of the Judgment Pack runtime";
    OTHER: "TRAIL.OTHER", Broken, "A checkpoint of another trail",
        "The record at a checkpoint's line is of another trail than the checkpoint. Reason checkpoint-trail-mismatch.",
        "Check that copy and checkpoints are of one trail.",
        "Gateway decision 0013, determination 5; checkpoints of the Judgment Pack runtime";
    PREVIOUS: "TRAIL.PREVIOUS", Broken, "A record does not follow what stands before it",
        "A chained record names another digest than that of the line before it, or than that of all bytes before it where \
         that line is not chained. Something before it was changed, removed or inserted. Reason previous-mismatch.",
        "Compare the copy with an earlier one up to this line.",
        "Audit trails of the Judgment Pack runtime";
    RECORD: "TRAIL.RECORD", Broken, "Another record than the one checkpointed",
        "The line at a checkpoint's sequence has another SHA-256 than the checkpoint: this record, or one before it, is \
         not the one that existed when the checkpoint was made. Reason checkpoint-record-mismatch.",
        "Keep copy and checkpoint. Either the trail was rewritten or the checkpoint was made of something else.",
        "Gateway specification, section 8.1; gateway decision 0013, determination 5";
    SEQUENCE: "TRAIL.SEQUENCE", Broken, "A record of another line",
        "The sequence of a chained record is not its line number: lines were removed, inserted or moved. Reason \
         sequence-mismatch.",
        "Compare the copy with an earlier one up to this line.",
        "Audit trails of the Judgment Pack runtime";
}
