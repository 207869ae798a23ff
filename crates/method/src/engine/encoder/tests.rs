use super::*;
use crate::data::features::Matrix;
use crate::params::{Activation, Encoder, EncoderKind, LayerSpec, Mlp, OutputActivation, Shift};
use crate::support::{cases, is_derivative};
use proptest::prelude::*;

fn spec(kind: EncoderKind, settings: &Mlp) -> NetworkSpec {
    NetworkSpec {
        encoder: Encoder::new(kind, settings),
        inputs: if kind == EncoderKind::Table { 7 } else { 6 },
        outputs: 3,
    }
}

fn mlp(hidden: &[usize], batch_norm: bool) -> Network {
    let settings = Mlp {
        hidden: hidden.to_vec(),
        batch_norm,
        ..Mlp::default()
    };
    Network::new(spec(EncoderKind::Mlp, &settings))
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

/// Tables, and maps of layers of any kind, more than the encoders have.
fn any_network() -> impl Strategy<Value = Network> {
    let function = prop_oneof![
        Just(None),
        Just(Some(Activation::Tanh)),
        Just(Some(Activation::Relu))
    ];
    let shift = prop_oneof![Just(Shift::None), Just(Shift::Bias), Just(Shift::Norm)];
    // Within a strip, and over several of them.
    let width = prop_oneof![4 => 1..5usize, 1 => 30..70usize];
    let layer = (width, shift, function).prop_map(|(outputs, shift, function)| LayerSpec {
        outputs,
        shift,
        function,
    });
    let layers = prop::collection::vec(layer, 1..4);
    (layers, 0..4).prop_map(|(mut layers, is_table)| match is_table {
        0 => Network::new(spec(EncoderKind::Table, &Mlp::default())),
        _ => {
            let last = layers.len() - 1;
            layers[last].outputs = 3;
            Network::of_layers(spec(EncoderKind::Mlp, &Mlp::default()), &layers)
        }
    })
}

proptest! {
    #![proptest_config(cases(150))]
    #[test]
    fn gradients_are_central_differences(
        network in any_network(),
        sparse in any::<bool>(),
        some_rows in any::<bool>(),
        drop in any::<bool>(),
        seed in 0..1000u64,
    ) {
        let data = matrix(7, sparse);
        let input = if network.is_table() { Input::Nodes(7) } else { Input::new(&data) };
        // Biases start at zero, where a unit whose inputs are dropped has a kink.
        let mut params = network.start(&input, seed, 0, 1.0);
        let apart = wave(params.len(), 0.7);
        params.iter_mut().zip(apart).for_each(|(x, by)| *x += 0.05 * by + 0.01);
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
            prop_assert!(found.is_ok(), "place {} of {:?}: {:?}", place, network.layers(), found);
        }
    }
}

#[test]
fn weights_move_between_rows_and_strips() {
    for width in [1, 31, 32, 33, 70] {
        let network = mlp(&[width], false);
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
    let network = mlp(&[37], true);
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
    let network = mlp(&[45, 4], true);
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
        let settings = Mlp {
            hidden,
            output_activation,
            batch_norm: norm,
            ..Mlp::default()
        };
        let network = Network::new(NetworkSpec {
            inputs,
            outputs: 20,
            ..spec(kind, &settings)
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
