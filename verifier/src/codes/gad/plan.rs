//! `PLAN.*`: whether the plan is well formed. R2 is what these make false.

super::gad_family! {
    BOUND: "PLAN.BOUND", Broken, [R2], "The number of retries is none",
        "Every node says how often it may be retried: a whole number from 0 to 1000. Without it \
         persistence is not bounded; the node is read as one that may not be retried.",
        "Correct the node in the plan before it is frozen; a frozen plan changes by succession \
         only.",
        "GAD 1.3, section 2 (node); gad-bytes/1, plan";
    CMIN: "PLAN.CMIN", Broken, [R2], "The class floor is none",
        "Every node says how strong the evidence for its tests has to be: attested, proxy or \
         engine_observed. Anything else is read as engine_observed, the strictest.",
        "Correct the node in the plan before it is frozen; a frozen plan changes by succession \
         only.",
        "GAD 1.3, section 2 (node)";
    CYCLE: "PLAN.CYCLE", Broken, [R2], "The plan goes round in a circle",
        "Nodes depend on each other in a circle, or one depends on itself. None of them could \
         ever begin.",
        "Remove a dependency from the circle before the plan is frozen.",
        "GAD 1.3, Algorithm 1 (acyclic)";
    EDGE_DANGLING: "PLAN.EDGE_DANGLING", Broken, [R2],
        "A dependency names a node that is not there",
        "The plan has no node of that name, so it is not known what has to come first.",
        "Correct the dependency or add the node before the plan is frozen.",
        "GAD 1.3, Algorithm 1 (wellformed)";
    EMPTY: "PLAN.EMPTY", Broken, [R2], "The plan has no node",
        "A plan that asks for nothing is satisfied by anything. It proves nothing, so it is \
         refused.",
        "Write down what has to be done as nodes with tests.",
        "GAD 1.3, Algorithm 1 (wellformed)";
    FENCE_FORM: "PLAN.FENCE_FORM", Broken, [R2], "A node's fence is not a list of paths",
        "The fence lists the paths that work on the node may touch. This one is absent, of \
         another kind, repeats an entry or has one that is no path; it is read as admitting \
         nothing.",
        "List paths, with a slash at the end for whole folders, before the plan is frozen.",
        "GAD 1.3, section 2 (node); section 7 (I5)";
    KEY_DUP: "PLAN.KEY_DUP", Broken, [R2], "A key is registered twice",
        "One key id or one public key occurs in two rows of the registry. Two rows could give it \
         different roles or owners.",
        "List every key once, with all its roles.",
        "gad-bytes/1, principals";
    KEY_INCOMPLETE: "PLAN.KEY_INCOMPLETE", Broken, [R2],
        "Something about a registered key is missing",
        "A registered key has an id, an algorithm, the public key itself and a statement about \
         who keeps it and how. Without them its signatures can't be judged.",
        "Complete the row before the plan is frozen; an empty custody statement says that custody \
         is not disclosed.",
        "GAD 1.3, section 12A (REG-14)";
    NODE_DUP: "PLAN.NODE_DUP", Broken, [R2], "A node's name is missing, malformed or used twice",
        "Entries name nodes. Where a name stands for two nodes or for none, it can't be told what \
         an entry is about.",
        "Give every node a name of its own before the plan is frozen.",
        "GAD 1.3, Algorithm 1 (wellformed)";
    REGISTRY_EMPTY: "PLAN.REGISTRY_EMPTY", Broken, [R2], "Nobody could sign what this plan needs",
        "The plan registers no engine key, or has a gated node and registers no approver. \
         Verdicts or approvals under it could be nobody's.",
        "Register the keys before the plan is frozen.",
        "GAD 1.3, section 2 (plan, issuer table)";
    RISK: "PLAN.RISK", Broken, [R2], "A node's risk is none",
        "A node's risk is normal or gated. Anything else is read as gated: a human has to \
         approve.",
        "Correct the node in the plan before it is frozen; a frozen plan changes by succession \
         only.",
        "GAD 1.3, section 2 (node)";
    ROLE_CONFLICT: "PLAN.ROLE_CONFLICT", Broken, [R2], "One key is the engine's and an approver's",
        "Who holds it could approve the engine's findings in the human's name. The two have to be \
         different keys.",
        "Give the approver a key of their own before the plan is frozen.",
        "GAD 1.3, section 7 (I2, I4)";
    TESTS_EMPTY: "PLAN.TESTS_EMPTY", Broken, [R2], "A node without a test",
        "A node with no test would be verified by nothing at all.",
        "Write down how it is decided that the node is done.",
        "GAD 1.3, section 2 (node)";
    TEST_DUP: "PLAN.TEST_DUP", Broken, [R2], "A test's name is missing, malformed or used twice",
        "Verdicts name the test they judge. Where a name stands for two tests of a node or for \
         none, it can't be told what was judged.",
        "Give every test of the node a name of its own before the plan is frozen.",
        "GAD 1.3, section 2 (node, verdict)";
}
