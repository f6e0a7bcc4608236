//! The contract's types as TypeScript, in the JSON form that serde gives the Rust types which wit-bindgen and
//! wasmtime generate: fields in `snake_case`, a case with a value as `{ Case: value }`, a case without one and
//! an enum as `"Case"`, an option as the value or `null`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use wit_parser::{Resolve, Type, TypeDef, TypeDefKind};

/// The interfaces of `guard.wit` whose types cross the border, in the order of the file.
const INTERFACES: [&str; 3] = ["types", "sessions", "classifier"];

/// The root of this repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where the generated file is kept.
pub fn checked_in() -> PathBuf {
    repository().join("host-pi/extension/contract.ts")
}

/// Returns the text of `contract.ts` for the WIT of this repository.
///
/// # Errors
///
/// Fails when the WIT does not parse, or when it uses a kind of type that has no agreed JSON form.
pub fn typescript() -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(repository().join("wit")).context("wit/ does not parse")?;
    let mut text = String::from(
        "// Generated from wit/guard.wit by `cargo run -p context-guard-tests --bin contract-types`. Do not edit.\n",
    );
    for name in INTERFACES {
        let id = resolve.packages[package]
            .interfaces
            .get(name)
            .with_context(|| format!("wit/guard.wit has no interface `{name}`"))?;
        for &type_id in resolve.interfaces[*id].types.values() {
            if let Some(declaration) = declaration(&resolve, &resolve.types[type_id])? {
                text.push('\n');
                text.push_str(&declaration);
            }
        }
    }
    Ok(text)
}

/// Returns the declaration of a named type; none for a resource, and for a type that another interface owns.
fn declaration(resolve: &Resolve, def: &TypeDef) -> Result<Option<String>> {
    let name = pascal_case(def.name.as_deref().unwrap_or_default());
    let docs = comment("", def.docs.contents.as_deref());
    let body = match &def.kind {
        TypeDefKind::Resource => return Ok(None),
        TypeDefKind::Type(Type::Id(id)) if resolve.types[*id].name == def.name => return Ok(None),
        TypeDefKind::Record(record) => {
            let mut fields = String::new();
            for field in &record.fields {
                fields.push_str(&comment("  ", field.docs.contents.as_deref()));
                let ty = expression(resolve, &field.ty).with_context(|| format!("in `{name}`"))?;
                fields.push_str(&format!("  {}: {ty};\n", field.name.replace('-', "_")));
            }
            return Ok(Some(format!("{docs}export interface {name} {{\n{fields}}}\n")));
        }
        TypeDefKind::Variant(variant) => {
            let mut cases = String::new();
            for case in &variant.cases {
                cases.push('\n');
                cases.push_str(&comment("  ", case.docs.contents.as_deref()));
                let tag = pascal_case(&case.name);
                match &case.ty {
                    Some(ty) => {
                        cases.push_str(&format!("  | {{ {tag}: {} }}", expression(resolve, ty)?));
                    }
                    None => cases.push_str(&format!("  | \"{tag}\"")),
                }
            }
            cases
        }
        TypeDefKind::Enum(members) => {
            let cases: Vec<String> =
                members.cases.iter().map(|case| format!("\"{}\"", pascal_case(&case.name))).collect();
            format!(" {}", cases.join(" | "))
        }
        TypeDefKind::Type(ty) => format!(" {}", expression(resolve, ty)?),
        other => bail!("`{name}` is a {}, which has no agreed JSON form", other.as_str()),
    };
    Ok(Some(format!("{docs}export type {name} ={body};\n")))
}

/// Returns a type as it stands behind a field's colon.
fn expression(resolve: &Resolve, ty: &Type) -> Result<String> {
    Ok(match ty {
        Type::Bool => "boolean".into(),
        // u64 is a time or a count here, far below 2^53.
        Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S8 | Type::S16 | Type::S32 | Type::S64 => {
            "number".into()
        }
        Type::F32 | Type::F64 => "number".into(),
        Type::Char | Type::String => "string".into(),
        Type::ErrorContext => bail!("an error context has no JSON form"),
        Type::Id(id) => {
            let def = &resolve.types[*id];
            if let Some(name) = &def.name {
                return Ok(pascal_case(name));
            }
            match &def.kind {
                TypeDefKind::List(item) => match expression(resolve, item)? {
                    item if item.contains(' ') && !item.starts_with('[') => format!("({item})[]"),
                    item => format!("{item}[]"),
                },
                TypeDefKind::Option(item) => format!("{} | null", expression(resolve, item)?),
                TypeDefKind::Tuple(tuple) => {
                    let items: Result<Vec<String>> =
                        tuple.types.iter().map(|item| expression(resolve, item)).collect();
                    format!("[{}]", items?.join(", "))
                }
                other => bail!("a {} has no agreed JSON form", other.as_str()),
            }
        }
    })
}

fn comment(indent: &str, docs: Option<&str>) -> String {
    let Some(docs) = docs else { return String::new() };
    let lines: Vec<&str> = docs.trim().lines().map(str::trim).collect();
    match lines.as_slice() {
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let body: String = lines.iter().map(|line| format!("{indent} * {line}\n")).collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}

fn pascal_case(name: &str) -> String {
    name.split('-')
        .map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
                .collect::<String>()
        })
        .collect()
}
