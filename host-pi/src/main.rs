//! The program `context-guard`.

fn main() -> std::process::ExitCode {
    context_guard_pi::cli::main()
}
