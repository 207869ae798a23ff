//! What a fit proposes to do next.

use linkproof::Fitted;
use linkproof::io::check_files;
use linkproof::verdict::Advice;

use super::FitArgs;
use crate::args::quoted;
use crate::suspects::fill;

/// What to type next, by what the verdict advises.
pub(super) fn next(args: &FitArgs, fitted: &Fitted, advice: Option<Advice>) -> Vec<String> {
    let out = quoted(&args.out.display().to_string());
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
            if !args.robust {
                lines.push(format!(
                    "linkproof cluster --model {out} --clusters {k} --out clusters.csv"
                ));
            }
        }
    }
    if args.checks.sample.is_some() {
        let sample = args.out.join(check_files::SAMPLE);
        let sample = quoted(&sample.display().to_string());
        lines.push(fill(&sample));
        lines.push(format!("linkproof audit --model {out} --checked {sample}"));
    } else if !args.robust {
        let data = args.data.typed_for_model();
        lines.push(format!(
            "linkproof audit --model {out} {data} --out audit.csv"
        ));
    }
    if lines.iter().any(|line| line.contains("--clusters K")) {
        lines.push("(K: how many clusters you want)".to_owned());
    }
    lines
}
