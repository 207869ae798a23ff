//! Kernels: their text for a precision, a score and a dimension, compiled for the card
//! that is there and kept in the user's cache folder.

use std::ffi::CString;
use std::fmt::Write;
use std::path::PathBuf;

use cudarc::nvrtc::{result as nvrtc, sys};
use linkproof_method::error::{Error, Result};
use sha2::{Digest, Sha256};

const COMMON: &str = include_str!("kernels/common.cu");
const PLAIN: &str = include_str!("kernels/plain.cu");
const RESIDENT: &str = include_str!("kernels/resident.cu");
const NETWORK: &str = include_str!("kernels/network.cu");
/// The kernels of tensor cores, in this order.
const TENSOR: [&str; 3] = [
    include_str!("kernels/tensor.cu"),
    include_str!("kernels/pays.cu"),
    include_str!("kernels/wgmma.cu"),
];

/// The families of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Pairs on tensor cores: so many products for each pair of numbers, 1 or 3, and
    /// the dimension padded to so much.
    Tensor { terms: u32, width: u32 },
    /// Pairs without them.
    Plain,
    /// What surrounds pairs.
    Resident,
    /// What networks do between their products.
    Network,
}

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// `float` or `double`.
    pub number: &'static str,
    /// Which kernels.
    pub kind: Kind,
    /// 0: a power; 1: the probability score, continued above its cap; 2: as it is.
    pub score: u32,
    /// Terms of the polynomials of the probability score; 0: by its table.
    pub series: u32,
    /// 0: all pairs; 1: which pairs stands in memory; 2: it is computed.
    pub split: u32,
    /// Whether the gradient is wanted.
    pub gradient: bool,
}

impl Variant {
    /// The plain kernels that no score is in.
    pub fn plain(number: &'static str) -> Variant {
        Variant {
            number,
            kind: Kind::Plain,
            score: 0,
            series: 0,
            split: 1,
            gradient: false,
        }
    }

    /// Tiles that wait in shared memory, and the bytes of one.
    pub fn stages(self) -> (u32, u32) {
        let Kind::Tensor { terms, width } = self.kind else {
            return (0, 0);
        };
        let bytes = 64 * width * 2 * if terms == 3 { 2 } else { 1 };
        (if bytes > 16 * 1024 { 5 } else { 8 }, bytes)
    }

    /// The shared memory of a block.
    pub fn shared_bytes(self) -> u32 {
        let (stages, bytes) = self.stages();
        // Tiles start at multiples of 1024 bytes.
        stages * bytes + 1024
    }

    /// The text of its kernels.
    pub fn text(self) -> String {
        let mut text = String::new();
        let mut define = |name: &str, value: &dyn std::fmt::Display| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "#define {name} {value}");
        };
        define("REAL", &self.number);
        define("SCORE", &self.score);
        define("SPLIT", &self.split);
        define("GRAD", &u32::from(self.gradient));
        let (terms, width) = match self.kind {
            Kind::Plain => return text + COMMON + PLAIN,
            Kind::Resident => return text + COMMON + RESIDENT,
            Kind::Network => return text + COMMON + NETWORK,
            Kind::Tensor { terms, width } => (terms, width),
        };
        define("TERMS", &terms);
        define("SERIES", &self.series);
        define("KP", &width);
        define("STAGES", &self.stages().0);
        // Sums of the tensor cores go over into others after so many tiles.
        define("FLUSH", &if terms == 3 { 8 } else { 64 });
        text + COMMON
            + &product("mma_s", 64, false)
            + &product("mma_g", width, true)
            + &TENSOR.concat()
    }
}

/// A function that multiplies 64 x 16 numbers in registers with 16 x `width` in shared
/// memory and adds to `64 x width` in registers.
fn product(name: &str, width: u32, transposed: bool) -> String {
    let count = width / 2;
    let list = |from: u32, to: u32, item: &dyn Fn(u32) -> String| {
        (from..to).map(item).collect::<Vec<_>>().join(", ")
    };
    let place = |place: u32| format!("%{place}");
    let (sums, left) = (list(0, count, &place), list(count, count + 4, &place));
    let outputs = list(0, count, &|at| format!("\"+f\"(d[{at}])"));
    let inputs = list(0, 4, &|at| format!("\"r\"(a[{at}])"));
    let (right, adds) = (place(count + 4), place(count + 5));
    format!(
        "__device__ __forceinline__ void {name}(float (&d)[{count}], const u32 *a, u64 b, int add) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, {adds}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n{width}k16.f32.f16.f16 {{{sums}}}, {{{left}}}, {right}, p, 1, 1, {};\\n}}\"\n\
         : {outputs}\n: {inputs}, \"l\"(b), \"r\"(add));\n}}\n",
        u32::from(transposed)
    )
}

