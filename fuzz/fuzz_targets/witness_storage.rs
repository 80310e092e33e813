#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| anchorlog_fuzz::witness::storage(bytes));
