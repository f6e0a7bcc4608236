//! Guests that a host must survive, for the runner's tests. They are made here because the compiler is only here.

use anyhow::{Context, Result};
use std::path::Path;
use wasm_encoder::{
    BlockType, CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection,
    Instruction, MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Resolve, WorldId, WorldItem};

/// What the greedy guest wants beside what the world has: a function of that interface which takes nothing.
const WANTED: (&str, &str) = ("wasi:random/random@0.2.12", "get-random-u64");

/// A world with an import that no host grants.
const GREEDY: &str = "package test:greedy; world greedy { include context-guard:guard/guard@0.1.0; import wasi:random/random@0.2.12; }";

/// Returns a component whose every export loops and never returns.
pub(crate) fn spinning(wit: &Path) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit).context("reading the contract")?;
    let world = resolve.select_world(&[package], Some("guard"))?;
    component(&resolve, world, None)
}

/// Returns the same with one import more than the world has.
pub(crate) fn greedy(wit: &Path) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    resolve.push_dir(wit).context("reading the contract")?;
    let package = resolve.push_str("greedy.wit", GREEDY)?;
    let world = resolve.select_world(&[package], None)?;
    component(&resolve, world, Some(WANTED))
}

fn component(resolve: &Resolve, world: WorldId, import: Option<(&str, &str)>) -> Result<Vec<u8>> {
    let mut module = core(resolve, world, import).finish();
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8, false)?;
    ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .encode()
        .context("turning it into a component")
}

/// A core module with what the canonical ABI asks of the world's exports.
fn core(resolve: &Resolve, world: WorldId, import: Option<(&str, &str)>) -> Module {
    let mut types = TypeSection::new();
    let mut imports = ImportSection::new();
    if let Some((interface, function)) = import {
        types.ty().function([], [ValType::I64]);
        imports.import(interface, function, EntityType::Function(0));
    }
    let imported = imports.len();
    let (mut functions, mut exports, mut code) =
        (FunctionSection::new(), ExportSection::new(), CodeSection::new());
    let realloc = ("cabi_realloc".to_owned(), vec![ValType::I32; 4], vec![ValType::I32]);
    for (name, params, results) in signatures(resolve, world).into_iter().chain([realloc]) {
        exports.export(&name, ExportKind::Func, imported + functions.len());
        functions.function(types.len());
        types.ty().function(params, results);
        code.function(&forever());
    }
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    exports.export("memory", ExportKind::Memory, 0);
    let mut module = Module::new();
    module
        .section(&types)
        .section(&imports)
        .section(&functions)
        .section(&memories)
        .section(&exports)
        .section(&code);
    module
}

/// The functions that the world exports: name, parameters and results as the core module has them.
fn signatures(resolve: &Resolve, world: WorldId) -> Vec<(String, Vec<ValType>, Vec<ValType>)> {
    let exports = resolve.worlds[world].exports.iter();
    let functions = exports.flat_map(|(key, item)| {
        let functions = match item {
            WorldItem::Interface { id, .. } => Some(resolve.interfaces[*id].functions.values()),
            _ => None,
        };
        functions.into_iter().flatten().map(move |function| (resolve.name_world_key(key), function))
    });
    let values = |types: Vec<WasmType>| types.into_iter().map(value).collect();
    functions
        .map(|(interface, function)| {
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            (format!("{interface}#{}", function.name), values(signature.params), values(signature.results))
        })
        .collect()
}

fn value(ty: WasmType) -> ValType {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    }
}

fn forever() -> Function {
    let mut function = Function::new([]);
    for instruction in [
        Instruction::Loop(BlockType::Empty),
        Instruction::Br(0),
        Instruction::End,
        Instruction::Unreachable,
        Instruction::End,
    ] {
        function.instruction(&instruction);
    }
    function
}
