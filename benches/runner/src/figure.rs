//! Figures: what was measured, what it is held to, and how they are shown.

use steps::figures;

/// One line of the table.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// Of the gateway.
    pub(crate) ours: f64,
    /// Of the same without a proxy.
    pub(crate) direct: Option<f64>,
    /// Of nginx.
    pub(crate) nginx: Option<f64>,
    /// What is held to the bound; none where it cannot be told.
    pub(crate) held: Option<Held>,
}

/// A number and its bound.
pub(crate) struct Held {
    /// What the number is: `× nginx`, `ms added`.
    pub(crate) what: &'static str,
    pub(crate) value: f64,
    pub(crate) bound: Bound,
}

/// How large a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    /// Its name, and what pages print: `0.14 ms`. Of a time that is added only that counts.
    pub(crate) fn published(&self) -> (String, String) {
        match &self.held {
            Some(held) if held.what == "ms added" => {
                (figures::name_of(&self.name), format!("{:.2} ms", held.value))
            }
            _ => (
                figures::name_of(&self.name),
                format!("{} {}", number(self.ours), self.unit.trim_end_matches(" of CPU")),
            ),
        }
    }

    /// Is it out of its bound?
    pub(crate) fn is_over(&self) -> bool {
        self.held.as_ref().is_some_and(|held| match held.bound {
            Bound::AtMost(most) => most < held.value,
            Bound::AtLeast(least) => held.value < least,
        })
    }
}

/// The middle of these numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints the table.
pub(crate) fn show(figures: &[Figure]) {
    println!("\n{:<34}{:>12}{:>10}{:>10}   bound", "", "callwright", "nginx", "direct");
    for figure in figures {
        let other = |value: Option<f64>| value.map_or(String::from("-"), number);
        print!(
            "{:<34}{:>12}{:>10}{:>10}   ",
            format!("{}, {}", figure.name, figure.unit),
            number(figure.ours),
            other(figure.nginx),
            other(figure.direct)
        );
        match &figure.held {
            None => println!("cannot be told"),
            Some(Held { what, value, bound }) => {
                let (word, bound) = match bound {
                    Bound::AtMost(most) => ("≤", most),
                    Bound::AtLeast(least) => ("≥", least),
                };
                let verdict = if figure.is_over() { "OVER" } else { "ok" };
                println!("{} {what}, {word} {}: {verdict}", number(*value), number(*bound));
            }
        }
    }
}

/// With three digits that mean something.
fn number(value: f64) -> String {
    match value.abs() {
        value if value < 0.1 => format!("{value:.4}"),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 1000.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_held_to_its_bound_in_both_directions() {
        let over = |value, bound| {
            let held = Some(Held { what: "", value, bound });
            Figure { name: String::new(), unit: "", ours: 0.0, direct: None, nginx: None, held }.is_over()
        };
        assert!(over(3.1, Bound::AtMost(3.0)));
        assert!(!over(3.0, Bound::AtMost(3.0)));
        assert!(over(1.7, Bound::AtLeast(1.8)));
        assert!(!over(1.9, Bound::AtLeast(1.8)));
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
