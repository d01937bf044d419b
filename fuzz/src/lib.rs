//! What the fuzz targets look for.

pub mod heal;
pub mod parse;
pub mod relay;
pub mod schema;
