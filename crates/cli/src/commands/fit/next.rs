//! What a fit proposes to do next.

use std::fmt::Write;

use linkproof::Fitted;
use linkproof::verdict::Advice;

use super::FitArgs;
use crate::args::quoted;

/// What to do next, by what the verdict advises.
pub(super) fn next(args: &FitArgs, fitted: &Fitted, advice: Option<Advice>) -> String {
    let out = args.out.display();
    let classes = fitted.classes().map(|known| known.names.len());
    // A number that nobody found would be taken for one that was.
    let k = classes.map_or_else(|| "K".to_owned(), |count| count.to_string());
    let fit = |data: String, more: &str| {
        format!(
            "linkproof fit {data}{more} --report --out {}",
            quoted(&args.beside_with("-2").display().to_string())
        )
    };
    let mut lines = vec![match args.report {
        true => format!("open {out}/report.html"),
        false => format!("linkproof report {out}"),
    }];
    match advice {
        Some(Advice::VectorsAlone) => {
            let clusters = args.data.feature_files().map(|file| {
                format!("linkproof cluster --features {file} --clusters {k} --out clusters.csv")
            });
            lines.extend(clusters);
        }
        Some(Advice::LinksAlone) => lines.push(fit(args.data.typed_links(), " --robust")),
        other => {
            if other == Some(Advice::FitRobustly) {
                lines.push(fit(args.data.typed(), " --robust"));
            }
            lines.push(format!(
                "linkproof neighbors --model {out} --node {}",
                quoted(&fitted.ids().name(0))
            ));
            lines.push(format!(
                "linkproof cluster --model {out} --clusters {k} --out clusters.csv"
            ));
        }
    }
    lines.push(format!(
        "linkproof audit --model {out} {} --out audit.csv",
        args.data.typed_for_model()
    ));
    let mut text = format!("\nWritten to {out}. Next:");
    for line in lines {
        let _ = write!(text, "\n  {line}");
    }
    if k == "K" && text.contains("--clusters K") {
        text.push_str("\n(K: how many clusters you want)");
    }
    text
}
