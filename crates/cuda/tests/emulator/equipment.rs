//! The emulated card finds what it is there to find.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};

use super::tried;

const KERNELS: &str = r#"
extern "C" __global__ void __launch_bounds__(64) race(float *out) {
    __shared__ float numbers[64];
    numbers[threadIdx.x] = threadIdx.x;
    const float other = numbers[63 - threadIdx.x];
    out[threadIdx.x] = other == other ? other : -1.f;
}
extern "C" __global__ void __launch_bounds__(64) calm(float *out) {
    __shared__ float numbers[64];
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float other = numbers[63 - threadIdx.x];
    for (int by = 16; by > 0; by >>= 1) other += __shfl_xor_sync(~0u, other, by);
    out[threadIdx.x] = other;
}
extern "C" __global__ void last_block(float *out) { out[threadIdx.x] = blockIdx.x; }
extern "C" __global__ void stuck(float *out) {
    if (threadIdx.x < 7) __syncthreads();
    out[threadIdx.x] = 1;
}
extern "C" __global__ void alone(float *out) {
    out[threadIdx.x] = threadIdx.x == 3 ? 0.f : __shfl_xor_sync(~0u, 1.f, 1);
}
extern "C" __global__ void fresh(float *out) {
    __shared__ float numbers[64];
    out[threadIdx.x] = numbers[threadIdx.x] == numbers[threadIdx.x] || out[threadIdx.x] == out[threadIdx.x];
}
extern "C" __global__ void outside(float *out) { out[threadIdx.x + 64] = 1; }
"#;

/// A kernel of `KERNELS` on 64 numbers: these, or what the driver said.
fn launch(name: &str, blocks: u32, threads: u32) -> Result<Vec<f32>, String> {
    let context = CudaContext::new(0).expect("a card");
    let stream: Arc<CudaStream> = context.default_stream();
    let text = std::ffi::CString::new(KERNELS).expect("a text");
    let program = nvrtc::create_program(&text, None).expect("a program");
    let options: [String; 0] = [];
    // SAFETY: the program is one, and the memory as large as was asked for.
    let code = unsafe {
        nvrtc::compile_program(program, &options).expect("it compiles");
        let mut size = 0;
        sys::nvrtcGetCUBINSize(program, &mut size)
            .result()
            .expect("a size");
        let mut code = vec![0u8; size];
        let to = code.as_mut_ptr().cast();
        sys::nvrtcGetCUBIN(program, to).result().expect("its code");
        code
    };
    let module = context
        .load_module(Ptx::from_binary(code))
        .expect("a module");
    let function = module.load_function(name).expect("a kernel");
    // SAFETY: as fresh as the kernels expect it.
    let mut out: CudaSlice<f32> = unsafe { stream.alloc(64) }.expect("memory");
    let config = LaunchConfig {
        grid_dim: (blocks, 1, 1),
        block_dim: (threads, 1, 1),
        shared_mem_bytes: 0,
    };
    let mut launch = stream.launch_builder(&function);
    launch.arg(&mut out);
    // SAFETY: the argument is that of the kernel.
    unsafe { launch.launch(config) }.map_err(|error| error.to_string())?;
    Ok(stream.clone_dtoh(&out).expect("numbers"))
}

/// A task of the emulated card: `KERNEL BLOCKS THREADS`.
pub fn run(task: &str) {
    let mut words = task.split(' ');
    let name = words.next().unwrap_or_default();
    let mut count = || {
        words
            .next()
            .and_then(|word| word.parse().ok())
            .expect("a number")
    };
    println!("{:?}", launch(name, count(), count()));
}

/// What is wrong shows, and what is right does not.
pub fn finds_what_it_is_for(folder: &Path) {
    let one = |task: &str, order: &str| tried(folder, task, order, Stdio::null());
    let in_orders = |task: &str| {
        ["ascending", "descending", "5"].map(|order| one(task, order).expect("it runs"))
    };
    let [up, down, drawn] = in_orders("race 1 64");
    assert!(up != down && up != drawn, "a missing barrier: {up}");
    let [up, down, drawn] = in_orders("calm 1 64");
    assert!(
        up == down && up == drawn && up.starts_with("Ok([1520.0"),
        "{up}"
    );
    let [up, down, _] = in_orders("last_block 9 64");
    assert!(
        up.starts_with("Ok([8.0") && down.starts_with("Ok([0.0"),
        "blocks: {up}"
    );
    let [fresh, ..] = in_orders("fresh 1 64");
    assert_eq!(fresh, format!("Ok({:?})\n", [0f32; 64]), "fresh memory");
    for task in [
        "stuck 1 64",
        "alone 1 64",
        "calm 0 64",
        "calm 1 96",
        "fresh 1 1056",
    ] {
        let [found, ..] = in_orders(task);
        assert!(found.starts_with("Err("), "{task}: {found}");
    }
    assert_eq!(one("outside 1 64", "ascending"), None, "a write outside");
    println!("the emulated card finds what it is there to find: ok");
}
