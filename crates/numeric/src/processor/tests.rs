use std::fmt::Debug;

use super::*;

/// What work gives, which must be the same on every instruction set that the
/// machine has.
pub(crate) fn on_every_path<R: PartialEq + Debug>(work: impl Fn() -> R) -> R {
    let mut results = on_each(work).into_iter();
    let (first, expected) = results.next().expect("every machine has one");
    for (processor, found) in results {
        assert_eq!(found, expected, "{processor:?} against {first:?}");
    }
    expected
}

#[test]
fn the_best_is_taken_and_others_can_be_asked_for() {
    let here: Vec<_> = Processor::all_here().collect();
    assert_eq!(best(), here[here.len() - 1]);
    assert_eq!(
        here.contains(&Processor::Separate),
        !Processor::Plain.is_here()
    );
    for &processor in &here {
        assert_eq!(choose(processor.name()).unwrap(), processor);
    }
    for unknown in ["", "AVX2", "sse2", "avx1024"] {
        let error = choose(unknown).unwrap_err();
        assert_eq!(error.given, unknown);
        assert!(error.here.contains("plain"), "{error:?}");
    }
}
