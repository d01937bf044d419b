//! The tools, as a run uses them: by name, with JSON.

mod bench;
mod commands;
mod definitions;
mod escapes;
mod files;
mod functions;
mod searches;
mod walls;
