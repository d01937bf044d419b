//! How many cells are right, by behaviour and by client: through the gateway, directly, and only directly.

use std::collections::BTreeMap;

use super::Cell;

/// What has been counted.
#[derive(Default)]
pub(super) struct Table {
    behaviours: BTreeMap<String, Count>,
    clients: BTreeMap<String, Count>,
    all: Count,
}

#[derive(Clone, Copy, Default)]
struct Count {
    /// Right ones, and all that were run.
    gateway: [usize; 2],
    direct: [usize; 2],
    only_directly: usize,
}

impl Table {
    /// Counts a cell: what was wrong with it, each way that it was run.
    pub(super) fn add(&mut self, cell: &Cell<'_>, gateway: Option<&[String]>, direct: Option<&[String]>) {
        let behaviour = self.behaviours.entry(cell.behaviour.name.clone()).or_default();
        let client = self.clients.entry(cell.client.name.clone()).or_default();
        for count in [behaviour, client, &mut self.all] {
            for (counted, wrong) in [(&mut count.gateway, gateway), (&mut count.direct, direct)] {
                counted[0] += usize::from(wrong.is_some_and(<[String]>::is_empty));
                counted[1] += usize::from(wrong.is_some());
            }
            let is_only_directly =
                gateway.is_some_and(|wrong| !wrong.is_empty()) && direct.is_some_and(<[String]>::is_empty);
            count.only_directly += usize::from(is_only_directly);
        }
    }

    pub(super) fn print(&self) {
        println!("    {:28} {:>9} {:>9} {:>14}", "right", "gateway", "directly", "only directly");
        let rows = self.behaviours.iter().chain(&self.clients);
        for (name, count) in rows.chain([(&String::from("all"), &self.all)]) {
            let of = |[right, all]: [usize; 2]| format!("{right}/{all}");
            let Count { gateway, direct, only_directly } = *count;
            println!("    {name:28} {:>9} {:>9} {only_directly:>14}", of(gateway), of(direct));
        }
    }
}
