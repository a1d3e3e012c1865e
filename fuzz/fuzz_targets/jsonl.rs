#![no_main]

use std::sync::LazyLock;

use ldlf_reliability::readers::Reader;
use libfuzzer_sys::fuzz_target;

static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new("jsonl"));

fuzz_target!(|bytes: &[u8]| {
    // An error is as good as a result; a panic, a hang or too much memory is what the fuzzer looks for.
    let _ = READER.try_bytes(bytes);
});
