use std::fs;
use std::path::Path;

use super::*;
use crate::{FolderKind, OutputFolder};
use linkproof_method::data::attributes::Texts;
use linkproof_method::data::graph::LinkRules;
use linkproof_method::data::ids::Names;
use linkproof_method::judge::{self, JudgeSpec, judge};
use linkproof_method::{Dataset, Runtime};

/// Two groups of 30 nodes, with a few links between them.
fn links() -> Vec<Link> {
    let mut links = Vec::new();
    for i in 0..60u32 {
        for step in [2, 4, 6, 10] {
            let dst = (i + step) % 60;
            links.push((i.min(dst), i.max(dst)));
        }
    }
    links.extend([(0, 31), (8, 45), (20, 33)]);
    links.sort_unstable();
    links.dedup();
    let link = |(src, dst)| Link {
        src,
        dst,
        weight: 1.0,
    };
    links.into_iter().map(link).collect()
}

fn named(n: usize) -> Ids {
    let mut names = Names::default();
    for row in 0..n {
        names.insert(&format!("n {row}, x"));
    }
    Ids::from(names)
}

fn check_of(ids: Ids, ends: Ends) -> Check {
    let rules = LinkRules {
        ends,
        ..LinkRules::default()
    };
    let graph = Graph::new(ids, links(), rules).unwrap();
    let data = Dataset::from_links(graph).unwrap();
    let mut judgment = judge(&data, &JudgeSpec::default(), Runtime::default()).unwrap();
    judgment.sort_by_ends();
    let ids = data.ids().clone();
    let names: Texts = (0..60).map(|row| format!("name {row}")).collect();
    let attributes = match ends {
        Ends::Bipartite => Attributes::default(),
        _ => Attributes::new(vec![("name".to_owned(), names)]).unwrap(),
    };
    Check {
        ids,
        views: None,
        attributes,
        judgment,
        record: Map::from_iter([("seed".to_owned(), 0.into())]),
    }
}

fn write(check: &Check, path: &Path, force: bool) -> Result<()> {
    let folder = OutputFolder::create(path, FolderKind::check(), force)?;
    write_check(check, &folder)?;
    folder.commit()
}

#[test]
fn a_folder_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for (name, ids, ends) in [
        ("rows", Ids::Rows(60), Ends::Alike),
        ("names", self::named(60), Ends::Alike),
        ("directed", self::named(60), Ends::Directed),
        ("bipartite", self::named(60), Ends::Bipartite),
    ] {
        let check = check_of(ids, ends);
        let path = folder.path().join(name);
        write(&check, &path, false).unwrap();
        let found = load_check(&path).unwrap();
        assert_eq!(found.judgment.facts, check.judgment.facts, "{name}");
        assert_eq!(found.judgment.links, check.judgment.links, "{name}");
        assert_eq!(found.judgment.tails.len(), check.judgment.tails.len());
        assert_eq!(found.record, check.record, "{name}");
        assert_eq!(found.ends(), ends);
        assert_eq!(found.called(3), check.called(3));
        for row in 0..check.ids.len() {
            assert_eq!(found.ids.name(row), check.ids.name(row));
        }
        // The same once more.
        let again = folder.path().join(format!("{name} again"));
        write(&found, &again, false).unwrap();
        for file in ["suspects.csv", "beliefs.csv", "check.json", "nodes.csv"] {
            let read = |path: &Path| fs::read_to_string(path.join(file)).unwrap();
            assert_eq!(read(&path), read(&again), "{name} {file}");
        }
    }
}

#[test]
fn tables_have_the_columns_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    let mut check = check_of(self::named(60), Ends::Alike);
    write(&check, &path, false).unwrap();
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
    let suspects = read("suspects.csv");
    let header = "rank,src,dst,src_name,dst_name,weight,belief,suspect,why\n1,\"n ";
    assert!(suspects.starts_with(header), "{suspects}");
    assert_eq!(suspects.lines().count(), check.judgment.links.len() + 1);
    let beliefs = read("beliefs.csv");
    assert!(beliefs.starts_with("src,dst,weight,belief,src_name,dst_name\n"));
    assert_eq!(beliefs.lines().count(), check.judgment.links.len() + 1);
    // Nothing is claimed by a judge that abstains, but for what is verified.
    check.judgment.facts.abstained = true;
    check.judgment.facts.share = None;
    for link in &mut check.judgment.links {
        link.suspect = false;
    }
    let link = &check.judgment.links[0];
    let one = judge::Check {
        src: link.src,
        dst: link.dst,
        real: false,
    };
    check.judgment.recalibrate(&[one]);
    write(&check, &path, true).unwrap();
    let beliefs = fs::read_to_string(path.join("beliefs.csv")).unwrap();
    let known = beliefs.lines().filter(|line| !line.contains(",1,,"));
    assert_eq!(known.count(), 2, "{beliefs}");
    let json = check_json(&check).unwrap();
    for field in ["share_false", "share_low", "share_high", "detection"] {
        assert!(json[field].is_null() || field == "detection", "{field}");
    }
    assert_eq!(json["verified"]["false"], 1);
}

#[test]
fn the_users_files_stay_and_others_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    let check = check_of(Ids::Rows(60), Ends::Alike);
    write(&check, &path, false).unwrap();
    fs::write(path.join("sample.csv"), "mine").unwrap();
    fs::write(path.join("checked.csv"), "too").unwrap();
    let error = write(&check, &path, false).unwrap_err().to_string();
    assert!(error.contains("already holds a check"), "{error}");
    write(&check, &path, true).unwrap();
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
    assert_eq!([read("sample.csv"), read("checked.csv")], ["mine", "too"]);
    fs::write(path.join("other.txt"), "").unwrap();
    let error = write(&check, &path, true).unwrap_err().to_string();
    assert!(error.contains("holds 'other.txt', which is no part of a check"));
}

