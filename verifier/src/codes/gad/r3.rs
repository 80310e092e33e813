//! `R3.*`: whether the entries are a run that the transition table allows.

super::gad_family! {
    CLAIM_ABNORMAL: "R3.CLAIM.ABNORMAL", Broken, [R3], "A claim out of a session that failed",
        "The executor's words are recorded only for sessions that completed. A session that \
         crashed, timed out or was killed has no testimony to give.",
        "Have the engine record no claims after an abnormal exit; read this one as an output of \
         unknown origin.",
        "GAD 1.3, Algorithm 1 (claim)";
    CLAIM_NODE: "R3.CLAIM.NODE", Broken, [R3], "A claim about a node outside its session",
        "The session was not commissioned for that node, so nobody in it can testify about it.",
        "Disregard the claim, and have the engine check what the executor names.",
        "GAD 1.3, Algorithm 1 (claim)";
    CLAIM_POSITION: "R3.CLAIM.POSITION", Broken, [R3], "A claim at the wrong place",
        "Claims stand right after the result of their session, before anything is judged. This \
         one has no result before it, or was added later, when it could answer to what had been \
         found.",
        "Disregard the claim; have the engine record claims when the session closes or not at \
         all.",
        "GAD 1.3, Algorithm 1 (claim); gad.table/1";
    COMPLETED_UNSATISFIED: "R3.COMPLETED.UNSATISFIED", Broken, [R3, Outcome],
        "Completed, with nodes that are not",
        "The run is ended as completed, and some node is not verified, or not approved where a \
         human has to approve. The end contradicts the record itself.",
        "Look up which node is open; only a new run or a succession can complete it.",
        "GAD 1.3, Algorithm 1; section 1, equation (5)";
    DISPATCH_BASELINE: "R3.DISPATCH.BASELINE", Broken, [R3],
        "A dispatch without the state it began from",
        "The engine has to take a digest of the workspace before it starts an executor. Without \
         it nothing can tell afterwards what the session changed.",
        "Have the engine take the baseline before every dispatch; this record can't be repaired.",
        "GAD 1.3, Algorithm 1 (dispatch)";
    DISPATCH_DEPS: "R3.DISPATCH.DEPS", Broken, [R3], "Dispatched before what it depends on",
        "A node is worked on while a node that it depends on is not verified, or not approved \
         where that is needed. The work stands on something nobody has accepted.",
        "Have the engine wait for dependencies; judge the node's results with that in mind.",
        "GAD 1.3, Algorithm 1 (READY)";
    DISPATCH_NODES: "R3.DISPATCH.NODES", Broken, [R3], "A dispatch for nodes that are none",
        "A dispatch names at least one node of the plan, each once. Here the list is empty, \
         repeats a node or names one that the plan does not have.",
        "Have the engine dispatch nodes of the frozen plan only.",
        "GAD 1.3, Algorithm 1 (dispatch)";
    DISPATCH_NOT_READY: "R3.DISPATCH.NOT_READY", Broken, [R3],
        "Dispatched while it is in work or not judged",
        "The node is in an open session, or its last attempt waits for verdicts. A dispatch would \
         wipe away what that attempt has shown.",
        "Have the engine judge an attempt before it starts the next.",
        "GAD 1.3, Algorithm 1 (READY)";
    DISPATCH_NO_RETRY: "R3.DISPATCH.NO_RETRY", Unmet, [R3],
        "A failed node is dispatched again without a retry",
        "Every new attempt after a failure is recorded as a retry that names the failure. Without \
         that entry attempts could go on beyond their bound, unseen.",
        "Have the engine record a retry before it dispatches a failed node again.",
        "GAD 1.3, Algorithm 1 (retry); section 3 (node states)";
    DISPATCH_OPEN_SESSION: "R3.DISPATCH.OPEN_SESSION", Broken, [R3],
        "A dispatch while another session is open",
        "One session runs at a time. With two, it can't be told which of them touched what.",
        "Have the engine close a session before it opens the next.",
        "GAD 1.3, Algorithm 1 (RUN_LOOP)";
    DISPATCH_RESOLVED: "R3.DISPATCH.RESOLVED", Broken, [R3], "A settled node is dispatched again",
        "The node is verified, approved, or waits for a human. Working on it again would change \
         what was judged or is being judged.",
        "Use a succession for work that goes beyond the plan.",
        "GAD 1.3, section 3 (node states)";
    DISPATCH_SCALAR: "R3.DISPATCH.SCALAR", Broken, [R3], "A dispatch in the old spelling",
        "The dispatch names a single node in place of a set. That is read only in records of \
         version 0.6.",
        "Have the engine write the set; or check which version the record really is of.",
        "GAD 1.3, section 1 (REG-29)";
    DISPATCH_SESSION_REUSED: "R3.DISPATCH.SESSION_REUSED", Broken, [R3],
        "A session's name is used again",
        "Exit and result are paired with their dispatch by the session's name. Where two sessions \
         share one, evidence can be counted for the wrong one.",
        "Have the engine give every session a fresh name.",
        "GAD 1.3, Algorithm 1 (dispatch)";
    EXIT_COMPLETED_NONZERO: "R3.EXIT.COMPLETED_NONZERO", Broken, [R3],
        "Completed, with an exit code that is not 0",
        "A session is completed only if its executor exited with 0. Anything else is malformed \
         and may not earn verification.",
        "Have the engine state malformed in such a case; don't rely on the session's nodes.",
        "GAD 1.3, section 2 (executor exit)";
    EXIT_DUP: "R3.EXIT.DUP", Broken, [R3], "A session exits twice",
        "One session ends once. A second exit could replace a crash by a success; only the first \
         is read.",
        "Ask the operator which supervisor wrote the second exit, and why.",
        "GAD 1.3, section 1 (RUL-12)";
    EXIT_MISSING: "R3.EXIT.MISSING", Unmet, [R3], "A session that never ended",
        "A dispatch is not followed by an exit of its session. Even an executor that vanishes \
         leaves one, because the supervisor writes it; only the open session of a snapshot may \
         lack it.",
        "Ask the operator for the supervisor's log; have the engine write an exit whatever \
         happens.",
        "GAD 1.3, Algorithm 2, R3";
    EXIT_NODE_NULLITY: "R3.EXIT.NODE_NULLITY", Broken, [R3],
        "An exit names the wrong node, or should name none",
        "An exit names the node of a session that covers one, and null where it covers several: \
         the engine saw the session end, not its parts.",
        "Have the engine name a node for sessions of one node only.",
        "GAD 1.3, section 2 (executor exit, RUL-12)";
    EXIT_ORPHAN: "R3.EXIT.ORPHAN", Broken, [R3], "An exit of no session",
        "No session with that name was dispatched, so nothing is known of what ended here.",
        "Look for a dispatch that is missing from the record.",
        "GAD 1.3, Algorithm 1 (executor_exit)";
    GATE_NORMAL_NODE: "R3.GATE.NORMAL_NODE", Broken, [R3],
        "A human is asked about a node that needs no approval",
        "The plan calls the node normal: its tests alone decide. An approval can't stand in for \
         them.",
        "Call nodes gated in the plan where a human is to decide.",
        "GAD 1.3, Algorithm 1 (gate_request)";
    GATE_NO_REQUEST: "R3.GATE.NO_REQUEST", Unmet, [R3, R7], "An answer that nobody asked for",
        "There is an approval or refusal of a node, and no request about it is open. An approval \
         given beforehand is not one of the findings.",
        "Disregard the answer; ask again when the engine's findings are there.",
        "GAD 1.3, Algorithm 1; Algorithm 2, R7";
    GATE_PREMATURE: "R3.GATE.PREMATURE", Broken, [R3], "A human is asked too early",
        "The request stands before all tests of the node have passed with evidence strong enough. \
         The human was asked to approve what the plan does not accept.",
        "Have the engine ask when all verdicts are there; the approval that followed shows \
         nothing.",
        "GAD 1.3, Algorithm 1 (gate_request)";
    HALT_PENDING_HUMAN: "R3.HALT.PENDING_HUMAN", Broken, [R3],
        "Halted while a human is being asked",
        "The run is ended as halted although an answer to a request is outstanding. That would \
         take the decision out of the human's hands.",
        "Wait for the answer, or record the refusal, before halting.",
        "GAD 1.3, Algorithm 1 (plan_halted)";
    HALT_READY: "R3.HALT.READY", Broken, [R3], "Halted although work could go on",
        "The run is ended as halted while nodes are ready and none has failed. Nothing forced it \
         to stop; the record would hide that the rest was simply not done.",
        "Take a snapshot of a run that is to be interrupted, and seal it as that.",
        "GAD 1.3, Algorithm 1 (plan_halted); section 3";
    HALT_UNRESOLVED: "R3.HALT.UNRESOLVED", Broken, [R3], "The list of what is left undone is wrong",
        "A halt lists every node that is not done. This list leaves one out, or names one that is \
         done.",
        "Go by the nodes' states in the report, and have the engine compute the list.",
        "GAD 1.3, Algorithm 1 (plan_halted)";
    NOTICE_POSITION: "R3.NOTICE.POSITION", Broken, [R3], "A notice before the end of the run",
        "A nonconformance notice discloses what is wrong with a record that has ended. Before the \
         end it has no place.",
        "Append notices while the record is being sealed.",
        "GAD 1.3, section 3; Algorithm 1 (EXPORT)";
    PHASE_AFTER_TERMINAL: "R3.PHASE.AFTER_TERMINAL", Broken, [R3], "The run goes on after its end",
        "After the entry that ends the run, only checkpoints and notices follow. This entry would \
         change a record whose outcome is settled; it is not taken into account.",
        "Start a new run for further work.",
        "GAD 1.3, section 3";
    PHASE_MULTI_TERMINAL: "R3.PHASE.MULTI_TERMINAL", Broken, [R3], "The run ends twice",
        "There is more than one entry that ends the run. Only the first is taken into account.",
        "Ask the operator which process wrote the second end.",
        "GAD 1.3, section 3";
    PROBE_POSITION: "R3.PROBE.POSITION", Broken, [R3], "A probe at the wrong place",
        "Probes, which show that a test can fail, are run by the engine between sessions and \
         before the end of the run. In an open session the executor could have interfered.",
        "Have the engine run probes between sessions.",
        "gad.table/1; GAD 1.3, Algorithm 1";
    REFUSED_REENTRY: "R3.REFUSED.REENTRY", Broken, [R3], "A refused node goes on all the same",
        "A human refused the node, and it is dispatched, retried or requested again as if nothing \
         had happened. After a refusal something has to change, and the human is asked again \
         about that.",
        "Record the change and a revised_approval_request, or halt, or write a successor plan.",
        "GAD 1.3, section 3 (node states); Algorithm 1";
    RESULT_BEFORE_EXIT: "R3.RESULT.BEFORE_EXIT", Broken, [R3], "A result before the exit",
        "What a session changed is captured after its executor has stopped; earlier it may still \
         change. Here the result stands before the exit.",
        "Have the engine wait for the exit and for quiescence before it captures.",
        "GAD 1.3, Algorithm 1 (QUIESCE)";
    RESULT_DELTA_FORM: "R3.RESULT.DELTA_FORM", Broken, [R3], "The delta does not fit the status",
        "A result names its delta by path and digest, except when its status is not_recorded: \
         then both are null. Here one of them contradicts the status.",
        "Have the engine state not_recorded exactly when there is no delta.",
        "GAD 1.3, section 2 (execution result)";
    RESULT_DUP: "R3.RESULT.DUP", Broken, [R3], "A session has two results",
        "A session closes once. A second result could replace what was captured first; only the \
         first is read.",
        "Ask the operator what wrote the second one.",
        "GAD 1.3, Algorithm 1 (execution_result); section 2 (first capture wins)";
    RESULT_MISSING: "R3.RESULT.MISSING", Unmet, [R3], "A session without a result",
        "The engine has to record after every session what it changed, also after a crash. There \
         is no such entry; only the open session of a snapshot may lack it.",
        "Ask the operator for the engine's log; have the engine record a result whatever happens.",
        "GAD 1.3, Algorithm 2, R3";
    RESULT_NODE_NULLITY: "R3.RESULT.NODE_NULLITY", Broken, [R3],
        "A result names the wrong node, or should name none",
        "A result names the node of a session that covers one, and null where it covers several: \
         the engine saw what the session changed, not which node did.",
        "Have the engine name a node for sessions of one node only.",
        "GAD 1.3, section 2 (execution result, RUL-10)";
    RESULT_ORPHAN: "R3.RESULT.ORPHAN", Broken, [R3], "A result of no session",
        "No session with that name was dispatched, so it is not known whose work this result \
         captures.",
        "Look for a dispatch that is missing from the record.",
        "GAD 1.3, Algorithm 1 (execution_result)";
    RESULT_SURFACE_FORM: "R3.RESULT.SURFACE_FORM", Broken, [R3],
        "The list of touched paths is not one",
        "The touched surface is a list of paths, sorted and without repeats; writes outside the \
         workspace begin with ext: there. This one can't be held against fences.",
        "Correct the engine's session monitor.",
        "GAD 1.3, section 2 (execution result); section 12A";
    RETRY_NOT_FAILED: "R3.RETRY.NOT_FAILED", Broken, [R3], "A retry of a node that has not failed",
        "Retries are for nodes whose session or tests failed, or for which a completed session \
         left no evidence. This node did not fail.",
        "Have the engine record a retry after a failure only.",
        "GAD 1.3, Algorithm 1 (retry)";
    RETRY_NO_DIAGNOSIS: "R3.RETRY.NO_DIAGNOSIS", Unmet, [R3], "A retry without a diagnosis",
        "A retry names the entries that show the failure, so that the next attempt begins with a \
         reason and is not another throw of the dice. It names none, or entries that show no \
         failure of this attempt.",
        "Have the engine name the failing verdict, the abnormal exit or the result without \
         evidence.",
        "GAD 1.3, Algorithm 1 (retry: diagnosis, not reroll)";
    REVISED_NO_CHANGE: "R3.REVISED.NO_CHANGE", Unmet, [R3], "Asked again with nothing changed",
        "After a refusal a human may be asked again once something has changed, and the request \
         names the entry that records it. It names none about this node since the refusal.",
        "Record the change first: a remediation, a new verdict or a closed flag.",
        "GAD 1.3, Algorithm 1 (REFUSED)";
    REVISED_NO_REFUSAL: "R3.REVISED.NO_REFUSAL", Broken, [R3],
        "A revised request without a refusal",
        "A revised request is for nodes that were refused. This one was not.",
        "Use a gate_request for a node that was not refused.",
        "GAD 1.3, section 3 (node states)";
    SUPERSEDE_AUTHORITY: "R3.SUPERSEDE.AUTHORITY", Broken, [R3],
        "The succession is not its authority's",
        "The authority that the succession names is not who signed it, or is not registered as a \
         succession authority in the frozen plan.",
        "Ask the named authority; a plan can be ended by its own authorities only.",
        "GAD 1.3, Algorithm 1 (SUCCEED)";
    SUPERSEDE_DELTA: "R3.SUPERSEDE.DELTA", Broken, [R3, Outcome],
        "The succession does not say all that it changes",
        "A succession states why, what becomes of every open obligation, and which class floors, \
         fences and tests change. One of these is missing.",
        "Have the authority sign a full succession; lists may be empty, but have to be there.",
        "GAD 1.3, Algorithm 1 (SUCCEED); Algorithm 2, OUTCOME";
    SUPERSEDE_DELTA_FALSE: "R3.SUPERSEDE.DELTA_FALSE", Broken, [Defensible],
        "The successor is weaker than the succession says",
        "The successor plan that was supplied lowers a class floor, widens a fence, or drops or \
         changes a test, and the succession does not state it. Weakening is allowed, in the open \
         only. Without a policy this is a note.",
        "Compare the two plans at the nodes named, and ask the authority that signed.",
        "GAD 1.3, section 4";
    SUPERSEDE_OBLIGATIONS: "R3.SUPERSEDE.OBLIGATIONS", Broken, [R3],
        "Open obligations are left out or invented",
        "The succession has to say of every node that is not done, exactly once, whether it is \
         carried on, removed or changed. Its map names other nodes, or one twice.",
        "Go by the nodes' states in the report; whatever is not named has been dropped silently.",
        "GAD 1.3, Algorithm 1 (SUCCEED)";
    SUPERSEDE_PREDECESSOR: "R3.SUPERSEDE.PREDECESSOR", Broken, [R3],
        "The succession ends another plan",
        "The predecessor it names is not the plan of this record.",
        "Get the record that the succession belongs to.",
        "GAD 1.3, Algorithm 1 (SUCCEED)";
    SUPERSEDE_SUCCESSOR: "R3.SUPERSEDE.SUCCESSOR", Broken, [R3],
        "The succession leads to the same plan",
        "Successor and predecessor are one plan. Nothing is superseded; the run would only be \
         freed of its open obligations.",
        "Have the authority name the plan that follows.",
        "GAD 1.3, Algorithm 1 (SUCCEED)";
    TERMINAL_OPEN_SESSION: "R3.TERMINAL.OPEN_SESSION", Broken, [R3],
        "The run ends while a session is open",
        "An executor was still at work when the run was ended, so what it did is outside the \
         record.",
        "Have the engine close the session, by killing it if need be, before it ends the run.",
        "GAD 1.3, Algorithm 1; gad.table/1";
    TRIP_EARLY: "R3.TRIP.EARLY", Broken, [R3], "Given up before the retries are used",
        "A node is tripped when it has failed as often as the plan allows. Retries are left here, \
         so the breaker was pulled without cause.",
        "Have the engine count retries; halt the plan if the node is to be given up.",
        "GAD 1.3, Algorithm 1 (trip)";
    TRIP_NOT_FAILED: "R3.TRIP.NOT_FAILED", Broken, [R3], "Given up without having failed",
        "A node is tripped after failures. This one did not fail.",
        "Have the engine trip failed nodes only; a human's decision to stop is a halt or a \
         succession.",
        "GAD 1.3, Algorithm 1 (trip)";
    VERDICT_DUP: "R3.VERDICT.DUP", Broken, [R3], "A test is judged twice in one attempt",
        "The first verdict of a test in an attempt counts. A second one could turn a failure into \
         a pass; it is not taken into account.",
        "Go by the first verdict. A new verdict needs a retry.",
        "GAD 1.3, section 2 (first capture wins); Algorithm 1";
    VERDICT_FAILED_SESSION: "R3.VERDICT.FAILED_SESSION", Broken, [R3],
        "A verdict about a session that failed",
        "A session that did not complete earns no verification: its nodes go to retry or trip, \
         whatever their tests would say.",
        "Disregard the verdict; have the engine judge completed sessions only.",
        "GAD 1.3, Algorithm 1 (abnormal exit)";
    VERDICT_INCOMPLETE: "R3.VERDICT.INCOMPLETE", Broken, [R3], "Judged in part",
        "The node is retried, tripped or put before a human while some of its tests have no \
         verdict. What was not judged can't be credited or counted as failed.",
        "Have the engine judge every test of an attempt; one that can't be run is a fail.",
        "GAD 1.3, Algorithm 1; section 1, equation (2)";
    VERDICT_NOT_COMMISSIONED: "R3.VERDICT.NOT_COMMISSIONED", Broken, [R3],
        "A verdict about a node outside the session",
        "The session that the verdict names was not commissioned for this node, so its results \
         are no evidence for it.",
        "Disregard the verdict; check the session and the node it names.",
        "GAD 1.3, section 1 (REG-61)";
    VERDICT_OPEN_FLAG: "R3.VERDICT.OPEN_FLAG", Broken, [R3, R6],
        "A verdict while the node is flagged",
        "The session touched what the node's fence does not admit, and that was not yet removed \
         and rechecked. Tests that ran over stray work don't speak for the node.",
        "Have the engine remove, recheck and close first, then judge.",
        "GAD 1.3, Algorithm 1; Algorithm 2, R6";
    VERDICT_OPEN_SESSION: "R3.VERDICT.OPEN_SESSION", Broken, [R3],
        "A verdict while a session is open",
        "Tests are judged between sessions, when nobody works. During one the executor could have \
         influenced them.",
        "Have the engine judge between sessions only.",
        "GAD 1.3, Algorithm 1 (between sessions)";
    VERDICT_UNKNOWN_TEST: "R3.VERDICT.UNKNOWN_TEST", Broken, [R3],
        "A verdict of a test that the plan does not have",
        "The frozen plan gives this node no test of that name. What was judged is not what had \
         been agreed.",
        "Check node and test; tests change by succession only.",
        "GAD 1.3, Algorithm 1; section 7 (I1)";
    VERDICT_WINDOW: "R3.VERDICT.WINDOW", Broken, [R3], "A verdict outside its window",
        "A verdict stands after the result it judges and before the node is dispatched, retried \
         or tripped again. This one is about an attempt that is not the current one, or names \
         another result.",
        "Disregard the verdict; have the engine judge each attempt before the next.",
        "GAD 1.3, section 1 (REG-58)";
}
