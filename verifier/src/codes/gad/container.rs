//! `IN.*`: why a bundle is not opened. Any of these ends the evaluation.

super::gad_family! {
    ARCHIVE_DUP: "IN.ARCHIVE_DUP", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "The archive holds a path twice",
        "Two members of the archive have the same path. Readers disagree about which of them \
         counts, so nothing in the archive is read.",
        "Make the archive anew from the directory, with every member once.",
        "gad-bytes/1, bundle (tar form)";
    ARCHIVE_TRAILING: "IN.ARCHIVE_TRAILING", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "Something stands after the end of the archive",
        "An archive ends with exactly two blocks of zeros. Bytes after them, zeros too, would \
         travel with the evidence without being covered by any digest.",
        "Make the archive anew with `anchor envelope pack`, or cut what stands behind the two \
         zero blocks.",
        "gad-bytes/1, bundle (tar form)";
    LIMIT_LINE: "IN.LIMIT_LINE", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "A line of the witness is too long",
        "One line of core/witness.jsonl is longer than the limit of this evaluation, so the \
         witness was not read on. Limits keep a hostile bundle from exhausting the evaluator; the \
         report names those in force.",
        "If entries of this size are expected, evaluate again with a higher limit for lines; \
         otherwise ask the operator what wrote the line.",
        "gad-bytes/1, limits; GAD 1.3, section 7 (I5)";
    NOT_REGULAR: "IN.NOT_REGULAR", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "A member is not a regular file",
        "A symbolic or hard link, a device, a pipe, a socket or, in an archive, a directory is \
         among the members. What such a member holds depends on the machine that reads it, so no \
         member was opened.",
        "Replace the member by the file itself and make the bundle anew.",
        "gad-bytes/1, bundle; GAD 1.3, section 7 (I5)";
    PATH_COLLISION: "IN.PATH_COLLISION", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "Two paths differ only in upper and lower case",
        "On file systems that don't tell cases apart, one of the two members would replace the \
         other, and the same bundle would be different evidence there.",
        "Rename one of the artifacts before the record is made; a sealed record can't be renamed.",
        "gad-bytes/1, bundle (path form)";
    PATH_FORM: "IN.PATH_FORM", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "A path has characters that paths may not have",
        "A member's path holds a byte outside letters, digits, dot, underscore, hyphen and slash, \
         or is longer than 255 bytes. Other names are spelled differently by different systems.",
        "Name artifacts with these characters only; names for people go into the plan's \
         descriptions.",
        "gad-bytes/1, bundle (path form)";
    PATH_TRAVERSAL: "IN.PATH_TRAVERSAL", Broken,
        [R1, R2, R3, R4, R5, R6, R7, R8, R9, R1e, Outcome, Satisfied, Defensible],
        "A path leads out of the bundle",
        "A member's path begins with a slash or a drive letter, has an empty, `.` or `..` \
         segment, a backslash or a control byte. Unpacked carelessly, it would write outside its \
         folder, which is how archives are used for attacks.",
        "Treat the bundle as hostile: don't unpack it, and ask the operator how it was made.",
        "gad-bytes/1, bundle (path form)";
}
