//! The arguments.
#![allow(missing_docs, unreachable_pub, reason = "most of it is written by a macro")]

xflags::xflags! {
    cmd e2e {
        /// Only the cells whose names hold this, such as gateway/langchain; `dialects`: which dialect a small model does best
        /// with (minutes); `prompts`: how often it writes calls malformed, under two prompts (minutes).
        optional --only name: String
        /// For `dialects`: ask the model of llama.cpp's server at this address.
        optional --server url: String
        /// Also the tasks of programs that take long to install, a dozen agents (2.6 GB), and the whole matrix of behaviours
        /// and clients, with the gateway and without (an hour).
        optional --all
        /// Of this part alone, `programs` or `matrix`, what `--only` names, with one of the following.
        optional --part part: String
        /// In the network that everybody is in.
        optional --here
        /// The same in a network without anything but loopback.
        optional --alone
    }
}