#[test]
fn damaged_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    write(&check_of(self::named(60), Ends::Directed), &path, false).unwrap();
    let json = fs::read_to_string(path.join("check.json")).unwrap();
    let nodes = fs::read_to_string(path.join("nodes.csv")).unwrap();
    let numbers = fs::read(path.join("judgment.safetensors")).unwrap();
    let whole = |name: &str| match name {
        "check.json" => json.clone().into_bytes(),
        "nodes.csv" => nodes.clone().into_bytes(),
        _ => numbers.clone(),
    };
    let shorter: String = nodes
        .lines()
        .take(30)
        .map(|line| format!("{line}\n"))
        .collect();
    let version = json.replace("\"format_version\": \"1\"", "\"format_version\": \"9\"");
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("check.json", b"{".to_vec(), "check.json, line 1"),
        ("check.json", b"{}".to_vec(), "missing field"),
        ("check.json", version.into_bytes(), "format version '9'"),
        ("nodes.csv", b"".to_vec(), "nodes.csv"),
        ("nodes.csv", shorter.into_bytes(), "links"),
        (
            "judgment.safetensors",
            b"".to_vec(),
            "numbers that cannot be used",
        ),
        (
            "judgment.safetensors",
            numbers[..numbers.len() / 2].to_vec(),
            "cannot be used",
        ),
        ("judgment.safetensors", vec![255; 64], "cannot be used"),
    ];
    for (name, content, what) in cases {
        fs::write(path.join(name), content).unwrap();
        let error = load_check(&path).unwrap_err();
        assert!(error.is_bad_input(), "{error}");
        assert!(error.to_string().contains(what), "{name}: {error}");
        fs::write(path.join(name), whole(name)).unwrap();
    }
    load_check(&path).unwrap();
    // Numbers that no judgment has, wherever a byte is wrong.
    for place in (0..numbers.len()).step_by(numbers.len() / 97) {
        let mut other = numbers.clone();
        other[place] ^= 0x40;
        fs::write(path.join("judgment.safetensors"), other).unwrap();
        let _ = load_check(&path);
    }
    fs::remove_file(path.join("check.json")).unwrap();
    let error = load_check(&path).unwrap_err().to_string();
    assert!(error.contains("no check.json"), "{error}");
}

fn checks(text: &str) -> Result<VerifiedLinks> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.csv");
    fs::write(&path, text).unwrap();
    read_checks(&path)
}

#[test]
fn verified_links_are_read_by_name_or_in_order() {
    for text in [
        "src,dst,real\na,b,1\nc,d,\ne,f,0\n",
        "note,real,source,target\nx,1.0,a,b\n,,c,d\ny,0.0,e,f\n",
        "a,b,1\nc,d,\ne,f,0\n",
    ] {
        let found = checks(text).unwrap().checks;
        let real: Vec<(&str, bool)> = found.iter().map(|it| (&*it.src, it.real)).collect();
        assert_eq!(real, [("a", true), ("e", false)], "{text}");
    }
    for (text, what) in [
        ("", "an empty file"),
        ("src,dst\na,b\n", "columns src, dst and real"),
        (
            "src,dst,real\na,b,yes\n",
            "line 2: found 'yes' in the column 'real'",
        ),
        ("src,dst,real\na,b\n", "line 2: found 2 columns"),
    ] {
        let error = checks(text).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn checks_are_merged_by_pairs() {
    let check = check_of(Ids::Rows(60), Ends::Alike);
    let kept = checks("src,dst,real\n0,2,1\n0,4,0\n0,1,1\ngone,2,1\n").unwrap();
    let new = checks("src,dst,real\n4,0,1\n0,31,0\n").unwrap();
    let merged = MergedChecks::new(&check.all_links().unwrap(), Some(&kept), Some(&new)).unwrap();
    assert_eq!(
        (merged.checks.len(), merged.replaced, merged.not_links),
        (3, 1, 2)
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checked.csv");
    merged.write(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "src,dst,real\n0,1,1\n0,2,1\n0,31,0\n0,4,1\n2,gone,1\n"
    );
    assert!(merged.has(&new.checks[0]) && !merged.has(&kept.checks[1]));
    for (text, what) in [
        (
            "src,dst,real\n0,2,1\n2,0,0\n",
            "line 3: found the pair '2', '0' as false, after real on line 2",
        ),
        (
            "src,dst,real\n0,1,1\n",
            "line 2: found the pair '0', '1', which is no link",
        ),
        ("src,dst,real\n0,x,1\n", "line 2: found node 'x'"),
    ] {
        let new = checks(text).unwrap();
        let error = MergedChecks::new(&check.all_links().unwrap(), None, Some(&new)).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
    // With a direction both orders are pairs of their own.
    let directed = check_of(Ids::Rows(60), Ends::Directed);
    let both = checks("src,dst,real\n0,2,1\n").unwrap();
    assert!(MergedChecks::new(&directed.all_links().unwrap(), None, Some(&both)).is_ok());
    let turned = checks("src,dst,real\n2,0,1\n").unwrap();
    assert!(MergedChecks::new(&directed.all_links().unwrap(), None, Some(&turned)).is_err());
}
