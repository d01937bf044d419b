//! Where the linker must be told so, symbols of the interpreter are left for whoever loads the module.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
