//! Settings: values that are refused, and what belongs together.

use super::*;
use crate::error::Subject;

#[test]
fn every_bad_value_is_refused_by_name() {
    type Spoil = fn(&mut Params);
    let cases: &[(&str, Spoil)] = &[
        ("dim", |p| p.dim = 0),
        ("beta", |p| p.beta = -1.0),
        ("beta", |p| p.beta = f64::NAN),
        ("beta", |p| p.beta = f64::INFINITY),
        ("hidden", |p| p.mlp.hidden = vec![10, 0]),
        ("hidden", |p| p.mlp.hidden = vec![1 << 20, 1 << 20]),
        ("dropout", |p| p.mlp.dropout = 1.0),
        ("negative-share", |p| p.negative_share = 1.0),
        ("negative-share", |p| p.negative_share = f64::NAN),
        ("input-dropout", |p| p.input_dropout = f64::NAN),
        ("validation", |p| p.validation = Some(-0.1)),
        ("propagate", |p| p.propagate = 101),
        ("walks", |p| p.walks = 101),
        ("patience", |p| p.patience = 0),
        ("steps", |p| p.steps = Some(0)),
        ("learning-rate", |p| p.descent.learning_rate = Some(0.0)),
        ("clip", |p| p.descent.clip = Some(f64::NAN)),
        ("lambda", |p| p.sampling.lambda = Some(-1.0)),
        ("radius", |p| p.descent.radius = Some(0.0)),
        ("schedule-t0", |p| p.descent.schedule_t0 = f64::NAN),
        ("schedule-alpha", |p| p.descent.schedule_alpha = Some(1.5)),
        ("init-scale", |p| p.init_scale = f64::INFINITY),
        ("momentum", |p| p.descent.momentum = 1.0),
        ("ridge", |p| p.ridge = Some(f64::NAN)),
        ("link-batch", |p| p.sampling.link_batch = Some(0)),
        ("pair-batch", |p| p.sampling.pair_batch = 0),
        ("block", |p| p.sampling.block = Some(1)),
        ("optimizer", |p| {
            p.optimizer = Some(OptimizerKind::Lbfgs);
            p.solver = Some(SolverKind::Sgd);
        }),
        ("optimizer", |p| {
            p.optimizer = Some(OptimizerKind::Lbfgs);
            p.mlp.dropout = 0.5;
        }),
        ("lambda", |p| {
            p.sampling.lambda = Some(1.0);
            p.score = ScoreKind::Probability;
        }),
        ("lambda", |p| p.sampling.lambda = Some(1.0)),
        ("optimizer", |p| {
            p.descent.radius = Some(1.0);
            p.optimizer = Some(OptimizerKind::Lbfgs);
        }),
    ];
    for (expected, spoil) in cases {
        let mut params = Params::default();
        spoil(&mut params);
        match params.clone().check() {
            Err(Error::Param { subject, .. }) => {
                assert_eq!(subject, Subject::Argument(expected));
            }
            other => panic!("{expected}: {other:?} for {params:?}"),
        }
    }
    assert!(Params::default().check().is_ok());
}

#[test]
fn messages_say_what_must_be_and_what_is() {
    let said = |params: Params| params.check().err().map(|error| error.to_string());
    let beta = Params {
        beta: -1.0,
        ..Params::default()
    };
    let expected = "beta must be between 0 and 10, but is -1";
    assert_eq!(said(beta).as_deref(), Some(expected));
    let dim = Params {
        dim: 0,
        ..Params::default()
    };
    let expected = "dim must be a whole number from 1 to 65536, but is 0";
    assert_eq!(said(dim).as_deref(), Some(expected));
}