/// Where compiled kernels are kept.
fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty());
    let base = folder("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| folder("HOME").map(|home| PathBuf::from(home).join(".cache")));
    base.map(|base| base.join("linkproof").join("kernels"))
}

/// The machine code of a variant for an architecture such as `sm_90a`.
pub fn compiled(variant: Variant, architecture: &str, device: &str) -> Result<Vec<u8>> {
    let text = variant.text();
    let mut digest = Sha256::new();
    digest.update(architecture.as_bytes());
    digest.update(text.as_bytes());
    let name = digest
        .finalize()
        .iter()
        .fold(String::new(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        });
    let file = cache_folder().map(|folder| folder.join(name + ".cubin"));
    if let Some(known) = file.as_ref().and_then(|file| std::fs::read(file).ok()) {
        return Ok(known);
    }
    let code = machine_code_of(text, architecture).map_err(|found| Error::Device {
        device: device.to_owned(),
        found,
    })?;
    if let Some(file) = file {
        keep(&file, &code);
    }
    Ok(code)
}

/// Whether the library that compiles kernels is there.
fn can_compile() -> bool {
    // SAFETY: looks for a library and loads it.
    unsafe { sys::is_culib_present() }
}

/// What NVRTC makes of a text, or what is wrong and what to do, in words.
fn machine_code_of(text: String, architecture: &str) -> std::result::Result<Vec<u8>, String> {
    if !can_compile() {
        return Err(
            "its kernels must be compiled, and the library NVRTC is not there; \
                    install the CUDA toolkit, or NVRTC alone (libnvrtc)"
                .to_owned(),
        );
    }
    let source = CString::new(text).map_err(|_| "a kernel; a bug in linkproof".to_owned())?;
    let options = [format!("-arch={architecture}"), "-std=c++17".to_owned()];
    let bug = |error: nvrtc::NvrtcError| {
        format!(
            "its kernels cannot be compiled ({error}); \
             a bug in linkproof, or a CUDA toolkit older than the card"
        )
    };
    let program = nvrtc::create_program(&source, None).map_err(bug)?;
    // SAFETY: the program was made above and is destroyed below.
    unsafe {
        let code = nvrtc::compile_program(program, &options)
            .map_err(bug)
            .and_then(|()| machine_code(program).map_err(bug));
        // Nothing can be done about a program that stays.
        let _ = nvrtc::destroy_program(program);
        code
    }
}

/// # Safety
/// The program was compiled.
unsafe fn machine_code(
    program: sys::nvrtcProgram,
) -> std::result::Result<Vec<u8>, nvrtc::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program is one, and the memory is as large as was asked for.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &mut size).result()?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result()?;
        Ok(code)
    }
}

/// Keeps a kernel for the next time, whole or not at all. Where that fails, it is
/// compiled again then.
fn keep(file: &std::path::Path, code: &[u8]) {
    let Some(folder) = file.parent() else { return };
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&part, code))
        .and_then(|()| std::fs::rename(&part, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs NVRTC and no card.
    #[test]
    fn kernels_compile() {
        if !can_compile() {
            println!("skipped: the library NVRTC is not there");
            return;
        }
        let tensor = |terms, width, score, series, split| Variant {
            number: "float",
            kind: Kind::Tensor { terms, width },
            score,
            series,
            split,
            gradient: true,
        };
        let mut variants = Vec::new();
        for (terms, series) in [(1, 8), (3, 11)] {
            for width in [64, 128] {
                for (score, series) in [(0, 0), (1, series), (1, 0)] {
                    variants.extend([0, 1].map(|split| tensor(terms, width, score, series, split)));
                }
            }
        }
        variants.push(tensor(3, 128, 0, 0, 2));
        variants.push(Variant {
            gradient: false,
            ..tensor(3, 128, 1, 11, 1)
        });
        let variants = variants.into_iter().map(|variant| ("sm_90a", variant));
        let others = ["sm_75", "sm_90a"].into_iter().flat_map(|architecture| {
            ["float", "double"].into_iter().flat_map(move |number| {
                (0..3).flat_map(move |score| {
                    [
                        (Kind::Plain, true),
                        (Kind::Resident, false),
                        (Kind::Network, false),
                    ]
                    .map(|(kind, gradient)| {
                        (
                            architecture,
                            Variant {
                                kind,
                                score,
                                gradient,
                                ..Variant::plain(number)
                            },
                        )
                    })
                })
            })
        });
        // What networks do has no score in it.
        let others =
            others.filter(|(_, variant)| variant.kind != Kind::Network || variant.score == 0);
        for (architecture, variant) in variants.chain(others) {
            let code = machine_code_of(variant.text(), architecture);
            assert!(
                code.is_ok_and(|code| !code.is_empty()),
                "{architecture} {variant:?}"
            );
        }
    }
}
