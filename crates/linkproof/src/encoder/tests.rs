use super::*;
use crate::features::Matrix;
use crate::params::{Activation, EncoderKind, OutputActivation};
use proptest::prelude::*;

fn spec(kind: EncoderKind) -> NetworkSpec {
    NetworkSpec {
        kind,
        inputs: 6,
        hidden: vec![],
        outputs: 3,
        activation: Activation::Tanh,
        output_activation: OutputActivation::None,
        batch_norm: false,
    }
}

fn wave(n: usize, frequency: f64) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * frequency + 0.3).sin()).collect()
}

fn matrix(n: usize, sparse: bool) -> Matrix {
    let values = wave(n * 6, 1.7);
    if !sparse {
        return Matrix::dense(n, 6, values).unwrap();
    }
    let (mut offsets, mut columns, mut kept) = (vec![0], vec![], vec![]);
    for row in 0..n {
        for column in 0..6 {
            let value = values[row * 6 + column];
            if value > 0.1 {
                columns.push(column as u32);
                kept.push(value);
            }
        }
        offsets.push(columns.len());
    }
    Matrix::sparse(6, offsets, columns, kept).unwrap()
}

/// `sum_rows <c_row, f(x_row)>` and its gradient for fixed coefficients.
fn linear_functional(
    network: &Network,
    params: &[f64],
    input: &Input<'_, f64>,
    rows: Option<&[u32]>,
    dropout: Option<Dropout>,
) -> (f64, Vec<f64>) {
    let mut batch = match rows {
        Some(rows) => input.select(rows),
        None => input.all(),
    };
    if let Some(dropout) = dropout {
        Network::drop_inputs(&mut batch, dropout);
    }
    let pass = network.forward(params, &batch, dropout);
    let coefficients = wave(pass.embeddings().len(), 0.9);
    let value = pass
        .embeddings()
        .iter()
        .zip(&coefficients)
        .map(|(y, c)| y * c)
        .sum();
    let mut gradient = vec![0.0; network.n_params()];
    network.backward(params, &batch, &pass, &coefficients, &mut gradient);
    (value, gradient)
}

fn any_network() -> impl Strategy<Value = NetworkSpec> {
    let kind = prop_oneof![
        Just(EncoderKind::Linear),
        Just(EncoderKind::Mlp),
        Just(EncoderKind::Table)
    ];
    (
        kind,
        prop::collection::vec(1..5usize, 0..3),
        any::<[bool; 3]>(),
    )
        .prop_map(|(kind, hidden, [relu, tanh, norm])| NetworkSpec {
            inputs: if kind == EncoderKind::Table { 7 } else { 6 },
            hidden,
            activation: if relu {
                Activation::Relu
            } else {
                Activation::Tanh
            },
            output_activation: if tanh {
                OutputActivation::Tanh
            } else {
                OutputActivation::None
            },
            batch_norm: norm,
            ..spec(kind)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn gradients_are_central_differences(
        spec in any_network(),
        sparse in any::<bool>(),
        some_rows in any::<bool>(),
        drop in any::<bool>(),
        seed in 0..1000u64,
    ) {
        let network = Network::new(spec);
        let data = matrix(7, sparse);
        let input = if network.is_table() { Input::Nodes(7) } else { Input::new(&data) };
        let params = network.start(&input, seed, 0, 1.0);
        let rows = some_rows.then_some([5u32, 0, 3, 6].as_slice());
        let dropout = drop.then_some(Dropout { input: 0.3, hidden: 0.4, seed, step: 2 });
        let (_, gradient) = linear_functional(&network, &params, &input, rows, dropout);
        for place in 0..params.len() {
            let h = 1e-5;
            let moved = |by: f64| {
                let mut params = params.clone();
                params[place] += by;
                linear_functional(&network, &params, &input, rows, dropout).0
            };
            let (up, here, down) = (moved(h), moved(0.0), moved(-h));
            let difference = (up - down) / (2.0 * h);
            // A kink of relu within the step shows as unequal sides.
            let kink = ((up - here) - (here - down)).abs() / h;
            prop_assert!((gradient[place] - difference).abs() < 1e-6 * (1.0 + difference.abs()) + kink,
                "place {} of {:?}: {} against {}", place, network.spec(), gradient[place], difference);
        }
    }
}

#[test]
fn sparse_and_dense_inputs_agree() {
    let network = Network::new(NetworkSpec {
        hidden: vec![4],
        batch_norm: true,
        ..spec(EncoderKind::Mlp)
    });
    let sparse = matrix(9, true);
    let rows: Vec<f64> = (0..9)
        .flat_map(|row| {
            let mut dense = vec![0.0; 6];
            for (column, value) in sparse.row(row) {
                dense[column as usize] = value;
            }
            dense
        })
        .collect();
    let dense = Matrix::dense(9, 6, rows).unwrap();
    let (sparse, dense) = (Input::<f64>::new(&sparse), Input::<f64>::new(&dense));
    let params = network.start(&dense, 1, 0, 1.0);
    let a = linear_functional(&network, &params, &sparse, None, None);
    let b = linear_functional(&network, &params, &dense, None, None);
    assert!((a.0 - b.0).abs() < 1e-12);
    assert!(a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn inference_with_the_batch_statistics_is_the_training_pass() {
    let network = Network::new(NetworkSpec {
        hidden: vec![5, 4],
        batch_norm: true,
        ..spec(EncoderKind::Mlp)
    });
    let data = matrix(9, false);
    let input = Input::<f64>::new(&data);
    let params = network.start(&input, 1, 0, 1.0);
    let statistics = network.statistics(&params, &input);
    let embedded = network.embed(&params, &input, &statistics);
    let pass = network.forward(&params, &input.all(), None);
    assert!(
        embedded
            .iter()
            .zip(pass.embeddings())
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
}

#[test]
fn starts_have_the_scale_asked_for() {
    for (kind, hidden, tanh, norm) in [
        (EncoderKind::Linear, vec![], false, false),
        (EncoderKind::Mlp, vec![30], false, true),
        (EncoderKind::Mlp, vec![30, 20], true, false),
        (EncoderKind::Table, vec![], false, false),
    ] {
        let output_activation = if tanh {
            OutputActivation::Tanh
        } else {
            OutputActivation::None
        };
        let inputs = if kind == EncoderKind::Table { 500 } else { 6 };
        let network = Network::new(NetworkSpec {
            inputs,
            hidden,
            output_activation,
            batch_norm: norm,
            outputs: 20,
            ..spec(kind)
        });
        let data = matrix(500, false);
        let input = if network.is_table() {
            Input::Nodes(500)
        } else {
            Input::<f64>::new(&data)
        };
        let params = network.start(&input, 3, 1, 1.0);
        let statistics = network.statistics(&params, &input);
        let y = network.embed(&params, &input, &statistics);
        let mean_square = y.iter().map(|y| y * y).sum::<f64>() / 500.0;
        assert!((mean_square - 1.0).abs() < 0.05, "{kind} {mean_square}");
    }
}

#[test]
fn dropout_keeps_the_mean_and_its_share() {
    let dropout = Dropout {
        input: 0.3,
        hidden: 0.5,
        seed: 9,
        step: 4,
    };
    let draws: Vec<f64> = (0..20_000)
        .map(|i| dropout.input_factor(i / 100, i % 100))
        .collect();
    let dropped = draws.iter().filter(|&&x| x == 0.0).count() as f64 / 20_000.0;
    assert!((dropped - 0.3).abs() < 0.01);
    assert!((draws.iter().sum::<f64>() / 20_000.0 - 1.0).abs() < 0.02);
}
