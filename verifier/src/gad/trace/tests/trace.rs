//! The derived state after each entry, as lines.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{Entry, EntryType, Payload};
use anchorlog_proto::gad::payload::DispatchNodes;

use crate::gad::trace::Snapshot;
use crate::gad::trace::testing::{Run, dispatch, node};
use crate::gad::{Event, Findings};

#[test]
fn a_step_shows_what_it_changed() {
    let mut run = Run::with_edges(vec![node("b"), node("a"), node("z")], &[("a", "z")]);
    let entry = Entry {
        seq: 1,
        time: 0,
        entry_type: EntryType::Dispatch,
        payload: Some(Payload::Dispatch(dispatch("s1", DispatchNodes::Set(vec!["a"])))),
        signed: None,
        h: Digest::of(b"h"),
    };
    let event = Event { index: 1, entry: &entry, authentic: true };
    run.machine.step(&event, None, &mut Findings::new());
    let snapshot = Snapshot::of_changes(&run.machine, &event);
    assert_eq!(
        snapshot.to_text(),
        "     1  dispatch  [s1 is open]\n        a OPEN(s1) attempt 1\n"
    );
    assert_eq!(
        String::from_utf8(snapshot.to_json_line()).unwrap(),
        "{\"nodes\":[{\"attempt\":1,\"judged\":0,\"node\":\"a\",\"open_flag\":false,\"ready\":false,\
         \"retries\":0,\"session\":\"s1\",\"status\":\"OPEN\",\"tests\":1}],\"open_session\":\"s1\",\
         \"seq\":1,\"stepped\":true,\"terminal\":null,\"type\":\"dispatch\"}\n"
    );
    assert_eq!(
        Snapshot::of_all(&run.machine, &event).to_text(),
        "     1  dispatch  [s1 is open]\n        b PENDING ready attempt 0\n        \
         a OPEN(s1) attempt 1\n        z PENDING attempt 0\n"
    );
}

#[test]
fn an_entry_that_is_not_stepped_says_so() {
    let mut run = Run::of(vec![node("a")]);
    let entry = Entry {
        seq: 1,
        time: 0,
        entry_type: EntryType::Retry,
        payload: None,
        signed: None,
        h: Digest::of(b"h"),
    };
    let event = Event { index: 1, entry: &entry, authentic: true };
    run.machine.step(&event, None, &mut Findings::new());
    let text = Snapshot::of_changes(&run.machine, &event).to_text();
    assert_eq!(text, "     1  retry  (not stepped: its payload can't be read)\n");
}