#[test]
fn scores_and_encoders_carry_their_settings() {
    let checked = |params: Params| params.check().unwrap();
    let plain = checked(Params::default());
    let kind = |params: &CheckedParams, view, has_vectors| {
        params
            .encoder(view, has_vectors)
            .map(|encoder| encoder.kind)
    };
    assert_eq!(kind(&plain, "", true).unwrap(), EncoderKind::Linear);
    assert_eq!(kind(&plain, "", false).unwrap(), EncoderKind::Table);
    let pays = |score, beta| {
        let params = Params {
            score,
            beta,
            ..Params::default()
        };
        checked(params).score().pair(0.7, 2.0)
    };
    let likelihood = pays(ScoreKind::Likelihood, 0.3);
    for &score in ScoreKind::ALL {
        assert_eq!(pays(score, 0.0), likelihood);
        assert_eq!(pays(score, 0.3) == likelihood, !score.reads_beta());
        // Each setting of a score is a number among the settings.
        let params = Params {
            score,
            ..Params::default()
        };
        let mut settings = params.score_settings();
        assert!(
            settings.all(|(name, value)| { value.is_finite() && Params::accepted(name).is_some() })
        );
    }
    let named = checked(Params {
        encoder: Some(EncoderKind::Table),
        view_encoders: [("a".to_owned(), EncoderKind::Mlp)].into(),
        mlp: Mlp {
            hidden: vec![7],
            ..Mlp::default()
        },
        ..Params::default()
    });
    assert_eq!(kind(&named, "b", true).unwrap(), EncoderKind::Table);
    let hidden = |view| named.encoder(view, true).unwrap().mlp.hidden;
    assert_eq!(hidden("a"), [7]);
    assert_eq!(hidden("b"), Mlp::default().hidden);
}

#[test]
fn settings_of_views_are_checked_against_the_views() {
    let named = |error: Error| match error {
        Error::Param { subject, .. } => subject,
        other => panic!("{other:?}"),
    };
    let refused = |params: Params, views: &[&str]| {
        let found = params.check().unwrap().view_pairs_among(views);
        named(found.unwrap_err())
    };
    let pairs = Params {
        view_pairs: Some(vec![("b".into(), "a".into()), ("a".into(), "b".into())]),
        ..Params::default()
    };
    let checked = pairs.clone().check().unwrap();
    let found = checked.view_pairs_among(&["a", "b"]).unwrap();
    assert_eq!(found, Some(vec![(0, 1)]));
    assert_eq!(refused(pairs, &["a"]), Subject::Argument("view-pairs"));
    let encoder = Params {
        view_encoders: [("c".to_owned(), EncoderKind::Mlp)].into(),
        ..Params::default()
    };
    assert_eq!(refused(encoder, &["a"]), Subject::Argument("encoder"));
    let propagate = Params {
        propagate: 1,
        ..Params::default()
    };
    let subject = refused(propagate, &["a", "b"]);
    assert_eq!(subject, Subject::Argument("propagate"));
    let linear = Params {
        encoder: Some(EncoderKind::Linear),
        ..Params::default()
    };
    let linear = linear.check().unwrap();
    let error = linear.encoder("a", false).unwrap_err();
    assert_eq!(named(error), Subject::Argument("encoder"));
}

#[test]
fn names_are_flat_and_old_files_are_read() {
    let mut written = serde_json::to_value(Params::default()).unwrap();
    let all = written.as_object_mut().unwrap();
    assert_eq!(all.len(), 40);
    assert!(
        all.values()
            .all(|value| !value.is_object() || value == &serde_json::json!({}))
    );
    for name in [
        "ridge",
        "batch-norm",
        "link-batch",
        "lambda",
        "schedule-t0",
        "seed",
    ] {
        assert!(all.contains_key(name), "{name}");
    }
    for (name, ..) in Params::default().limited() {
        assert!(all.contains_key(name), "{name}");
    }
    // A number, as files of earlier versions have it.
    all.insert("ridge".to_owned(), 2.0.into());
    all.insert("momentum".to_owned(), 0.5.into());
    let read: Params = serde_json::from_value(written.clone()).unwrap();
    assert_eq!((read.ridge, read.descent.momentum), (Some(2.0), 0.5));
    written["betta"] = 1.into();
    let error = serde_json::from_value::<Params>(written).unwrap_err();
    assert!(error.to_string().contains("betta"), "{error}");
    // Encoders of models of earlier versions spell two names otherwise.
    let old = r#"{"kind": "mlp", "hidden": [3], "batch_norm": true, "output_activation": "tanh"}"#;
    let encoder: Encoder = serde_json::from_str(old).unwrap();
    assert!(encoder.mlp.batch_norm && encoder.mlp.hidden == [3]);
    assert_eq!(encoder.mlp.output_activation, OutputActivation::Tanh);
    assert!(serde_json::from_str::<Params>(r#"{"score": "best"}"#).is_err());
}
