//! `R5.*`: why a probe does not strengthen a verdict. These lower a class; what relies on it then
//! fails R4.

super::gad_family! {
    ABSENT: "R5.ABSENT", Note, [Note], "A worker's own test without a probe",
        "The verdict rests on a test that the worker wrote, and no probe shows that this test can \
         fail. It counts as attested, the weakest class.",
        "Have the engine plant a defect, see the test fail, restore, and record that before the \
         verdict.",
        "GAD 1.3, Algorithm 2, R5";
    ARTIFACT: "R5.ARTIFACT", Note, [Note], "The probe tried another test",
        "The probe is about another artifact than the one that ran for the verdict. The test may \
         have been changed after it was probed.",
        "Probe the very artifact that is judged with.",
        "GAD 1.3, Algorithm 2, R5";
    ENV: "R5.ENV", Note, [Note], "The probe ran in another environment",
        "Where the environment differs, a test that can fail there may not be able to fail here.",
        "Probe in the environment in which the verdict is taken.",
        "GAD 1.3, Algorithm 2, R5";
    NOT_FIRED: "R5.NOT_FIRED", Note, [Note], "The probe did not really run",
        "A probe counts only if it was started, exited with a code other than 0 and wrote \
         something. A test that can't be found fails too, and shows nothing.",
        "Correct how the engine starts its probes, and look at their output.",
        "GAD 1.3, section 11 (REG-39)";
    ORDER: "R5.ORDER", Note, [Note], "The probe came after the verdict",
        "That a test can fail has to be known before its pass is taken for something.",
        "Have the engine probe before it judges.",
        "GAD 1.3, Algorithm 2, R5";
    RESTORATION: "R5.RESTORATION", Note, [Note],
        "It is not shown that the defect was removed again",
        "The probe planted a defect and does not say that the original state was restored and \
         verified. The verdict may be about the spoiled one.",
        "Have the engine verify the restoration and say so.",
        "GAD 1.3, Algorithm 2, R5";
    RESULT: "R5.RESULT", Note, [Note], "The test did not notice the defect",
        "The probe planted a defect and the test passed all the same. It can't tell good work \
         from bad.",
        "Have the test corrected; don't rely on what it says.",
        "GAD 1.3, Algorithm 2, R5";
    SIG: "R5.SIG", Note, [Note], "The probe is not the engine's",
        "The probe carries no valid signature by a registered engine key, so it strengthens \
         nothing. The finding about its issuer says why.",
        "Look at the finding of R1 for the same entry.",
        "GAD 1.3, section 2 (probe, issuer table)";
}
