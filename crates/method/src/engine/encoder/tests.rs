use super::*;
use crate::data::features::Matrix;
use crate::params::{Activation, EncoderKind, OutputActivation};
use crate::support::{cases, is_derivative};
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
        dropout.drop_inputs(&mut batch);
    }
    let mut pass = Pass::default();
    network.forward(params, &batch, dropout, &mut pass);
    let mut coefficients = wave(pass.embeddings().len(), 0.9);
    let value = pass
        .embeddings()
        .iter()
        .zip(&coefficients)
        .map(|(y, c)| y * c)
        .sum();
    let mut gradient = vec![f64::NAN; network.n_params()];
    let derivative = (coefficients.as_mut_slice(), 0.0);
    network.backward(params, &batch, &mut pass, derivative, &mut gradient);
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
        // Within a strip, and over several of them.
        prop::collection::vec(prop_oneof![4 => 1..5usize, 1 => 30..70usize], 0..3),
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
    #![proptest_config(cases(150))]
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
        // Wide networks have many parameters: every so many will do.
        let every = params.len() / 200 + 1;
        for place in (seed as usize % every..params.len()).step_by(every) {
            let wanted = 1e-7 * (1.0 + gradient[place].abs());
            let found = is_derivative(gradient[place], wanted, |by| {
                let mut params = params.clone();
                params[place] += by;
                linear_functional(&network, &params, &input, rows, dropout).0
            });
            prop_assert!(found.is_ok(), "place {} of {:?}: {:?}", place, network.spec(), found);
        }
    }
}

#[test]
fn weights_move_between_rows_and_strips() {
    for width in [1, 31, 32, 33, 70] {
        let network = Network::new(NetworkSpec {
            hidden: vec![width],
            ..spec(EncoderKind::Mlp)
        });
        let layer = &network.layers()[0];
        let rows: Vec<usize> = (0..6 * width).collect();
        let strips = layer.in_strips(&rows);
        assert_eq!(layer.row_major(&strips), rows);
        if width == 70 {
            assert_eq!(strips[..34], [&rows[..32], &rows[70..72]].concat());
        }
    }
}

#[test]
fn sparse_and_dense_inputs_agree() {
    let network = Network::new(NetworkSpec {
        hidden: vec![37],
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
        hidden: vec![45, 4],
        batch_norm: true,
        ..spec(EncoderKind::Mlp)
    });
    let data = matrix(9, false);
    let input = Input::<f64>::new(&data);
    let params = network.start(&input, 1, 0, 1.0);
    let statistics = network.statistics(&params, &input);
    let embedded = network.embed(&params, &input, &statistics);
    let mut pass = Pass::default();
    network.forward(&params, &input.all(), None, &mut pass);
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
