use super::*;

fn file(version: u8, header: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = [MAGIC, &[version, 0]].concat();
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(numbers);
    bytes
}

fn read(name: &str, bytes: &[u8]) -> Result<Matrix> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_npy(&path)
}

#[test]
fn written_matrices_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let single: Vec<f32> = (0..600_000).map(|x| x as f32 / 3.0).collect();
    write_npy(&path, 200_000, 3, &single).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len() % 64, 0);
    let expected = Matrix::dense(200_000, 3, single).unwrap();
    assert_eq!(read_npy(&path).unwrap(), expected);
    write_npy(&path, 1, 2, &[0.1f64, -7.0]).unwrap();
    let expected = Matrix::dense(1, 2, vec![0.1f64, -7.0]).unwrap();
    assert_eq!(read_npy(&path).unwrap(), expected);
    assert!(write_npy(&path, 2, 2, &[0.1f64]).is_err());
}

#[test]
fn other_versions_and_packed_files() {
    let header = "{'shape': (2,1), 'fortran_order':False,'descr':\"<f4\"}\n";
    let numbers: Vec<u8> = [1f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let expected = Matrix::dense(2, 1, vec![1f32, 2.0]).unwrap();
    for version in 1..=3 {
        let bytes = file(version, header, &numbers);
        assert_eq!(read("x.npy", &bytes).unwrap(), expected);
        let packed = zstd::encode_all(bytes.as_slice(), 1).unwrap();
        assert_eq!(read("x.npy.zst", &packed).unwrap(), expected);
    }
}

#[test]
fn wrong_files_say_what_is_wrong() {
    let header = |descr: &str, fortran: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
    };
    let good = header("'<f8'", "False", "(1, 2)");
    let huge = header("'<f8'", "False", "(1000000000000, 2)");
    let beyond = header("'<f8'", "False", "(99999999999999999, 99999999999)");
    let two = [0u8; 16];
    let nan = [f64::NAN.to_le_bytes(), [0; 8]].concat();
    let mut magic = file(1, &good, &two);
    magic[1] = b'X';
    let cases = [
        (Vec::new(), "no mark"),
        (magic, "no mark"),
        (file(1, &good, &two)[..9].to_vec(), "cut short"),
        (file(1, &good, &two)[..40].to_vec(), "cut short"),
        (file(9, &good, &two), "version 9"),
        (file(1, &good, &two[..15]), "bytes"),
        (file(1, &good, &[0; 17]), "bytes"),
        (file(1, &good, &nan), "NaN in row 0"),
        (file(1, &huge, &two), "bytes"),
        (file(1, &beyond, &two), "a possible shape"),
        (file(1, &header("'<i8'", "False", "(1, 2)"), &two), "'<i8'"),
        (
            file(1, &header("'>f8'", "False", "(1, 2)"), &two),
            "big-endian",
        ),
        (
            file(1, &header("[('a', '<f8')]", "False", "(1, 2)"), &two),
            "('a'",
        ),
        (
            file(1, &header("'<f8'", "True", "(1, 2)"), &two),
            "np.ascontiguousarray",
        ),
        (
            file(1, &header("'<f8'", "False", "(2,)"), &two),
            "two dimensions",
        ),
        (
            file(1, &header("'<f8'", "False", "(1, 1, 2)"), &two),
            "two dimensions",
        ),
        (
            file(1, &header("'<f8'", "False", "(-1, 2)"), &two),
            "(-1, 2)",
        ),
        (file(1, "garbage", &two), "'descr'"),
    ];
    for (bytes, what) in cases {
        let error = read("x.npy", &bytes).unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error}");
        assert!(error.to_string().contains(what), "{what}: {error}");
        let packed = zstd::encode_all(bytes.as_slice(), 1).unwrap();
        assert!(read("x.npy.zst", &packed).is_err(), "{what}");
    }
}
