//! Readers of other crates that panic on damaged files: a panic becomes an error,
//! and nothing is printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is reading, so that its panics are no news.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Puts a hook before the one that is there, for good: hooks are the process's, so
/// one that came and went with each file would be another thread's as well.
static HOOK: Once = Once::new();

/// Runs a reader; where it panics, says what the panic said.
pub(super) fn caught<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |news| {
            // A thread that is at its end has no flag, and is not reading.
            if !READING.try_with(Cell::get).unwrap_or(false) {
                before(news);
            }
        }));
    });
    let outer = READING.replace(true);
    // What a reader leaves half done is dropped with it.
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    READING.set(outer);
    outcome.map_err(|said| in_words(said.as_ref()))
}

fn in_words(said: &(dyn Any + Send)) -> String {
    let text = said.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| said.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no reason was given".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors_and_other_results_stay() {
        assert_eq!(caught(|| 3), Ok(3));
        let place = std::hint::black_box(5);
        let said = caught(|| [1, 2, 3][place]).unwrap_err();
        assert!(said.contains("out of bounds"), "{said}");
        let said = caught(|| caught(|| panic!("inner")).unwrap_err()).unwrap();
        assert_eq!(said, "inner");
        assert!(!READING.get());
    }
}
