//! The program `sinew`: [`sinew_cli::main`].

fn main() -> std::process::ExitCode {
    sinew_cli::main()
}
