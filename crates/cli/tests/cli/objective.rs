//! `objective` against a plain double loop in double precision.

use crate::lab::{Lab, Numbers, links_csv};

const BETAS: [f64; 6] = [0.0, 1e-8, 0.1, 0.5, 1.0, 2.0];
const SCORES: [&str; 3] = ["likelihood", "moment", "probability"];
const WEIGHTS: [f64; 6] = [0.3, 1.0, 2.5, 7.0, 60.0, 500.0];
const GAMMA: f64 = 0.7;

struct Data {
    y: Vec<Vec<f64>>,
    links: Vec<(usize, usize, f64)>,
}

/// Embeddings and links; the last node has no link.
fn data(n: usize, dim: usize) -> Data {
    let mut random = Numbers::new((100 * n + dim) as u64);
    let scale = 2.4 / (dim as f64).sqrt();
    let mut row = || (0..dim).map(|_| scale * (random.next() - 0.4)).collect();
    let y = (0..n).map(|_| row()).collect();
    let mut links = Vec::new();
    for i in 0..n - 1 {
        for j in i + 1..n - 1 {
            if random.next() < 4.0 / n as f64 {
                links.push((i, j, WEIGHTS[links.len() % WEIGHTS.len()]));
            }
        }
    }
    Data { y, links }
}

/// `log x!` by Stirling's series, far enough out.
fn log_factorial(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut z = x + 1.0;
    while z < 20.0 {
        shift += z.ln();
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

/// The score of one pair and its derivative in `s`, from the formulas.
fn pair(score: &str, beta: f64, s: f64, w: f64, log_factorials: &[f64]) -> (f64, f64) {
    let mu = s.exp();
    if beta == 0.0 || score == "likelihood" {
        return (-w * s + mu, -w + mu);
    }
    let c = 1.0 + beta;
    if score == "moment" {
        let link = w * (beta * s).exp_m1() / beta;
        let slope = -w * (beta * s).exp() + (c * s).exp();
        return (-link + (c * s).exp() / c, slope);
    }
    let (mut a, mut moment) = (0.0, 0.0);
    for (k, log_factorial) in log_factorials.iter().enumerate() {
        let k = k as f64;
        let power = (c * (k * s - mu - log_factorial)).exp();
        a += power;
        moment += power * (k - mu);
    }
    let log_p = w * s - mu - log_factorial(w);
    let value = -(beta * log_p).exp_m1() / beta + a / c;
    (value, -(beta * log_p).exp() * (w - mu) + moment)
}

struct Sums {
    value: f64,
    gamma: f64,
    gradient: Vec<f64>,
}

fn double_loop(data: &Data, score: &str, beta: f64) -> Sums {
    let (n, dim) = (data.y.len(), data.y[0].len());
    let log_factorials: Vec<f64> = (0..150).map(|k| log_factorial(k as f64)).collect();
    let mut weights = vec![0.0; n * n];
    for &(i, j, weight) in &data.links {
        weights[i * n + j] = weight;
    }
    let mut sums = Sums {
        value: 0.0,
        gamma: 0.0,
        gradient: vec![0.0; n * dim],
    };
    for i in 0..n {
        for j in i + 1..n {
            let product: f64 = data.y[i].iter().zip(&data.y[j]).map(|(a, b)| a * b).sum();
            let w = weights[i * n + j];
            let (value, slope) = pair(score, beta, product - GAMMA, w, &log_factorials);
            sums.value += value;
            sums.gamma -= slope;
            for k in 0..dim {
                sums.gradient[i * dim + k] += slope * data.y[j][k];
                sums.gradient[j * dim + k] += slope * data.y[i][k];
            }
        }
    }
    sums
}

fn check_size(n: usize, dim: usize) {
    let lab = Lab::new();
    let data = data(n, dim);
    lab.write_npy("y.npy", &data.y);
    lab.write("links.csv", links_csv(&data.links, |node| node.to_string()));
    for score in SCORES {
        for beta in BETAS {
            let expected = double_loop(&data, score, beta);
            for (precision, tolerance) in [("f64", 1e-8), ("f32", 5e-5)] {
                let what = format!("{score} beta {beta} n {n} K {dim} {precision}");
                let found = lab.json(&format!(
                    "objective --embeddings y.npy --links links.csv --gamma {GAMMA} --score {score} \
                     --beta {beta} --precision {precision} --gradient g.npy"
                ));
                let close = |name: &str, expected: f64| {
                    let found = found[name].as_f64().unwrap();
                    let error = (found / expected - 1.0).abs();
                    assert!(error <= tolerance, "{what}: {name} {found} not {expected}");
                };
                close("value", expected.value);
                close("gamma_gradient", expected.gamma);
                assert_eq!(found["pairs"], n * (n - 1) / 2);
                assert!(found["seconds"].as_f64().unwrap() >= 0.0);
                let (rows, columns, gradient) = lab.read_npy("g.npy");
                assert_eq!((rows, columns), (n, dim));
                let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
                let pairs = gradient.iter().zip(&expected.gradient);
                let error = norm(&mut pairs.map(|(a, b)| a - b));
                let length = norm(&mut expected.gradient.iter().copied());
                assert!(error <= tolerance * length, "{what}: {error} of {length}");
                let dtype: &[u8] = if precision == "f64" { b"<f8" } else { b"<f4" };
                let header = lab.bytes("g.npy")[..64].to_vec();
                assert!(header.windows(3).any(|part| part == dtype), "{what}");
            }
        }
    }
}

#[test]
fn small_and_odd() {
    check_size(7, 3);
}

#[test]
fn small_and_even() {
    check_size(8, 4);
}

#[test]
fn one_dimension() {
    check_size(33, 1);
}

#[test]
fn more_than_one_tile() {
    check_size(301, 5);
}

#[test]
fn beyond_the_range_of_numbers_is_a_failed_run() {
    let lab = Lab::new();
    lab.write_npy("y.npy", &[vec![40.0], vec![40.0], vec![1.0]]);
    lab.write("links.csv", "0,1\n");
    let line = "objective --embeddings y.npy --links links.csv --gamma 0 --score moment --beta 0.5 \
                --gradient g.npy";
    lab.ends_with(1, line, &["not finite"]);
}

#[test]
fn wrong_arguments_are_refused() {
    let lab = Lab::new();
    lab.write_npy("y.npy", &[vec![1.0], vec![2.0], vec![3.0]]);
    lab.write("links.csv", "0,1\n1,3\n");
    lab.write("good.csv", "0,1\n");
    let with = |links: &str, more: &str| {
        format!("objective --embeddings y.npy --links {links} --score moment {more}")
    };
    let unknown = ["links.csv, line 2", "'3'", "0 to 2"];
    lab.refused(&with("links.csv", "--gamma 1 --beta 0"), &unknown);
    lab.refused(&with("good.csv", "--gamma nan --beta 0"), &["gamma", "NaN"]);
    lab.refused(&with("good.csv", "--gamma 1 --beta -1"), &["beta", "-1"]);
    lab.refused(&with("good.csv", "--gamma 1"), &["--beta"]);
    lab.write_npy("one.npy", &[vec![1.0]]);
    let one = "objective --embeddings one.npy --links good.csv --gamma 1 --beta 0 --score moment";
    lab.refused(one, &["one.npy", "at least two rows"]);
    let words = lab.ok(&with("good.csv", "--gamma -1 --beta 0"));
    assert!(words.contains("over 3 pairs"), "{words}");
}
