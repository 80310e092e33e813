//! `R8.*`: bounded persistence.

super::gad_family! {
    BOUND: "R8.BOUND", Broken, [R8], "More retries than the plan allows",
        "The node was retried more often than its bound. Trying until it works is what the bound \
         is there to stop.",
        "Judge the node's success with that in mind; have the engine trip the node when retries \
         are used up.",
        "GAD 1.3, Algorithm 2, R8";
    TRIP_EXIT: "R8.TRIP_EXIT", Broken, [R8], "A tripped node goes on",
        "After a trip only a halt or a succession follows for the node. Here it is dispatched, \
         retried, judged or put before a human again.",
        "Count the node as failed; plan it anew in a succession.",
        "GAD 1.3, Algorithm 2, R8";
}
