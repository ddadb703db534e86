//! Sum prints how many events of a file have two muons, one of them above 20 GeV, and the sum of their numbers:
//!
//!     cargo rustc -- -L native=FOLDER-OF-LIBRNTUPLE && target/debug/sum dimuon.root

use std::error::Error;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr::{null, null_mut};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::UInt64Type;

#[link(name = "rntuple")]
extern "C" {
    fn rntuple_open(
        paths: *const *const c_char,
        n: usize,
        options: *const c_char,
        watch: *const c_void,
        dataset: *mut i64,
        error: *mut *mut c_char,
    ) -> c_int;
    fn rntuple_stream(
        dataset: i64,
        options: *const c_char,
        watch: *const c_void,
        stream: *mut FFI_ArrowArrayStream,
        error: *mut *mut c_char,
    ) -> c_int;
    fn rntuple_close(dataset: i64, error: *mut *mut c_char) -> c_int;
    fn rntuple_free(text: *mut c_char);
}

/// Returns the error of a call, if it failed.
fn check(code: c_int, error: *mut c_char) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    let text = unsafe { CStr::from_ptr(error) }
        .to_string_lossy()
        .into_owned();
    unsafe { rntuple_free(error) };
    Err(text)
}

/// Opens a file, and returns a reader of what the options ask for.
fn read(path: &str, options: &str) -> Result<RecordBatchStreamReader, Box<dyn Error>> {
    let (path, options) = (CString::new(path)?, CString::new(options)?);
    let (mut dataset, mut error, mut stream) = (0, null_mut(), FFI_ArrowArrayStream::empty());
    unsafe {
        check(
            rntuple_open(&path.as_ptr(), 1, null(), null(), &mut dataset, &mut error),
            error,
        )?;
        let code = rntuple_stream(dataset, options.as_ptr(), null(), &mut stream, &mut error);
        rntuple_close(dataset, null_mut()); // the stream stays valid
        check(code, error)?;
    }
    Ok(RecordBatchStreamReader::try_new(stream)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or("dimuon.root".into());
    let options = r#"{"fields": ["event"], "where": "nMuon == 2 && any(Muon_pt, # > 20)"}"#;
    let (mut entries, mut sum) = (0, 0);
    for batch in read(&path, options)? {
        let batch = batch?;
        entries += batch.num_rows();
        sum += batch
            .column(0)
            .as_primitive::<UInt64Type>()
            .values()
            .iter()
            .sum::<u64>();
    }
    println!("{entries} entries, sum {sum}");
    Ok(())
}
